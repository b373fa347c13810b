package storetest

import (
	"bytes"
	"encoding/json"
	"strings"

	"cordboard/core"
)

// What a visit function gets is borrowed, strings included: these keep it.

func cloneHead(h *core.Head) core.Head {
	out := *h
	for _, s := range []*string{&out.Key, &out.Parent, &out.Title, &out.Channel} {
		*s = strings.Clone(*s)
	}
	return out
}

func cloneMessage(m *core.Message) core.Message {
	out := *m
	out.Raw = json.RawMessage(cloneBytes(m.Raw))
	out.Before, out.After = cloneBytes(m.Before), cloneBytes(m.After)
	return out
}

// cloneBytes makes no difference between nothing and none.
func cloneBytes(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Clone(b)
}
