package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"

	"golang.org/x/sys/unix"

	"cordboard/core"
)

// Kinds of pages and elements of bbolt's layout.
const (
	pageBranch   = 0x01
	pageLeaf     = 0x02
	pageFreelist = 0x10
	elementSize  = 16
	leafBucket   = 0x01
)

// pageTree walks the pages of a file without bbolt.
type pageTree struct {
	data  []byte
	size  uint64
	pages uint64
	seen  []uint64 // bit per page
	todo  []subtree
	// below are the pages that a walk of the branches takes for leaves without looking, bit per page.
	below []uint64
}

// subtree is a page to look at, whose keys are ≥ low and < high (nil: no bound).
type subtree struct {
	page      uint64
	low, high []byte
}

// checkPages walks from the root and returns the first page that does not fit: outside the file, of the wrong kind, with elements that
// reach out of it or are out of order, or in the tree twice. It looks at all pages, or only at the freelist and at those that lead to
// others: a circle among these would send bbolt round for ever, which nothing can recover from.
func checkPages(path string, f *os.File, h *header, all bool) error {
	data, err := unix.Mmap(int(f.Fd()), 0, int(h.pages*h.pageSize), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return core.Errorf(core.CodeStoreIO, "the store %s cannot be mapped into memory on this file system: %w", path, err)
	}
	defer func() { _ = unix.Munmap(data) }()
	t := &pageTree{data: data, size: h.pageSize, pages: h.pages, seen: make([]uint64, h.pages/64+1), todo: []subtree{{page: h.root}}}
	if h.freelist != noFreelist {
		err = t.freelist(h.freelist)
	}
	if !all {
		t.below = make([]uint64, len(t.seen))
	}
	for err == nil && len(t.todo) > 0 {
		next := t.todo[len(t.todo)-1]
		t.todo = t.todo[:len(t.todo)-1]
		err = t.page(next)
	}
	if err == nil {
		err = t.noCircle()
	}
	if err != nil {
		return damaged(path, err)
	}
	return nil
}

// leaves takes the children of a branch for leaves when the first one is: a tree's leaves are all equally deep.
func (t *pageTree) leaves(children []subtree) (bool, error) {
	first := children[0].page
	if t.below == nil || first < 2 || first >= t.pages || binary.NativeEndian.Uint16(t.data[first*t.size+8:]) != pageLeaf {
		return false, nil
	}
	for _, c := range children {
		if c.page < 2 || c.page >= t.pages {
			return false, fmt.Errorf("page %d is named but the file has %d", c.page, t.pages)
		}
		if !takeBit(t.below, c.page) {
			return false, fmt.Errorf("page %d is used twice", c.page)
		}
	}
	return true, nil
}

// noCircle makes sure that no page taken for a leaf is one that leads to others.
func (t *pageTree) noCircle() error {
	for i := range t.below {
		if both := t.below[i] & t.seen[i]; both != 0 {
			return fmt.Errorf("page %d is used twice", i*64+bits.TrailingZeros64(both))
		}
	}
	return nil
}

// head takes a page into the tree and returns its bytes, overflow included.
func (t *pageTree) head(id uint64) (page []byte, flags uint16, count int, err error) {
	if id < 2 || id >= t.pages {
		return nil, 0, 0, fmt.Errorf("page %d is named but the file has %d", id, t.pages)
	}
	ne := binary.NativeEndian
	page = t.data[id*t.size:]
	overflow := uint64(ne.Uint32(page[12:]))
	switch {
	case ne.Uint64(page) != id:
		return nil, 0, 0, fmt.Errorf("page %d is overwritten: it calls itself %d", id, ne.Uint64(page))
	case overflow >= t.pages-id:
		return nil, 0, 0, fmt.Errorf("page %d reaches beyond the end", id)
	}
	for p := id; p <= id+overflow; p++ {
		if !takeBit(t.seen, p) {
			return nil, 0, 0, fmt.Errorf("page %d is used twice", p)
		}
	}
	return page[:(overflow+1)*t.size], ne.Uint16(page[8:]), int(ne.Uint16(page[10:])), nil
}

// takeBit marks a page as used and reports whether it was not before.
func takeBit(set []uint64, id uint64) bool {
	bit := uint64(1) << (id % 64)
	fresh := set[id/64]&bit == 0
	set[id/64] |= bit
	return fresh
}

