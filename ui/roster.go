package ui

import "slices"

// roster is which rows a view shows, in order, and which is under the cursor. The cursor is an id: rows that come, go or are sorted anew
// leave it on its row.
type roster struct {
	ids    []string
	cursor string
	index  int // its row
	top    int // first row on the screen
	height int
}

// set lists other rows. The cursor's row stays where it is on the screen, or in view when the list stands at its beginning.
func (r *roster) set(ids []string) {
	offset, first := r.index-r.top, r.top == 0
	r.ids = ids
	if at := slices.Index(ids, r.cursor); at >= 0 {
		r.index = at
	}
	if r.top = r.index - offset; first {
		r.top = 0
	}
	r.adopt()
}

// adopt makes the row at index the cursor's and scrolls it into view.
func (r *roster) adopt() {
	r.index = clamp(r.index, 0, max(len(r.ids)-1, 0))
	r.cursor = ""
	if len(r.ids) > 0 {
		r.cursor = r.ids[r.index]
	}
	r.scroll()
}

func (r *roster) scroll() {
	r.top = max(r.top, r.index-r.height+1)
	r.top = max(min(r.top, r.index, max(len(r.ids)-r.height, 0)), 0)
}

func (r *roster) resize(h int) {
	if r.height != h {
		r.height = h
		r.scroll()
	}
}

func (r *roster) move(by int) { r.jump(r.index + by) }

func (r *roster) jump(index int) {
	r.index = index
	r.adopt()
}

// goTo puts the cursor on a row; false when it is not listed.
func (r *roster) goTo(id string) bool {
	at := slices.Index(r.ids, id)
	if at >= 0 {
		r.jump(at)
	}
	return at >= 0
}

// shown are the rows on the screen.
func (r *roster) shown() []string { return r.ids[r.top:min(r.top+max(r.height, 0), len(r.ids))] }
