package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

func TestLightAnswer(t *testing.T) {
	for answer, want := range map[string][2]bool{ // light, known
		"rgb:ffff/ffff/ffff":         {true, true},
		"rgb:0000/0000/0000":         {false, true},
		"rgb:ff/ff/ff":               {true, true},
		"rgb:f/f/0\x1b\\":            {true, true},
		"rgb:1e1e/1e1e/2e2e\a":       {false, true},
		"rgba:ffff/ffff/ffff/ffff\a": {true, true},
		"rgb:0000/ffff/0000":         {true, true}, // green looks bright
		"rgb:0000/0000/ffff":         {false, true},
		"rgb:fffff/0/0":              {false, false},
		"rgb:ffff/ffff":              {false, false},
		"rgb:gg/gg/gg":               {false, false},
		"#ffffff":                    {false, false},
		"":                           {false, false},
	} {
		light, known := lightAnswer(answer)
		assert.Equal(t, want, [2]bool{light, known}, "%q", answer)
	}
}

func TestCutIdentity(t *testing.T) {
	for data, want := range map[string]string{
		"\x1b[?62;22c":      "",
		"ab\x1b[?1;2cde":    "abde",
		"\x1b[?6c\x1b[A":    "\x1b[A",
		"\x1b[?62;2":        "not yet",
		"\x1b[?25hc":        "not yet",
		"nothing of ours c": "not yet",
	} {
		before, after, found := cutIdentity([]byte(data))
		if !found {
			assert.Equal(t, "not yet", want, "%q", data)
			assert.Equal(t, data, string(before))
			continue
		}
		assert.Equal(t, want, string(before)+string(after), "%q", data)
	}
}

// An answer that comes late is swallowed wherever reads part it, and every key around it comes through in its order (R223).
func TestLateAnswerIsNoKey(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "/", "\x1b[A", "\x1bOP", "é", "会", "\r", "]", "11;", "\x1b[200~x\x1b[201~"}), 0, 6)
		before, after := strings.Join(keys.Draw(t, "before"), ""), strings.Join(keys.Draw(t, "after"), "")
		end := rapid.SampledFrom([]string{"\a", "\x1b\\"}).Draw(t, "end")
		input := []byte(before + "\x1b]11;rgb:1e1e/1e1e/2e2e" + end + after)
		k := &keyboard{}
		var got []byte
		for len(input) > 0 {
			n := rapid.IntRange(1, len(input)).Draw(t, "read")
			kept := k.keep(bytes.Clone(input[:n]))
			got = append(got, kept...)
			input = input[n:]
		}
		want := before + after
		if string(got) != want { // the answer's ESC, alone at the end of a read, may be a key: it is let through
			require.Equal(t, before+"\x1b"+after, string(got))
		}
	})
}

// What is no answer is never held back for long.
func TestWhatIsNoAnswerComesThrough(t *testing.T) {
	k := &keyboard{}
	assert.Equal(t, "\x1b", string(k.keep([]byte("\x1b"))), "esc is a key")
	assert.Equal(t, "q", string(k.keep([]byte("q"))))
	assert.Empty(t, k.keep([]byte("\x1b]")))
	assert.Equal(t, "\x1b]x", string(k.keep([]byte("x"))), "alt+] and x")
	endless := strings.Repeat("z", 2*longestAnswer)
	assert.Equal(t, endless, string(k.keep([]byte(answerStart+endless))), "an answer without end is given up")
}

func TestKeysTypedBeforeTheStart(t *testing.T) {
	var got []string
	for _, msg := range keysOf([]byte("/a é会\r\t\x7f\x1b[A\x04q\x1b[")) {
		got = append(got, msg.(tea.KeyMsg).String())
	}
	assert.Equal(t, []string{"/", "a", " ", "é", "会", "enter", "tab", "backspace", "ctrl+d", "q"}, got)
}

func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"agent:main:main": "agent:main:main", "": "''", "a b": "'a b'", "it's": `'it'\''s'`, "$(rm -rf /)": "'$(rm -rf /)'", "a;b": "'a;b'",
		"~/x": "'~/x'", "-x": "-x", "агент": "'агент'", "a`b`": "'a`b`'", "#deploys": "'#deploys'",
	} {
		assert.Equal(t, want, shellWord(word))
	}
}

func TestTilde(t *testing.T) {
	a := &app{streams: streams{getenv: func(string) string { return "/home/mira" }}}
	for path, want := range map[string]string{
		"/home/mira": "~", "/home/mira/data": "~/data", "/home/mirabelle": "/home/mirabelle", "/srv/x": "/srv/x", "/home/mira/../other": "/home/other",
	} {
		assert.Equal(t, want, a.tilde(path))
	}
	assert.Equal(t, "/home/mira/keys.json5", a.home("~/keys.json5"))
	assert.Equal(t, "keys.json5", a.home("keys.json5"))
	nobody := &app{streams: streams{getenv: func(string) string { return "" }}}
	assert.Equal(t, "/srv/x", nobody.tilde("/srv/x"))
}

// Every store has a place of its own; a link to a store is that store; a file is whole or not there.
func TestStateFiles(t *testing.T) {
	root, stores := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(stores, "one"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(stores, "one"), filepath.Join(stores, "link")))
	one, two := newUIState(root, filepath.Join(stores, "one")), newUIState(root, filepath.Join(stores, "two"))
	require.NotEqual(t, one.dir, two.dir)
	require.Equal(t, one.dir, newUIState(root, filepath.Join(stores, "link")).dir)

	data, err := one.Load("console")
	require.NoError(t, err)
	require.Empty(t, data)
	require.NoError(t, one.Save("console", []byte("{}")))
	require.NoError(t, one.Save("console", []byte(`{"a":1}`)))
	data, err = one.Load("console")
	require.NoError(t, err)
	require.Equal(t, `{"a":1}`, string(data))
	left, err := os.ReadDir(one.dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "no scraps")
	info, err := left[0].Info()
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.Mkdir(one.file("odd"), 0o700))
	_, err = one.Load("odd")
	require.ErrorContains(t, err, "is no file of ours")
	require.NoError(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o600))
	require.Error(t, newUIState(filepath.Join(root, "file"), "x").Save("console", []byte("{}")))
}

// Lines do not wrap while the console's screen is up, and only then; one write goes out as one.
func TestScreenWritesModes(t *testing.T) {
	r, w, err := os.Pipe()
	require.NoError(t, err)
	defer r.Close()
	s := &screen{File: w}
	for _, text := range []string{enterScreen, hideCursor, frameStart + "frame", leaveScreen} {
		n, err := s.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
	}
	s.cursor = func() (int, int) { return 3, 7 }
	for _, text := range []string{hideCursor, frameStart + "frame", frameStart, "\r"} {
		_, err := s.WriteString(text)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	got := new(bytes.Buffer)
	_, err = got.ReadFrom(r)
	require.NoError(t, err)
	require.Equal(t, enterScreen+"\x1b[?7l"+hideCursor+frameStart+"frame"+"\x1b[?7h"+leaveScreen+frameStart+"frame\x1b[3;7H"+frameStart+"\r", got.String())
}