func (t *pageTree) page(s subtree) error {
	page, flags, count, err := t.head(s.page)
	if err != nil {
		return err
	}
	switch flags {
	case pageBranch:
		return t.branch(s, page, count)
	case pageLeaf:
		return t.leaf(s, page, count)
	}
	return fmt.Errorf("page %d is of no known kind (%#x)", s.page, flags)
}

// ordered checks that a page's next key follows the last one and is within the page's bounds.
func (s *subtree) ordered(i int, last, key []byte) error {
	switch {
	case i == 0 && s.low != nil && bytes.Compare(key, s.low) < 0, i > 0 && bytes.Compare(key, last) <= 0,
		s.high != nil && bytes.Compare(key, s.high) >= 0:
		return fmt.Errorf("key %d on page %d is out of order", i, s.page)
	}
	return nil
}

func (t *pageTree) branch(s subtree, page []byte, count int) error {
	ne := binary.NativeEndian
	if count == 0 || pageHeader+count*elementSize > len(page) {
		return fmt.Errorf("branch page %d cannot have %d elements", s.page, count)
	}
	first := len(t.todo)
	var last []byte
	for i := range count {
		at := pageHeader + i*elementSize
		pos, size := uint64(at)+uint64(ne.Uint32(page[at:])), uint64(ne.Uint32(page[at+4:]))
		if pos+size > uint64(len(page)) {
			return fmt.Errorf("element %d reaches out of branch page %d", i, s.page)
		}
		key := page[pos : pos+size]
		if err := s.ordered(i, last, key); err != nil {
			return err
		}
		if last = key; i > 0 {
			t.todo[first+i-1].high = key
		}
		t.todo = append(t.todo, subtree{page: ne.Uint64(page[at+8:]), low: key, high: s.high})
	}
	known, err := t.leaves(t.todo[first:])
	if known {
		t.todo = t.todo[:first]
	}
	return err
}

func (t *pageTree) leaf(s subtree, page []byte, count int) error {
	ne := binary.NativeEndian
	if pageHeader+count*elementSize > len(page) {
		return fmt.Errorf("leaf page %d cannot have %d elements", s.page, count)
	}
	var last []byte
	for i := range count {
		at := pageHeader + i*elementSize
		flags, pos := ne.Uint32(page[at:]), uint64(at)+uint64(ne.Uint32(page[at+4:]))
		keySize, valueSize := uint64(ne.Uint32(page[at+8:])), uint64(ne.Uint32(page[at+12:]))
		value := pos + keySize
		if value+valueSize > uint64(len(page)) {
			return fmt.Errorf("element %d reaches out of leaf page %d", i, s.page)
		}
		key := page[pos:value]
		if err := s.ordered(i, last, key); err != nil {
			return err
		}
		last = key
		if flags&leafBucket == 0 {
			continue
		}
		if err := t.bucket(s.page, page[value:value+valueSize]); err != nil {
			return err
		}
	}
	return nil
}

// bucket follows a bucket's root, or looks at the page inside the value of a small one.
func (t *pageTree) bucket(id uint64, value []byte) error {
	if len(value) < 16 {
		return fmt.Errorf("a bucket in leaf page %d is cut short", id)
	}
	ne := binary.NativeEndian
	if root := ne.Uint64(value); root != 0 {
		t.todo = append(t.todo, subtree{page: root})
		return nil
	}
	inline := value[16:]
	if len(inline) < pageHeader || ne.Uint16(inline[8:]) != pageLeaf {
		return fmt.Errorf("a small bucket in leaf page %d is not a leaf", id)
	}
	return t.leaf(subtree{page: id}, inline, int(ne.Uint16(inline[10:])))
}

// freelist checks the stored list of free pages: pages of this file, in order.
func (t *pageTree) freelist(id uint64) error {
	page, flags, count, err := t.head(id)
	if err != nil {
		return err
	}
	if flags != pageFreelist {
		return fmt.Errorf("page %d is not the freelist it should be", id)
	}
	ne := binary.NativeEndian
	ids := page[pageHeader:]
	n := uint64(count)
	if count == 0xFFFF { // more than fit the header: the first word counts
		n, ids = ne.Uint64(ids), ids[8:]
	}
	if n > uint64(len(ids)/8) {
		return fmt.Errorf("the freelist on page %d cannot have %d entries", id, n)
	}
	last := uint64(1)
	for i := range n {
		free := ne.Uint64(ids[i*8:])
		if free <= last || free >= t.pages || !takeBit(t.seen, free) {
			return fmt.Errorf("entry %d of the freelist on page %d is wrong", i, id)
		}
		last = free
	}
	return nil
}
