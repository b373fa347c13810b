package config

import "strings"

// longestGuess is how long an unknown key may be for us to look for the one that was meant.
const longestGuess = 40

// nearest returns the candidate that name is most likely a slip of, or "". Earlier candidates win a tie.
func nearest(name string, candidates []string) string {
	if len(name) > longestGuess {
		return ""
	}
	best, least := "", 1+max(1, min(len(name)/3, 3))
	for _, c := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance counts the letters to insert, leave out, replace or swap with a neighbour to make b of a.
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if d := len(s) - len(t); d > longestGuess || -d > longestGuess {
		return max(d, -d)
	}
	older, old, row := make([]int, len(t)+1), make([]int, len(t)+1), make([]int, len(t)+1)
	for j := range old {
		old[j] = j
	}
	for i := range s {
		row[0] = i + 1
		for j := range t {
			cost := 1
			if s[i] == t[j] {
				cost = 0
			}
			row[j+1] = min(old[j+1]+1, row[j]+1, old[j]+cost)
			if i > 0 && j > 0 && s[i] == t[j-1] && s[i-1] == t[j] {
				row[j+1] = min(row[j+1], older[j-1]+1)
			}
		}
		older, old, row = old, row, older
	}
	return old[len(t)]
}
