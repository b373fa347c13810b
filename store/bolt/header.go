package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"cordboard/core"
)

// bbolt trusts the file it opens: pages that are not there fault, a page of the wrong kind panics in a goroutine of its own. So the
// two meta pages, the file's length and the page tree (pages.go) are checked before it sees the file, and nothing is ever written to a
// file that fails. The layout is bbolt's, in the byte order of the machine.

const (
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	pageHeader  = 16
	metaLength  = 64
	noFreelist  = ^uint64(0)
	minPageSize = 1024
	maxPageSize = 1 << 24
)

// metaPage is one of the two roots of a bbolt file.
type metaPage struct {
	pageSize uint64
	root     uint64
	freelist uint64
	pages    uint64 // high water mark
	txid     uint64
}

// header is what the start of a file tells.
type header struct {
	metaPage       // the newest that is whole
	broken   []int // meta pages (0, 1) that are not
	size     int64 // of the file
	magic    bool  // a meta page at least begins like one
}

func parseMeta(b []byte) (m metaPage, magic, whole bool) {
	if len(b) < metaLength {
		return m, false, false
	}
	ne := binary.NativeEndian
	magic = ne.Uint32(b) == boltMagic
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaLength-8])
	m = metaPage{
		pageSize: uint64(ne.Uint32(b[8:])), root: ne.Uint64(b[16:]), freelist: ne.Uint64(b[32:]), pages: ne.Uint64(b[40:]), txid: ne.Uint64(b[48:]),
	}
	whole = magic && ne.Uint32(b[4:]) == boltVersion && ne.Uint64(b[56:]) == sum.Sum64() && m.pageSize >= minPageSize &&
		m.pageSize <= maxPageSize && m.pages < 1<<48
	return m, magic, whole
}

func readMeta(f io.ReaderAt, at int64) (metaPage, bool, bool) {
	b := make([]byte, metaLength)
	if _, err := f.ReadAt(b, at+pageHeader); err != nil {
		return metaPage{}, false, false
	}
	return parseMeta(b)
}

// readHeader reads both meta pages. The second lies at a place that the first tells; without the first every place is tried.
func readHeader(f *os.File) (h header, err error) {
	info, err := f.Stat()
	if err != nil {
		return h, err
	}
	h.size = info.Size()
	var whole [2]bool
	var metas [2]metaPage
	metas[0], h.magic, whole[0] = readMeta(f, 0)
	if whole[0] {
		metas[1], _, whole[1] = readMeta(f, int64(metas[0].pageSize))
	} else {
		for at := int64(minPageSize); at <= maxPageSize && !whole[1]; at *= 2 {
			var magic bool
			metas[1], magic, whole[1] = readMeta(f, at)
			h.magic = h.magic || magic
		}
	}
	for i := range metas {
		if !whole[i] {
			h.broken = append(h.broken, i)
		} else if h.pageSize == 0 || metas[i].txid > h.txid {
			h.metaPage = metas[i]
		}
	}
	return h, nil
}

// checkHeader names what is wrong with a file's start and length.
func checkHeader(path string, f *os.File) (header, error) {
	h, err := readHeader(f)
	if err != nil {
		return h, core.Errorf(core.CodeStoreIO, "the store %s cannot be read: %w", path, err)
	}
	switch {
	case h.size == 0:
		return h, foreign(path, "is empty (0 bytes)")
	case len(h.broken) == 2 && h.magic:
		return h, damaged(path, errors.New("neither of its two meta pages is whole"))
	case len(h.broken) == 2:
		return h, foreign(path, fmt.Sprintf("is no store (%d bytes of something else)", h.size))
	case h.pages > uint64(h.size)/h.pageSize:
		return h, foreign(path, fmt.Sprintf("was cut short: %d bytes are there, %d pages of %d should be", h.size, h.pages, h.pageSize))
	}
	return h, nil
}

// howToRestore is what to do about a file that is no good any more. Nothing here does it by itself.
const howToRestore = "move it away and restore a backup with `cordboard doctor --restore FILE`"

// foreign and damaged are the errors about a file that was left as it is; their cause is what is wrong with it, without advice.
func foreign(path, what string) error {
	return core.Errorf(core.CodeStoreForeign, "%s %w: "+howToRestore+", or name another data directory with --data", path, errors.New(what))
}

func damaged(path string, what error) error {
	return core.Errorf(core.CodeStoreDamaged, "the store %s is damaged (%w): "+howToRestore, path, what)
}
