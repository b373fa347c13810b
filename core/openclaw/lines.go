package openclaw

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash/crc64"
	"io"
	"strconv"
	"strings"
)

const (
	// maxLine is the longest line that is taken over, in bytes.
	maxLine = 64 << 20
	// chunk is how much is read from a file at once.
	chunk = 256 << 10
	// sumWindow is how much of the beginning and of the end of what was read goes into its sum.
	sumWindow = 4 << 10
)

// errLineTooLong says that a line was skipped because it is longer than maxLine; the next call goes on behind it.
var errLineTooLong = errors.New("the line is longer than 64 MiB")

// lineReader cuts a file into lines. The lines it returns stay valid: it never writes to a buffer it has handed out.
type lineReader struct {
	src    io.ReaderAt
	size   int64  // as far as it reads, so that a file which is being appended to comes to an end
	limit  int    // of a line
	chunk  int    // to read at once
	buf    []byte // [kept: what came before start][unread lines]
	start  int    // of the next line in buf
	offset int64  // of that line in the file
	read   int64  // end of buf in the file
	head   []byte // first bytes of the file, up to sumWindow
	whole  uint64 // check sum of all that lies before the next line,
	before uint64 // and before the last one
}

func newLineReader(src io.ReaderAt, from, size int64) *lineReader {
	return &lineReader{src: src, size: size, limit: maxLine, chunk: chunk, offset: from, read: from}
}

// next returns the next line without its newline; complete=false for the last one when no newline ends it. io.EOF when there is none.
func (r *lineReader) next() (line []byte, complete bool, err error) {
	scanned := 0
	r.before = r.whole
	for {
		if i := bytes.IndexByte(r.buf[r.start+scanned:], '\n'); i >= 0 {
			line = r.take(scanned + i)
			r.take(1)
			if len(line) > r.limit {
				return nil, false, errLineTooLong
			}
			return line, true, nil
		}
		scanned = len(r.buf) - r.start
		switch {
		case scanned > r.limit:
			return nil, false, r.skipLine()
		case r.read >= r.size && scanned == 0:
			return nil, false, io.EOF
		case r.read >= r.size:
			return r.take(scanned), false, nil
		}
		if err := r.fill(); err != nil {
			return nil, false, err
		}
	}
}

func (r *lineReader) take(n int) []byte {
	line := r.buf[r.start : r.start+n : r.start+n]
	r.whole = crc64.Update(r.whole, sumTable, line)
	r.start += n
	r.offset += int64(n)
	return line
}

// putBack takes back the line of n bytes, without a newline, that next returned last.
func (r *lineReader) putBack(n int) {
	r.whole = r.before
	r.start -= n
	r.offset -= int64(n)
}

// fill reads more of the file behind what is not yet cut into lines, into a new buffer.
func (r *lineReader) fill() error {
	keep := max(0, r.start-sumWindow)
	rest := len(r.buf) - keep
	n := int(min(int64(max(r.chunk, rest)), r.size-r.read))
	buf := make([]byte, rest+n)
	copy(buf, r.buf[keep:])
	got, err := r.src.ReadAt(buf[rest:], r.read)
	if err != nil && err != io.EOF {
		return err
	}
	if got < n {
		r.size = r.read + int64(got) // it was cut short since it was measured
	}
	if len(r.head) < sumWindow && r.read == int64(len(r.head)) {
		r.head = append(r.head, buf[rest:rest+min(got, sumWindow-len(r.head))]...)
	}
	r.buf, r.start, r.read = buf[:rest+got], r.start-keep, r.read+int64(got)
	return nil
}

// skipLine drops everything up to the next newline.
func (r *lineReader) skipLine() error {
	for {
		if i := bytes.IndexByte(r.buf[r.start:], '\n'); i >= 0 {
			r.take(i + 1)
			return errLineTooLong
		}
		r.take(len(r.buf) - r.start)
		if r.read >= r.size {
			return errLineTooLong
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

// sum is the sum of what lies before the next line.
func (r *lineReader) sum() string {
	tail := r.buf[max(0, r.start-sumWindow):r.start]
	return sumOf(r.head[:min(int64(len(r.head)), r.offset)], tail) + wholeMark + strconv.FormatUint(r.whole, 16)
}

// wholeMark separates the two parts of a sum: the strong one of both ends, and the check sum of everything, which can be gone on with
// without reading what it is of. Sums of stores that were written before that lack the second.
const wholeMark = "/"

var sumTable = crc64.MakeTable(crc64.ECMA)

// splitSum takes a sum apart; ok=false for one without the second part.
func splitSum(sum string) (ends string, whole uint64, ok bool) {
	ends, text, ok := strings.Cut(sum, wholeMark)
	if ok {
		var err error
		whole, err = strconv.ParseUint(text, 16, 64)
		ok = err == nil
	}
	return ends, whole, ok
}

func sumOf(head, tail []byte) string {
	h := sha256.New()
	h.Write(head)
	h.Write(tail)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// resume makes a reader that goes on at an offset, after checking that what lies before it is what was read then; ok=false when it
// is not. Of what lies before, all is read unless ends says that the first and the last 4 KiB of it are enough.
func resume(src io.ReaderAt, size, offset int64, sum string, ends bool) (r *lineReader, ok bool, err error) {
	if size < offset {
		return nil, false, nil
	}
	head, err := window(src, 0, min(offset, sumWindow))
	if err != nil {
		return nil, false, err
	}
	from := max(0, offset-sumWindow)
	tail, err := window(src, from, offset-from)
	if err != nil {
		return nil, false, err
	}
	strong, expected, summed := splitSum(sum)
	if sumOf(head, tail) != strong {
		return nil, false, nil
	}
	whole := expected
	if !ends || !summed {
		if whole, err = checkSum(src, offset); err != nil {
			return nil, false, err
		}
	}
	if summed && whole != expected {
		return nil, false, nil
	}
	r = newLineReader(src, offset, size)
	r.head, r.buf, r.start, r.whole = head, tail, len(tail), whole
	return r, true, nil
}

// checkSum reads a file up to an offset.
func checkSum(src io.ReaderAt, offset int64) (sum uint64, err error) {
	buf := make([]byte, min(offset, chunk))
	in := io.NewSectionReader(src, 0, offset)
	for {
		n, err := in.Read(buf)
		sum = crc64.Update(sum, sumTable, buf[:n])
		if err == io.EOF {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func window(src io.ReaderAt, from, n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := src.ReadAt(buf, from)
	if err == io.EOF {
		err = nil
	}
	return buf[:got], err
}
