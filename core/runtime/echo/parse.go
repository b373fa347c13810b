package echo

import "strings"

// directive is `[[name:arg]]`, or `[[name]]`.
type directive struct{ name, arg string }

var names = map[string]bool{
	"say": true, "sleep": true, "fail": true, "stream": true, "tool": true, "tokens": true, "think": true, "crash": true, "announce": true,
}

// parse takes the directives out of a message. Brackets nest: what stands inside an argument is plain text. Anything that is no
// directive of ours stays in the text.
func parse(message string) (rest string, directives []directive) {
	var text strings.Builder
	for message != "" {
		open := strings.Index(message, "[[")
		if open < 0 {
			text.WriteString(message)
			break
		}
		text.WriteString(message[:open])
		message = message[open:]
		end := closing(message)
		d, ok := directive{}, false
		if end > 0 {
			d, ok = read(message[2 : end-2])
		}
		if !ok {
			text.WriteString("[[")
			message = message[2:]
			continue
		}
		directives = append(directives, d)
		message = message[end:]
	}
	return strings.TrimSpace(text.String()), directives
}

// closing is where the brackets that s begins with are closed, after them; 0 when they are not.
func closing(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); {
		switch s[i : i+2] {
		case "[[":
			depth++
			i += 2
		case "]]":
			depth--
			i += 2
			if depth == 0 {
				return i
			}
		default:
			i++
		}
	}
	return 0
}

func read(inner string) (directive, bool) {
	name, arg, _ := strings.Cut(inner, ":")
	name = strings.TrimSpace(name)
	return directive{name, strings.TrimSpace(arg)}, names[name]
}
