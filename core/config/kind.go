package config

import (
	"errors"
	"fmt"
	"math"
	"net"
	"net/url"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"cordboard/core/config/json5"
	"cordboard/core/key"
)

// kind is how the value of a key is written.
type kind struct {
	want    string                            // what would be accepted, after "must be"
	allowed []string                          // the words, when there are few
	parse   func(v *json5.Value) (any, error) // the canonical value; errWant when it is not what is wanted
	items   *kind                             // of a list of such values, instead of parse
	entries *kind                             // of an object with free names, instead of parse
	secret  bool                              // what stands there may be a secret by mistake: never repeat it
	show    func(value any) any               // what may be shown of an effective value, nil for all of it
}

// hides reports whether v, which stands where k should, may be a secret.
func (k kind) hides(v *json5.Value) bool {
	return k.secret || k.show != nil && strings.Contains(v.Text, "@")
}

// errWant says that a value is not what kind.want says.
var errWant = errors.New("unwanted value")

const most = math.MaxInt32

func boolean() kind {
	return kind{want: "true or false", allowed: []string{"true", "false"}, parse: func(v *json5.Value) (any, error) {
		if v.Kind != json5.Bool {
			return nil, errWant
		}
		return v.Text == "true", nil
	}}
}

// oneOf takes one of the words; a word `a=b` is written a and read as b, and not offered.
func oneOf[T ~string](words ...T) kind {
	aliases, shown := map[string]string{}, []string(nil)
	for _, w := range words {
		alias, word, ok := strings.Cut(string(w), "=")
		if ok {
			aliases[alias] = word
		} else {
			shown = append(shown, alias)
		}
	}
	return kind{want: orList(shown), allowed: shown, parse: func(v *json5.Value) (any, error) {
		word := v.Text
		if alias, ok := aliases[word]; ok {
			word = alias
		}
		if v.Kind != json5.String || !slices.Contains(shown, word) {
			return nil, errWant
		}
		return word, nil
	}}
}

func orList(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " or " + quoted[len(quoted)-1]
}

// integer takes whole numbers from least to most, both included; 5.0 and 0x5 are whole.
func integer(least, most int64) kind {
	want := fmt.Sprintf("an integer from %d to %d", least, most)
	return kind{want: want, parse: func(v *json5.Value) (any, error) {
		f, err := strconv.ParseFloat(v.Text, 64)
		if v.Kind != json5.Number || err != nil || f != math.Trunc(f) || f < float64(least) || f > float64(most) {
			return nil, errWant
		}
		return int64(f), nil
	}}
}

// number takes numbers from 0 to most, both included.
func number(most float64) kind {
	want := fmt.Sprintf("a number from 0 to %g", most)
	return kind{want: want, parse: func(v *json5.Value) (any, error) {
		f, err := strconv.ParseFloat(v.Text, 64)
		if v.Kind != json5.Number || err != nil || f < 0 || f > most {
			return nil, errWant
		}
		return f, nil
	}}
}

// duration takes a Go duration as text, 0 or longer. Its canonical value is nanoseconds.
func duration() kind {
	parse := func(v *json5.Value) (any, error) {
		d, err := time.ParseDuration(v.Text)
		if v.Kind != json5.String || err != nil || d < 0 {
			return nil, errWant
		}
		return int64(d), nil
	}
	show := func(value any) any { return time.Duration(value.(float64)).String() }
	return kind{want: `a duration such as "10m", "90s" or "1h30m"`, parse: parse, show: show}
}

// text takes text that is not blank and gives it to clean, which may be nil.
func text(want string, clean func(string) (string, error)) kind {
	return kind{want: want, parse: func(v *json5.Value) (any, error) {
		if v.Kind != json5.String || strings.TrimSpace(v.Text) == "" {
			return nil, errWant
		}
		if clean == nil {
			return v.Text, nil
		}
		return clean(v.Text)
	}}
}

func anyText() kind { return text("text that is not blank", nil) }

// folded is text that is compared in lower case.
func folded(want string) kind {
	return text(want, func(s string) (string, error) { return strings.ToLower(strings.TrimSpace(s)), nil })
}

// mainKey is the last field of a key, so it may not hold one of its own, nor be one of the reserved keys.
func mainKey() kind {
	forbidden := func(r rune) bool { return r == ':' || unicode.IsSpace(r) || unicode.IsControl(r) }
	return text(`a word without colons and white space, and not "global" or "unknown"`, func(s string) (string, error) {
		s = strings.ToLower(strings.TrimSpace(s))
		if strings.ContainsFunc(s, forbidden) || s == "global" || s == "unknown" {
			return "", errWant
		}
		return s, nil
	})
}

