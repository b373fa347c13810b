package md

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// found are the places of a word in a line.
func found(l Line, word string) []Span {
	var spots []Span
	for at := 0; word != ""; {
		i := strings.Index(l.Text[at:], word)
		if i < 0 {
			break
		}
		spots = append(spots, Span{Start: at + i, End: at + i + len(word), Style: Match})
		at += i + len(word)
	}
	return spots
}

func TestOverlay(t *testing.T) {
	for _, c := range []struct{ name, src, word, want string }{
		{"in plain text", "one two one", "one", "<match>one</> two <match>one</>"},
		{"all of it", "one", "one", "<match>one</>"},
		{"not there", "one **two**", "x", "one <text+b>two</>"},
		{"over styles", "one **two** three", "e two t", "on<match>e </><match+b>two</><match> t</>hree"},
		{"inside a style", "**one two**", "e t", "<text+b>on</><match+b>e t</><text+b>wo</>"},
		{"after a bullet", "- one", "one", "<mark>• </><match>one</>"},
		{"CJK", "会議の**議事**録", "議", "会<match>議</>の<match+b>議</><text+b>事</>録"},
		{"takes whole characters", "cafe\u0301s 👩\u200d🚀!", "e", "caf<match>e\u0301</>s 👩\u200d🚀!"},
		{"also joined ones", "ab👩\u200d🚀!", "🚀", "ab<match>👩\u200d🚀</>!"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := New().Render(c.src, 80, Options{}).Lines[0]
			before := append([]Span(nil), l.Spans...)
			got := l.Overlay(found(l, c.word))
			assert.Equal(t, c.want, shown(Drawn{Lines: []Line{got}})[0])
			assert.Equal(t, before, append([]Span(nil), l.Spans...), "the cached line stays as it was")
		})
	}
}

func TestOverlayProperties(t *testing.T) {
	r := New()
	rapid.Check(t, func(t *rapid.T) {
		d := r.Render(anything().Draw(t, "src"), 30, Options{})
		word := rapid.SampledFrom([]string{"a", "o", " ", "\u0301", "会", "👩", "wo", "␛", "│"}).Draw(t, "word")
		for i, l := range d.Lines {
			d.Lines[i] = l.Overlay(found(l, word))
			require.Equal(t, l.Text, d.Lines[i].Text)
		}
		holds(t, d, 30)
	})
}
