package ui

import (
	"regexp"
	"testing"

	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/themes"
)

// dress gives a console the inks of a theme.
func (c *console) dress(theme string, profile termenv.Profile) {
	c.m.dress(styles(c.t, theme, profile))
	c.send(nil)
}

// Colours change no cell: without them a screen reads the same, in every theme (R222).
func TestColoursChangeNoCell(t *testing.T) {
	board, _ := engineOn(t, true)
	for _, keys := range [][]string{{}, {"enter", "t"}, {"i"}, {"?"}, {"/", "o"}} {
		c := newConsole(t, board, 120, 30)
		c.press(keys...)
		plain := c.view()
		require.NotContains(t, plain, "\x1b")
		c.dress(themes.NoColour, termenv.ANSI)
		plain = sgr.ReplaceAllString(c.view(), "")
		for _, theme := range themes.Names() {
			for _, profile := range []termenv.Profile{termenv.ANSI, termenv.ANSI256, termenv.TrueColor} {
				c.dress(theme, profile)
				require.Equal(t, plain, sgr.ReplaceAllString(c.view(), ""), "%s %v %v", theme, profile, keys)
			}
		}
	}
}

// Where there is no bold either, Markdown keeps the marks it was written with.
func TestMarkdownWithoutAttributes(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 30)
	require.Contains(t, c.view(), "*logrotate must")
	c.dress(themes.NoColour, termenv.ANSI)
	require.NotContains(t, c.view(), "*logrotate must")
	require.Contains(t, c.view(), "logrotate must")
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])\b[0-9;]*m`)

// R152: the theme without colours sets none, and the row under the cursor still stands out.
func TestNoColourTheme(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 30)
	c.dress(themes.NoColour, termenv.ANSI)
	require.NotRegexp(t, colours, c.view())
	require.Contains(t, c.view(), "\x1b[7m")
	c.dress(themes.Dark, termenv.TrueColor)
	require.Regexp(t, colours, c.view())
}

// Every run of a line ends its own style: nothing bleeds into the next.
func TestStylesDoNotBleed(t *testing.T) {
	c := newConsole(t, hostileBoard(), 160, 45)
	c.dress(themes.Dark, termenv.TrueColor)
	c.press("enter", "t", "T")
	for _, l := range splitLines(c.view()) {
		codes := sgr.FindAllString(l, -1)
		require.NotEmpty(t, codes)
		require.Equal(t, "\x1b[0m", codes[len(codes)-1], "%q", l)
	}
}