func agentID() kind {
	return text("an agent id: a letter or digit, then up to 63 letters, digits, _ or -", func(s string) (string, error) {
		if !key.ValidAgentID(s) {
			return "", errWant
		}
		return strings.ToLower(s), nil
	})
}

// allowedAgent is an agent id or `*`.
func allowedAgent() kind {
	return text(`an agent id, or "*" for any configured agent`, func(s string) (string, error) {
		if s = strings.TrimSpace(s); s != "*" && !key.ValidAgentID(s) {
			return "", errWant
		}
		return strings.ToLower(s), nil
	})
}

func modelName() kind {
	return text(`a model as "provider/model"`, func(s string) (string, error) {
		s = strings.TrimSpace(s)
		if provider, model, _ := strings.Cut(s, "/"); provider == "" || model == "" {
			return "", errWant
		}
		return s, nil
	})
}

func thinking() kind {
	return oneOf("off", "minimal", "low", "medium", "high", "xhigh", "adaptive")
}

func envName(s string) bool {
	for i := range len(s) {
		letter := s[i] == '_' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'z'
		if digit := s[i] >= '0' && s[i] <= '9'; !letter && (i == 0 || !digit) {
			return false
		}
	}
	return s != ""
}

// secretEnv takes the name of an environment variable; secrets themselves never stand in the file.
func secretEnv() kind {
	k := text("the name of an environment variable, such as MY_TOKEN (never the secret itself)", func(s string) (string, error) {
		if !envName(s) {
			return "", errWant
		}
		return s, nil
	})
	k.secret = true
	return k
}

// environment takes variables for a child process. Their values are never shown.
func environment() kind {
	value := kind{want: "text", secret: true, parse: func(v *json5.Value) (any, error) {
		if v.Kind != json5.String {
			return nil, errWant
		}
		return v.Text, nil
	}}
	show := func(value any) any {
		names := map[string]any{}
		for name := range value.(map[string]any) {
			names[name] = "(not shown)"
		}
		return names
	}
	return kind{want: "an object of environment variables", entries: &value, show: show}
}

func list(of kind) kind { return kind{want: "a list", items: &of} }

// argv takes a command as a list of words; the first is not blank.
func argv() kind {
	word := kind{want: "text", parse: func(v *json5.Value) (any, error) {
		if v.Kind != json5.String || strings.ContainsRune(v.Text, 0) {
			return nil, errWant
		}
		return v.Text, nil
	}}
	return list(word)
}

// webURL takes an http or https address, of which only a part is shown.
func webURL(shown func(*url.URL) string) kind {
	k := text("an http:// or https:// address", func(s string) (string, error) {
		u, err := url.Parse(strings.TrimSpace(s))
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return "", errWant
		}
		return u.String(), nil
	})
	k.show = func(value any) any {
		u, err := url.Parse(value.(string))
		if err != nil {
			return "(not shown)"
		}
		return shown(u)
	}
	return k
}

// secretURL is a webURL whose path often is the secret, as with webhooks.
func secretURL() kind {
	k := webURL(func(u *url.URL) string { return u.Scheme + "://" + u.Host + "/…" })
	k.secret = true
	return k
}

// withoutCredentials is for addresses whose path is no secret.
func withoutCredentials(u *url.URL) string {
	shown := *u
	shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
	return shown.String()
}

func listenAddress() kind {
	return text("host:port, such as 127.0.0.1:18790", func(s string) (string, error) {
		_, port, err := net.SplitHostPort(s)
		if n, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil || n == 0 {
			return "", errWant
		}
		return s, nil
	})
}

// pattern takes an RE2 expression, also in the form OpenClaw knows: `/body/flags` becomes `(?flags)body`.
func pattern() kind {
	return text("an RE2 expression", func(s string) (string, error) {
		s = scriptPattern(s)
		_, err := regexp.Compile(s)
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			return "", fmt.Errorf("must be an RE2 expression: %v: %q", bad.Code, bad.Expr)
		}
		return s, err
	})
}

func scriptPattern(s string) string {
	last := strings.LastIndexByte(s, '/')
	if last < 2 || s[0] != '/' || strings.Trim(s[last+1:], "gimsuy") != "" {
		return s
	}
	body, flags := s[1:last], ""
	for _, f := range "ims" {
		if strings.ContainsRune(s[last+1:], f) {
			flags += string(f)
		}
	}
	if flags != "" {
		return "(?" + flags + ")" + body
	}
	return body
}
