// Package early must be initialised before bubbletea. It holds one call and nothing else.
//
// bubbletea v1 asks the terminal for its background colour in a package init. On a terminal that does not answer (a bare pty, a
// serial line, some multiplexers) that question times out after five seconds, and every command of a binary that links bubbletea
// pays it, `version` too; a late answer then lands in the shell as junk. lipgloss asks only while nobody has told it the answer. So
// this package tells it.
//
// Go initialises packages whose imports are done in the order of their paths. "cordboard/themes/early" needs lipgloss only, as does
// bubbletea, and sorts before "github.com/charmbracelet/bubbletea": it runs first. Hence the rules, which tests hold: it imports
// nothing but lipgloss, and the module path sorts before "github.com/".
//
// The answer itself does not matter: themes are chosen by themes.Choose and compiled without adaptive colours.
package early

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
