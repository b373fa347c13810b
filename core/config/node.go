package config

import "strings"

// node is a place in the tree of our keys: a value, or an object with fields, with free names (entry), or a list (item).
type node struct {
	path   string // as in keyRow
	name   string // last part of the path
	row    *keyRow
	fields []*node
	entry  *node
	item   *node

	short   string // the field that a bare text stands for
	missing string // the feature that is not built yet
}

// tree makes the table of keys into a tree.
func tree() *node {
	root := &node{}
	for _, row := range keyRows() {
		root.add(&row, row.path)
	}
	for _, at := range []string{"agents.defaults", "agents.list[]"} {
		root.find(at + ".model").short = "primary"
		root.find(at + ".subagents.model").short = "primary"
		root.find(at + ".runtime").short = "type"
	}
	for _, row := range notYetRows() {
		root.find(row.path).missing = row.feature
	}
	return root
}

// add puts a row where rest, a path from here, leads.
func (n *node) add(row *keyRow, rest string) {
	if rest == "" {
		n.row = row
		return
	}
	part, rest := cutPart(rest)
	n.child(part).add(row, rest)
}

// cutPart splits off the first part of a path: a name, `*` or `[]`.
func cutPart(path string) (part, rest string) {
	if strings.HasPrefix(path, "[]") {
		return "[]", strings.TrimPrefix(path[2:], ".")
	}
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i], strings.TrimPrefix(path[i:], ".")
	}
	return path, ""
}

// child returns the part of n, made when it was not there.
func (n *node) child(part string) *node {
	if c := n.part(part); c != nil {
		return c
	}
	c := &node{path: join(n.path, part), name: part}
	switch part {
	case "[]":
		n.item = c
	case "*":
		n.entry = c
	default:
		n.fields = append(n.fields, c)
	}
	return c
}

func (n *node) part(part string) *node {
	switch part {
	case "[]":
		return n.item
	case "*":
		return n.entry
	}
	return n.field(part)
}

func (n *node) field(name string) *node {
	for _, f := range n.fields {
		if f.name == name {
			return f
		}
	}
	return nil
}

// find returns the node at a path that is in the table.
func (n *node) find(path string) *node {
	for path != "" && n != nil {
		var part string
		part, path = cutPart(path)
		n = n.part(part)
	}
	return n
}

func (n *node) names() []string {
	names := make([]string, len(n.fields))
	for i, f := range n.fields {
		names[i] = f.name
	}
	return names
}

func join(path, part string) string {
	if path == "" || part == "[]" {
		return path + part
	}
	return path + "." + part
}
