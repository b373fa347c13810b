package exec

import (
	"fmt"
	"io"
	"unicode/utf8"

	"cordboard/core"
)

// MaxReply bounds a reply, bytes. What a command writes beyond it is read and dropped, and the reply says so in its last line.
const MaxReply = 1 << 20

// reply passes on what a command writes: made valid UTF-8, without the line breaks at its end.
type reply struct {
	out     core.Sink
	partial []byte // of a character
	breaks  string // written once something follows them
	length  int
	dropped int64
}

// copy reads to the end. An error is the sink's: reading has no other end than the command's.
func (r *reply) copy(from io.ReadCloser) error {
	defer from.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if failed := r.write(buffer[:n]); failed != nil {
			return failed
		}
		if err != nil {
			return nil
		}
	}
}

func (r *reply) write(p []byte) error {
	if r.dropped > 0 {
		r.dropped += int64(len(p))
		return nil
	}
	whole := append(r.partial, p...)
	cut := len(whole) - unfinished(whole)
	r.partial = append([]byte(nil), whole[cut:]...)
	return r.say(string([]rune(string(whole[:cut])))) // each byte that is no character becomes U+FFFD
}

// unfinished is how many bytes at the end may be the beginning of a character.
func unfinished(p []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if last := p[len(p)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// say passes text on as far as there is room.
func (r *reply) say(text string) error {
	text = r.breaks + text
	end := len(text)
	for end > 0 && (text[end-1] == '\n' || text[end-1] == '\r') {
		end--
	}
	if room := MaxReply - r.length; len(text) > room {
		for room > 0 && !utf8.RuneStart(text[room]) {
			room--
		}
		r.dropped = int64(len(text) - room)
		end, text = room, text[:room]
	}
	r.breaks = text[end:]
	if end == 0 {
		return nil
	}
	r.length += end
	return r.out.Text(text[:end])
}

// close says the rest: half a character, and how much was left out.
func (r *reply) close() error {
	if rest := r.partial; len(rest) > 0 && r.dropped == 0 {
		r.partial = nil
		if err := r.say(string([]rune(string(rest)))); err != nil {
			return err
		}
	}
	if r.dropped == 0 {
		return nil
	}
	return r.out.Text(fmt.Sprintf("\n[cut: the command wrote %d bytes more than the %d that a reply may have]", r.dropped, MaxReply))
}
