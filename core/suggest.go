package core

import "strings"

// longestGuess is the longest word, in letters, that a suggestion is looked for.
const longestGuess = 40

// Nearest returns the name that a mistyped word most likely stands for, "" when none is near: a third of its letters may be off, two of a
// short word, and two that are swapped count as one. Case and the signs between words do not count; of a word of three letters or more a
// part of a name is near too. Earlier names win a tie.
func Nearest(typed string, names []string) string {
	word := plainWord(typed)
	if len(word) > longestGuess {
		return ""
	}
	best, least := "", max(len(word)/3, min(len(word)/2, 2))+1
	for _, name := range names {
		plain := plainWord(name)
		away := Distance(word, plain)
		if len(word) >= 3 && (strings.Contains(plain, word) || strings.Contains(word, plain)) {
			away = min(away, 2)
		}
		if away < least && away < max(len(word), 2) {
			best, least = name, away
		}
	}
	return best
}

var signs = strings.NewReplacer("_", "", "-", "", " ", "", ".", "")

func plainWord(s string) string { return strings.ToLower(signs.Replace(s)) }

// Distance counts the letters to insert, leave out, replace or swap with a neighbour to make b of a. Beyond longestGuess it only tells
// that it is far.
func Distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	if len(s) > longestGuess || len(t) > longestGuess {
		return max(len(s), len(t))
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
