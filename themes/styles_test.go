package themes

import (
	"fmt"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/exp/golden"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func renderer(profile termenv.Profile) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(profile)
	r.SetHasDarkBackground(true)
	return r
}

func compiled(t *testing.T, name string, profile termenv.Profile) *Styles {
	t.Helper()
	p, err := Load(name)
	require.NoError(t, err)
	return Compile(p, renderer(profile))
}

// sample draws one text in every style, a line each: "Frame.Border  │".
func sample(s *Styles) string {
	var out strings.Builder
	eachStyle(reflect.ValueOf(*s), "", func(name string, style lipgloss.Style) {
		fmt.Fprintf(&out, "%-24s%s\n", name, style.Render("● text 会議"))
	})
	return out.String()
}

func eachStyle(v reflect.Value, prefix string, f func(string, lipgloss.Style)) {
	for i := range v.NumField() {
		name := prefix + v.Type().Field(i).Name
		switch field := v.Field(i).Interface().(type) {
		case lipgloss.Style:
			f(name, field)
		case string, bool:
		default:
			eachStyle(v.Field(i), name+".", f)
		}
	}
}

func TestCompiled(t *testing.T) {
	for _, name := range []string{Dark, Light, HighContrast, NoColour} {
		t.Run(name, func(t *testing.T) {
			golden.RequireEqualEscape(t, []byte(escaped(sample(compiled(t, name, termenv.TrueColor)))), true)
		})
	}
}

// escaped shows ESC as text, so that a golden file is safe to read.
func escaped(s string) string { return strings.ReplaceAll(s, "\x1b", "␛") }

func TestAsciiProfileWritesNoEscape(t *testing.T) {
	for _, name := range Names() {
		out := sample(compiled(t, name, termenv.Ascii))
		assert.NotContains(t, out, "\x1b", name)
		assert.Equal(t, strings.Count(out, "\n"), strings.Count(out, "● text 会議"), name)
	}
}

// TestNoColour holds R152: attributes only, and what must stand out does.
func TestNoColour(t *testing.T) {
	s := compiled(t, NoColour, termenv.TrueColor)
	for _, sgr := range regexp.MustCompile(`\x1b\[([0-9;]*)m`).FindAllStringSubmatch(sample(s), -1) {
		for _, code := range strings.Split(sgr[1], ";") {
			assert.Contains(t, []string{"", "0", "1", "4", "7"}, code)
		}
	}
	plain := s.Base.Text.Render("x")
	for name, style := range map[string]lipgloss.Style{
		"selection": s.Tree.Selected, "match": s.Transcript.Match, "current match": s.Transcript.MatchCurrent,
		"focus": s.Frame.BorderFocus, "failed": s.State.Failed, "focused button": s.Dialog.ButtonFocus, "focused field": s.Dialog.FieldFocus,
	} {
		assert.NotEqual(t, plain, style.Render("x"), name)
	}
	assert.NotEqual(t, s.Transcript.Match.Render("x"), s.Transcript.MatchCurrent.Render("x"))
	assert.NotEqual(t, s.Dialog.Button.Render("x"), s.Dialog.ButtonFocus.Render("x"))
	assert.NotEqual(t, s.Frame.Border.Render("x"), s.Frame.BorderFocus.Render("x"))
}

func TestAnsiColours(t *testing.T) {
	p, err := Parse(edited(t, func(_, r map[string]any) { r["ok"], r["err"] = "ansi:2", "ansi:208" }))
	require.NoError(t, err)
	s := Compile(p, renderer(termenv.TrueColor))
	assert.Equal(t, "\x1b[32mx\x1b[0m", s.Base.OK.Render("x"))
	assert.Equal(t, "\x1b[1;38;5;208mx\x1b[0m", s.Base.Err.Render("x"))
}

// TestTwoRenderers: two consoles with different profiles live in one process.
func TestTwoRenderers(t *testing.T) {
	colour, plain := compiled(t, Dark, termenv.TrueColor), compiled(t, Dark, termenv.Ascii)
	assert.Contains(t, colour.State.Running.Render("● running"), "\x1b[")
	assert.Equal(t, "● running", plain.State.Running.Render("● running"))
}

func BenchmarkCompile(b *testing.B) {
	p, err := Load(Dark)
	require.NoError(b, err)
	r := renderer(termenv.TrueColor)
	for b.Loop() {
		Compile(p, r)
	}
}
