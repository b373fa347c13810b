package md

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	_ "github.com/charmbracelet/x/exp/golden" // owns the -update flag
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/themes"
)

// dir holds the texts (*.md) and what they look like.
const dir = "../../testdata/ui/md"

// hostile is no file: nobody should print it.
const hostile = "title \x1b]0;pwned\a and **\x1b[2J** `\x1b[31mred` [label](https://evil.test/\x1b]52;c;eA==\a)\n" +
	"bidi \u202etxt.exe zero\u200bwidth &#27;[2J &#x202e;\n\n```\x1b[5m\n\x1b[8mhidden\x1b[0m\n\x9b2J\n```\n\n> \abell\n\n" +
	"|a\x1b|b|\n|-|-|\n|\x1b[2J|\u202e|\n"

// golden compares with a file, or writes it with -update. Spaces at the end of a line are shown as ·.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	for i, l := range lines {
		kept := strings.TrimRight(l, " ")
		lines[i] = kept + strings.Repeat("·", len(l)-len(kept))
	}
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join(dir, name+".txt")
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

func TestPictures(t *testing.T) {
	texts := map[string]string{"hostile": hostile}
	for _, name := range []string{"agent", "growing", "wide"} {
		src, err := os.ReadFile(filepath.Join(dir, name+".md"))
		require.NoError(t, err)
		texts[name] = string(src)
	}
	for name, src := range texts {
		for _, c := range []struct {
			suffix string
			width  int
			o      Options
		}{
			{"-80", 80, Options{Wrap: WrapAll}},
			{"-32", 32, Options{Wrap: WrapAll}},
			{"-cut-40", 40, Options{Wrap: WrapNone}},
			{"-ascii-60", 60, Options{Wrap: WrapAll, ASCII: true}},
		} {
			t.Run(name+c.suffix, func(t *testing.T) {
				d := New().Render(src, c.width, c.o)
				holds(t, d, c.width)
				golden(t, name+c.suffix, rows(d.Lines))
			})
		}
		t.Run(name+"-escapes", func(t *testing.T) { golden(t, name+"-escapes", painted(t, src)) })
	}
}

// painted are lines in the dark theme's colours, with ESC as \e so that the file is safe to read.
func painted(t *testing.T, src string) []string {
	p, err := themes.Load(themes.Dark)
	require.NoError(t, err)
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	styles := themes.Compile(p, r)
	inks := map[Style][2]string{} // as the console has them
	var out []string
	for _, l := range New().Render(src, 60, Options{Wrap: WrapAll}).Lines {
		var b strings.Builder
		for style, text := range l.Pieces() {
			if _, ok := inks[style]; !ok {
				before, after, _ := strings.Cut(Ink(styles, style).Render("x"), "x")
				inks[style] = [2]string{before, after}
			}
			b.WriteString(inks[style][0] + text + inks[style][1])
		}
		out = append(out, strings.ReplaceAll(b.String(), "\x1b", `\e`))
	}
	return out
}

// TestInks: every style has an ink, and bits and roles show.
func TestInks(t *testing.T) {
	p, err := themes.Load(themes.Dark)
	require.NoError(t, err)
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.TrueColor)
	styles := themes.Compile(p, r)
	seen := map[string]string{}
	for _, role := range []Role{Text, Heading, Code, Link, Target, Label, Added, Removed} {
		for _, bits := range []Style{0, Italic, Strike, Italic | Strike} {
			s := role | bits
			require.Less(t, int(s), Styles)
			require.Equal(t, role, s.Role())
			ink := Ink(styles, s).Render("x")
			require.Empty(t, seen[ink], "%d looks like %s", s, seen[ink])
			seen[ink] = fmt.Sprint(s)
		}
	}
	require.Contains(t, Ink(styles, Bold).Render("x"), "1;")
}
