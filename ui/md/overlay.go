package md

import "github.com/charmbracelet/x/ansi"

// Overlay returns the line with some of its text in other roles: what a search found. spots are in order, do not overlap and lie in
// Text; one that cuts a character of several runes takes all of it. The line itself does not change.
func (l Line) Overlay(spots []Span) Line {
	if len(spots) == 0 {
		return l
	}
	if !isPrintable(l.Text) {
		spots = onClusters(l.Text, spots)
	}
	under := rich{l.Text, l.Spans}
	if under.spans == nil {
		under.spans = []Span{{End: len(l.Text)}}
	}
	out := make([]Span, 0, len(under.spans)+2*len(spots))
	at := 0
	for _, s := range append(spots[:len(spots):len(spots)], Span{Start: len(l.Text), End: len(l.Text)}) {
		out = append(out, under.between(at, s.Start)...)
		for _, u := range under.between(max(s.Start, at), s.End) {
			u.Style = u.Style&^0xF | s.Style
			out = append(out, u)
		}
		at = max(at, s.End)
	}
	l.Spans = out
	return l
}

// between are the spans of the text from byte i to j, where it is.
func (r rich) between(i, j int) []Span {
	var out []Span
	for _, s := range r.spans {
		if start, end := max(s.Start, i), min(s.End, j); start < end {
			out = append(out, Span{start, end, s.Style, s.Link})
		}
	}
	return out
}

// onClusters moves the ends of spots outwards to where characters begin and end.
func onClusters(text string, spots []Span) []Span {
	out := make([]Span, 0, len(spots))
	at := 0
	for _, s := range spots {
		for at < len(text) {
			cluster, _ := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
			if at+len(cluster) > s.Start {
				break
			}
			at += max(len(cluster), 1)
		}
		s.Start = at
		for at < min(s.End, len(text)) {
			cluster, _ := ansi.FirstGraphemeCluster(text[at:], ansi.GraphemeWidth)
			at += max(len(cluster), 1)
		}
		s.End = at
		out = append(out, s)
	}
	return out
}
