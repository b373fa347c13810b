package main

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// answerWithin is how long a terminal may take to say which background it has; what comes later is swallowed by keyboard.
const answerWithin = 150 * time.Millisecond

// The question: the background, then what the terminal is. Every terminal answers the second, so that one that does not know the first
// costs no wait.
const backgroundQuestion = "\x1b]11;?\a\x1b[c"

// askBackground asks the terminal whether its background is light. It gives up after answerWithin; what was typed meanwhile comes back.
func askBackground(in, out *os.File) (light, known bool, typed []byte) {
	was, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return false, false, nil
	}
	defer func() { _ = term.Restore(int(in.Fd()), was) }()
	if _, err := out.WriteString(backgroundQuestion); err != nil {
		return false, false, nil
	}
	data := readUntil(in, time.Now().Add(answerWithin), func(b []byte) bool { _, _, done := cutIdentity(b); return done })
	before, after, _ := cutIdentity(data)
	data = append(before, after...)
	i := bytes.Index(data, []byte(answerStart))
	if i < 0 {
		return false, false, data
	}
	end := answerEnd(data[i:])
	if end < 0 {
		return false, false, data[:i]
	}
	light, known = lightAnswer(string(data[i+len(answerStart) : i+end]))
	return light, known, append(data[:i:i], data[i+end:]...)
}

// readUntil reads what comes until it is enough or the time is over.
func readUntil(in *os.File, deadline time.Time, enough func([]byte) bool) []byte {
	var data []byte
	buf := make([]byte, 256)
	for !enough(data) {
		left := time.Until(deadline)
		if left <= 0 {
			return data
		}
		fds := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}} //nolint:gosec // a descriptor fits
		n, err := unix.Poll(fds, int(left.Milliseconds())+1)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return data
		}
		k, err := in.Read(buf)
		if err != nil || k == 0 {
			return data
		}
		data = append(data, buf[:k]...)
	}
	return data
}

// cutIdentity takes the answer to "what are you" out of what was read: ESC [ ? … c.
func cutIdentity(data []byte) (before, after []byte, found bool) {
	i := bytes.Index(data, []byte("\x1b[?"))
	if i < 0 {
		return data, nil, false
	}
	end := bytes.IndexByte(data[i:], 'c')
	if end < 0 || bytes.ContainsFunc(data[i+3:i+end], func(r rune) bool { return r != ';' && (r < '0' || r > '9') }) {
		return data, nil, false
	}
	return data[:i:i], data[i+end+1:], true
}

// lightAnswer reads "rgb:rrrr/gggg/bbbb", with one to four hex digits a colour, and says whether that is light.
func lightAnswer(text string) (light, known bool) {
	text = strings.TrimRight(text, "\a\x1b\\")
	rgb, ok := strings.CutPrefix(text, "rgb:")
	if !ok {
		if rgb, ok = strings.CutPrefix(text, "rgba:"); !ok {
			return false, false
		}
	}
	parts := strings.Split(rgb, "/")
	if len(parts) < 3 {
		return false, false
	}
	weights := [3]float64{0.299, 0.587, 0.114} // how bright each looks
	bright := 0.0
	for i, weight := range weights {
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil || len(parts[i]) > 4 {
			return false, false
		}
		bright += weight * float64(n) / float64(uint(1)<<(4*len(parts[i]))-1)
	}
	return bright > 0.5, true
}

// cutTyped parts what was typed before the program read any: whole keys, and one or a paste that has only begun.
func cutTyped(data []byte) (typed, begun []byte) {
	tail, paste := wholeKeys(data, false)
	if !paste {
		return data[:tail], data[tail:]
	}
	start := bytes.LastIndex(data[:tail], []byte(pasteStart))
	return data[:start], append([]byte(pasteStart), data[tail:]...) // what of it has come nothing takes that early
}

// keysOf are the keys that were typed before the program read any.
func keysOf(typed []byte) []tea.Msg {
	var keys []tea.Msg
	text := string(typed)
	for len(text) > 0 {
		if _, ok := strings.CutPrefix(text, pasteStart); ok { // nothing takes a paste that early
			_, text, _ = strings.Cut(text, pasteEnd)
			continue
		}
		if rest, ok := strings.CutPrefix(text, "\x1b["); ok {
			end := strings.IndexFunc(rest, func(r rune) bool { return r >= '@' && r <= '~' })
			text = rest[end+1:] // a key with a name of its own: nobody waits for it that early
			if end < 0 {
				return keys
			}
			continue
		}
		for _, r := range text {
			switch {
			case r == ' ':
				keys = append(keys, tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}})
			case r < ' ' || r == 0x7f:
				keys = append(keys, tea.KeyMsg{Type: tea.KeyType(r)})
			default:
				keys = append(keys, tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
			}
			text = text[len(string(r)):]
			break
		}
	}
	return keys
}
