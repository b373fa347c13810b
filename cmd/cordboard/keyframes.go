package main

import (
	"bytes"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// A terminal writes a key or a mark as one sequence, but a slow line may deliver it in pieces. The program library takes the end of
// every read for the end of a key: a cut mark of a paste would be the esc key, and the text after it commands (R153).

const (
	escape     = '\x1b'
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	// escWithin is how long an ESC may be the beginning of something: a person who presses esc does not notice it.
	escWithin = 40 * time.Millisecond
	// longestKey bounds the bytes that are waited for to complete a key.
	longestKey = 32
	// pastePiece is how much of a paste is handed on at the most as one: the library reads what it has anew with every read.
	pastePiece = 32 << 10
)

// keyFrames reads whole keys: no read ends inside a sequence, a rune or a mark, however they came. What has begun as a sequence that
// only a machine writes is kept until it goes on.
type keyFrames struct {
	from io.Reader
	// soon reports whether more has come within escWithin.
	soon  func() bool
	begun []byte // a sequence that has begun
	esc   bool   // an ESC was handed on alone last
	paste bool   // between the marks of a paste
	size  int    // bytes handed on of the piece
}

// Read implements io.Reader. A buffer of 256 bytes holds whatever comes; a read of nothing is possible and is no end.
func (k *keyFrames) Read(p []byte) (int, error) {
	buf := make([]byte, max(len(p)/3, 1)) // room for the rest of a key, for marks and for what an answer held back
	n, err := k.from.Read(buf)
	if n == 0 {
		return 0, err
	}
	late := k.esc && buf[0] == '['
	data := append(k.begun, buf[:n]...)
	if late { // a paste or a key that was cut after its first byte
		data = append([]byte{escape}, data...)
	}
	tail, paste := wholeKeys(data, k.paste)
	for err == nil && !paste && tail < len(data) && len(data)-tail < longestKey && k.soon() {
		if n, err = k.from.Read(buf[:1]); n > 0 {
			data = append(data, buf[0])
			tail, paste = wholeKeys(data, k.paste)
		}
	}
	if rest := len(data) - tail; err != nil || rest >= longestKey || rest > 0 && !paste && !machineWrites(data[tail:]) {
		tail = len(data)
	}
	out := data[:tail]
	k.begun = bytes.Clone(data[tail:])
	if late && len(out) > 0 && !bytes.HasPrefix(out, []byte(pasteStart)) && keyLength(out) != len(out) {
		out = out[1:]
	}
	k.esc = len(out) > 0 && out[len(out)-1] == escape && !paste
	return copy(p, k.piece(out, paste)), err
}

// piece ends a paste that gets long and begins another one.
func (k *keyFrames) piece(out []byte, paste bool) []byte {
	k.paste = paste
	if k.size += len(out); !paste {
		k.size = 0
	}
	if k.size > pastePiece {
		k.size = 0
		out = append(out[:len(out):len(out)], pasteEnd+pasteStart...)
	}
	return out
}

// wholeKeys is where in the data the first key begins that is not whole, len(data) where there is none, and whether that is inside a
// paste; the data begins inside one if paste says so.
func wholeKeys(data []byte, paste bool) (tail int, inside bool) {
	for tail < len(data) {
		rest := data[tail:]
		if paste {
			end := bytes.Index(rest, []byte(pasteEnd))
			if end < 0 {
				return tail + wholeText(rest), true
			}
			tail, paste = tail+end+len(pasteEnd), false
			continue
		}
		n := keyLength(rest)
		if n == 0 {
			return tail, false
		}
		paste = string(rest[:n]) == pasteStart
		tail += n
	}
	return tail, paste
}

// wholeText is how much of a pasted text ends neither in a rune nor in what may be the mark of its end.
func wholeText(text []byte) int {
	for n := min(len(pasteEnd)-1, len(text)); n > 0; n-- {
		if bytes.HasPrefix([]byte(pasteEnd), text[len(text)-n:]) {
			return len(text) - n
		}
	}
	for n := 1; n < min(utf8.UTFMax, len(text)+1); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}

// keyLength is how many bytes the first key takes, 0 when it is not whole.
func keyLength(b []byte) int {
	if b[0] != escape {
		return runeLength(b)
	}
	switch {
	case len(b) == 1:
		return 0
	case b[1] == escape && len(b) == 2: // alt, or the start of what some terminals write for alt and an arrow
		return 0
	case b[1] == escape && (b[2] == '[' || b[2] == 'O'):
		return after(1, sequenceLength(b[1:]))
	case b[1] == escape:
		return 2
	case b[1] == '[' || b[1] == 'O':
		return sequenceLength(b)
	}
	return after(1, runeLength(b[1:]))
}

func after(before, n int) int {
	if n == 0 {
		return 0
	}
	return before + n
}

func runeLength(b []byte) int {
	if !utf8.FullRune(b) {
		return 0
	}
	_, n := utf8.DecodeRune(b)
	return n
}

// sequenceLength is the length of ESC O x, ESC [ parameters x, and of the two that have bytes after their end: the mouse of old
// terminals and the function keys of Linux's own.
func sequenceLength(b []byte) int {
	if len(b) < 3 {
		return 0
	}
	n := 3
	switch {
	case b[1] == 'O':
		return n
	case b[2] == 'M':
		n = 6
	case b[2] == '[':
		n = 4
	default:
		n = 2
		for n < len(b) && b[n] >= ' ' && b[n] <= '?' {
			n++
		}
		if n < len(b) && (b[n] < '@' || b[n] > '~') {
			return n // it is none
		}
		n++
	}
	if n > len(b) {
		return 0
	}
	return n
}

// machineWrites reports whether this is the start of a sequence with parameters: nobody types that within the time of a key.
func machineWrites(b []byte) bool {
	b = bytes.TrimPrefix(b, []byte("\x1b["))
	return len(b) > 0 && len(bytes.Trim(b, "0123456789;<")) == 0
}

// soonFrom waits for more to be read from a terminal. It is a select, which every system can do on terminals.
func soonFrom(in *os.File) func() bool {
	fd := int(in.Fd())
	return func() bool {
		late := time.Now().Add(escWithin)
		for {
			var set unix.FdSet
			set.Set(fd)
			left := unix.NsecToTimeval(max(time.Until(late), 0).Nanoseconds())
			n, err := unix.Select(fd+1, &set, nil, nil, &left)
			if err != unix.EINTR {
				return n > 0 && err == nil
			}
		}
	}
}
