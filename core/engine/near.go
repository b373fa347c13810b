package engine

import (
	"cmp"
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

const (
	nearMost  = 3    // names suggested
	nearSlips = 3    // letters that may be wrong in a key
	nearHeads = 5000 // sessions compared, the most recently updated ones
	nearStart = 4    // characters of a name from which its rest is guessed
)

// nearNames lists what an operator may have meant by a name that nothing has: keys that begin with it or differ in a few letters, or
// sessionIds that begin with it.
func nearNames(r core.Reader, lookup key.Lookup) ([]string, error) {
	if !lookup.KeyShaped {
		ids, err := idsFrom(r, lookup.Input)
		if err != nil || len(ids) > 0 {
			return ids, err
		}
	}
	type near struct {
		key   string
		slips int
	}
	var found []near
	seen := 0
	err := r.Heads(core.HeadCursor{}, func(h *core.Head) bool {
		if slips := min(slipsTo(lookup.Input, h.Key), slipsTo(lookup.Canonical, h.Key)); slips <= nearSlips {
			found = append(found, near{strings.Clone(h.Key), slips})
		}
		seen++
		return seen < nearHeads
	})
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Compare(a.slips, b.slips) })
	var names []string
	for _, f := range found[:min(len(found), nearMost)] {
		names = append(names, f.key)
	}
	return names, err
}

// slipsTo is how many letters are wrong in a typed key, more than nearSlips for one that has nothing to do with it.
func slipsTo(typed, key string) int {
	switch long := len(typed) - len(key); {
	case len(typed) >= nearStart && strings.HasPrefix(key, typed):
		return nearSlips // unfinished: after those that are mistyped
	case long > nearSlips || -long > nearSlips || len(typed) > 200:
		return nearSlips + 1
	}
	slips := core.Distance(strings.ToLower(typed), strings.ToLower(key))
	if slips*nearStart > len(key) {
		return nearSlips + 1
	}
	return slips
}

// idsFrom finds transcripts whose id begins with what was given, as people shorten ids.
func idsFrom(r core.Reader, start string) (ids []string, err error) {
	if len(start) < nearStart {
		return nil, nil
	}
	err = r.AllGenerations(start, func(g *core.Generation) bool {
		if !strings.HasPrefix(g.ID, start) {
			return false
		}
		ids = append(ids, strings.Clone(g.ID))
		return len(ids) < nearMost
	})
	return ids, err
}
