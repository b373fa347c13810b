package md

import (
	"github.com/charmbracelet/lipgloss"

	"cordboard/themes"
)

// Ink is a theme's style for a span. Without colours or attributes in the theme, Options.ASCII keeps what they would tell.
func Ink(s *themes.Styles, style Style) lipgloss.Style {
	ink := s.Transcript.Text
	switch style.Role() {
	case Heading:
		ink = s.Transcript.Heading
	case Code:
		ink = s.Transcript.Code
	case Link:
		ink = s.Transcript.Link
	case Target, Mark:
		ink = s.Base.Dim
	case Label:
		ink = s.Base.Muted
	case Added:
		ink = s.Transcript.DiffAdd
	case Removed:
		ink = s.Transcript.DiffDel
	}
	if style&Bold != 0 {
		ink = ink.Bold(true)
	}
	if style&Italic != 0 {
		ink = ink.Italic(true)
	}
	if style&Strike != 0 {
		ink = ink.Strikethrough(true)
	}
	return ink
}
