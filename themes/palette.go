// Package themes holds the console's colours: palettes as data (the JSON files beside this one, and the user's own), and the styles
// compiled from one palette for one renderer. Nothing here asks the terminal anything and no colour adapts while drawing.
//
// A colour only helps: every state is also a glyph and a word, so the no-colour theme loses nothing.
package themes

import (
	"regexp"
	"strconv"
	"strings"

	"cordboard/core"
)

// Color is "#rrggbb", "ansi:0" … "ansi:255" (the terminal's own palette) or "", the terminal's default.
type Color string

// Palette is a theme file. Assumes lists the terminal backgrounds the theme is made for; they stand in for surfaces left to the
// terminal ("") when contrast is judged, and are not drawn.
type Palette struct {
	Name    string  `json:"name"`
	Dark    bool    `json:"dark"`
	Assumes []Color `json:"assumes"`
	Roles   Roles   `json:"roles"`
}

// Roles are all colours the console draws with. The first group are surfaces; every ink is readable on each of them.
type Roles struct {
	Bg         Color `json:"bg"`         // the screen
	BgPanel    Color `json:"bgPanel"`    // dialogs, overlays, the palette
	BgSelected Color `json:"bgSelected"` // the row under the cursor
	BgBar      Color `json:"bgBar"`      // header and footer

	Fg      Color `json:"fg"`      // what is read
	FgMuted Color `json:"fgMuted"` // what goes with it: ages, counts, hints
	FgDim   Color `json:"fgDim"`   // what is out of view or disabled
	Accent  Color `json:"accent"`  // the one colour of the theme: focus, keys, titles
	Accent2 Color `json:"accent2"` // names, links
	OK      Color `json:"ok"`
	Warn    Color `json:"warn"`
	Err     Color `json:"err"`
	Info    Color `json:"info"`
	Busy    Color `json:"busy"` // something moves

	RoleUser   Color `json:"roleUser"`
	RoleAgent  Color `json:"roleAgent"`
	RoleTool   Color `json:"roleTool"`
	RoleSystem Color `json:"roleSystem"`
	Code       Color `json:"code"`
	DiffAdd    Color `json:"diffAdd"`
	DiffDel    Color `json:"diffDel"`

	Border      Color `json:"border"` // lines, not text
	BorderFocus Color `json:"borderFocus"`

	Match          Color `json:"match"` // behind a search hit
	MatchFg        Color `json:"matchFg"`
	MatchCurrent   Color `json:"matchCurrent"`
	MatchCurrentFg Color `json:"matchCurrentFg"`
}

var hexColor = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// check tells what is wrong with a colour.
func (c Color) check(key string) *core.Error {
	if c == "" || hexColor.MatchString(string(c)) {
		return nil
	}
	if index, ok := strings.CutPrefix(string(c), "ansi:"); ok {
		if n, err := strconv.Atoi(index); err == nil && n >= 0 && n <= 255 {
			return nil
		}
	}
	return core.Errorf(core.CodeConfig, "%s is %q, which is no colour: write \"#rrggbb\", \"ansi:0\" to \"ansi:255\", or \"\" for the terminal's own", key, string(c)).
		Because(key).Accept("#rrggbb", "ansi:N", "")
}
