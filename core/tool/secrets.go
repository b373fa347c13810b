package tool

import (
	"bytes"
	"strings"
)

// What looks like a credential. One pass over the bytes, no regular expressions: a text is looked at closely only where a word starts that
// a known token starts with, at `=` and `:` behind a telling name, at `--` and at a PEM header. Every form is bounded or consumes what it
// looked at, so the pass is linear.

// tokenForm is a token that is known by how it starts.
type tokenForm struct {
	prefix string
	min    int              // of what follows the prefix
	chars  func(byte) bool  // what may follow
	whole  bool             // exactly min characters follow
	check  func([]byte) int // instead of min and chars: length of what follows, 0 = none
}

func tokenForms() [256][]tokenForm {
	var forms [256][]tokenForm
	for _, f := range []tokenForm{
		{prefix: "sk-", min: 8, chars: tokenChar},
		{prefix: "sk_live_", min: 10, chars: wordChar},
		{prefix: "sk_test_", min: 10, chars: wordChar},
		{prefix: "rk_live_", min: 10, chars: wordChar},
		{prefix: "rk_test_", min: 10, chars: wordChar},
		{prefix: "ghp_", min: 20, chars: wordChar},
		{prefix: "gho_", min: 20, chars: wordChar},
		{prefix: "ghu_", min: 20, chars: wordChar},
		{prefix: "ghs_", min: 20, chars: wordChar},
		{prefix: "ghr_", min: 20, chars: wordChar},
		{prefix: "github_pat_", min: 20, chars: wordChar},
		{prefix: "glpat-", min: 16, chars: tokenChar},
		{prefix: "xoxa-", min: 10, chars: tokenChar},
		{prefix: "xoxb-", min: 10, chars: tokenChar},
		{prefix: "xoxe-", min: 10, chars: tokenChar},
		{prefix: "xoxe.", min: 10, chars: dottedChar},
		{prefix: "xoxo-", min: 10, chars: tokenChar},
		{prefix: "xoxp-", min: 10, chars: tokenChar},
		{prefix: "xoxr-", min: 10, chars: tokenChar},
		{prefix: "xoxs-", min: 10, chars: tokenChar},
		{prefix: "xapp-", min: 10, chars: tokenChar},
		{prefix: "gsk_", min: 10, chars: wordChar},
		{prefix: "AIza", min: 20, chars: tokenChar},
		{prefix: "ya29.", min: 20, chars: dottedChar},
		{prefix: "AKIA", min: 16, chars: upperDigit, whole: true},
		{prefix: "ASIA", min: 16, chars: upperDigit, whole: true},
		{prefix: "pplx-", min: 10, chars: tokenChar},
		{prefix: "npm_", min: 10, chars: wordChar},
		{prefix: "pypi-", min: 16, chars: tokenChar},
		{prefix: "hf_", min: 20, chars: wordChar},
		{prefix: "eyJ", check: jwtRest},
	} {
		forms[f.prefix[0]] = append(forms[f.prefix[0]], f)
	}
	return forms
}

// known is tokenForms by first byte; it is never written.
var known = tokenForms()

func wordChar(c byte) bool   { return c|0x20 >= 'a' && c|0x20 <= 'z' || digit(c) || c == '_' }
func tokenChar(c byte) bool  { return wordChar(c) || c == '-' }
func dottedChar(c byte) bool { return tokenChar(c) || c == '.' }
func upperDigit(c byte) bool { return c >= 'A' && c <= 'Z' || digit(c) }
func digit(c byte) bool      { return c >= '0' && c <= '9' }

// bearerChar is what RFC 6750 allows in a bearer token.
func bearerChar(c byte) bool { return dottedChar(c) || c == '~' || c == '+' || c == '/' || c == '=' }

func run(text []byte, chars func(byte) bool) int {
	for i, c := range text {
		if !chars(c) {
			return i
		}
	}
	return len(text)
}

// secrets returns where the credentials of a text are, in order.
func secrets(text []byte) []span {
	var found []span
	for i := 0; i < len(text); {
		var s span
		step := 1
		switch c := text[i]; {
		case wordChar(c):
			step = run(text[i:], wordChar)
			s = wordSecret(text, i, i+step)
		case c == '=' || c == ':':
			s = assigned(text, i)
		case c == '-' && bytes.HasPrefix(text[i:], []byte("--")):
			if step = len("--"); bytes.HasPrefix(text[i:], []byte(pemBegin)) {
				s = pemBody(text, i)
			} else {
				s = flagValue(text, i)
			}
		}
		i += step
		if s.to > s.from && !isMasked(text[s.from:s.to]) {
			found = append(found, s)
		}
		i = max(i, s.to)
	}
	return found
}

// wordSecret finds a token that starts where a word starts.
func wordSecret(text []byte, from, end int) span {
	for _, f := range known[text[from]] {
		if !bytes.HasPrefix(text[from:], []byte(f.prefix)) {
			continue
		}
		rest := text[from+len(f.prefix):]
		n := 0
		if f.check != nil {
			n = f.check(rest)
		} else if n = run(rest, f.chars); n < f.min || f.whole && n != f.min {
			n = 0
		}
		if n > 0 {
			return span{from: from, to: from + len(f.prefix) + n}
		}
	}
	switch c := text[from]; {
	case digit(c), c == 'b':
		return botToken(text, from, end)
	case c == 'B' && end-from == len("Bearer"):
		return bareBearer(text, from, end)
	}
	return span{}
}

// jwtRest measures the rest of a JSON web token after `eyJ`: the header's rest, a payload and a signature, dots between. Parts are bounded,
// since a text may start many tokens that are none.
func jwtRest(rest []byte) int {
	const least = 8
	at := 0
	for part, most := range [...]int{1 << 10, 16 << 10, 16 << 10} {
		n := run(rest[at:min(len(rest), at+most)], tokenChar)
		if n < least {
			return 0
		}
		if at += n; part < 2 {
			if at >= len(rest) || rest[at] != '.' {
				return 0
			}
			at++
		}
	}
	return at
}

// botToken finds a Telegram bot token, `123456789:AAH…`, also behind the `bot` of an URL. Upper and lower case in it tell it from an id.
func botToken(text []byte, from, end int) span {
	id := bytes.TrimPrefix(text[from:end], []byte("bot"))
	if len(id) < 6 || len(id) > 12 || run(id, digit) != len(id) || end >= len(text) || text[end] != ':' {
		return bareBearer(text, from, end)
	}
	secret := text[end+1:]
	secret = secret[:run(secret, tokenChar)]
	if len(secret) < 20 || bytes.Equal(secret, bytes.ToLower(secret)) || bytes.Equal(secret, bytes.ToUpper(secret)) {
		return span{}
	}
	return span{from: end - len(id), to: end + 1 + len(secret)}
}

// bareBearer finds the token after the word Bearer, whatever stands before it.
func bareBearer(text []byte, from, end int) span {
	if !bytes.EqualFold(text[from:end], []byte("bearer")) {
		return span{}
	}
	at := end + run(text[end:], blank)
	n := run(text[at:], bearerChar)
	if at == end || n < maskMin {
		return span{}
	}
	return span{from: at, to: at + n}
}

func blank(c byte) bool { return c == ' ' || c == '\t' }

const (
	pemBegin = "-----BEGIN "
	pemEnd   = "-----END "
	pemDash  = "-----"
	pemLabel = 48 // most characters of a header's label
)

// pemBody finds what stands between the header and the footer of a private key; without a footer it is all the rest.
func pemBody(text []byte, at int) span {
	label := text[at+len(pemBegin):]
	label = label[:min(len(label), pemLabel)]
	end := bytes.Index(label, []byte(pemDash))
	if end < 0 || !bytes.Contains(label[:end], []byte("PRIVATE KEY")) {
		return span{}
	}
	from := at + len(pemBegin) + end + len(pemDash)
	if to := bytes.Index(text[from:], []byte(pemEnd)); to >= 0 {
		return span{from: from, to: from + to, all: true}
	}
	return span{from: from, to: len(text), all: true}
}

// flagValue finds the value of a command-line flag with a telling name, `--api-key VALUE`; `--api-key=VALUE` is an assignment.
func flagValue(text []byte, at int) span {
	from := at + len("--")
	if from >= len(text) || !wordChar(text[from]) {
		return span{}
	}
	end := from + run(text[from:min(len(text), from+longestName)], tokenChar)
	value := end + run(text[end:], blank)
	if value == end || value >= len(text) || text[value] == '-' || !credentialName(text[from:end]) {
		return span{}
	}
	return valueSpan(text, value, true)
}

// assigned finds the value of `name=value`, `name: value`, `"name": "value"` and their kin, at the sign; and the password of an URL.
func assigned(text []byte, at int) span {
	if bytes.HasPrefix(text[at:], []byte("://")) {
		return urlPassword(text, at+len("://"))
	}
	name, quoted := nameBefore(text, at)
	if !credentialName(name) {
		return span{}
	}
	from := at + 1
	for from < len(text) && from < at+3 && (text[from] == '=' || text[from] == '>') {
		from++
	}
	sign := from
	from += run(text[from:], blank)
	s := valueSpan(text, from, text[at] == '=' && from == sign)
	if s.from == from && quoted { // a JSON member that is no string holds no credential
		return span{}
	}
	return s
}

const longestName = 64

// nameBefore returns the name that an assignment sign at the given place belongs to, and whether it stands in quotes.
func nameBefore(text []byte, at int) (name []byte, quoted bool) {
	end := at
	if text[at] == '=' && end > 0 && text[end-1] == ':' {
		end--
	}
	for n := 0; n < 2 && end > 0 && blank(text[end-1]); n++ {
		end--
	}
	if end > 0 && isQuote(text[end-1]) {
		quoted = true
		for end--; end > 0 && text[end-1] == '\\'; {
			end--
		}
	}
	from := end
	for from > 0 && end-from < longestName && dottedChar(text[from-1]) {
		from--
	}
	return text[from:end], quoted
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// valueSpan finds the credential in a value that starts at from: the inside of quotes (which may be escaped), or a run without white space.
// Tight says that the value stands right behind its sign, as in a shell, where it cannot be code.
func valueSpan(text []byte, from int, tight bool) span {
	open := from + run(text[from:], backslash)
	if open < len(text) && isQuote(text[open]) {
		inner := open + 1
		end := inner + quotedLen(text[inner:], text[open], open > from)
		inner = afterScheme(text[:end], inner)
		if !isSecret(text[inner:end], true) {
			return span{}
		}
		return span{from: inner, to: end}
	}
	from = afterScheme(text, from)
	end := from + run(text[from:], unquotedChar)
	for end > from && strings.IndexByte(",;)]}.", text[end-1]) >= 0 {
		end--
	}
	if !isSecret(text[from:end], tight) {
		return span{}
	}
	return span{from: from, to: end}
}

func backslash(c byte) bool { return c == '\\' }

func unquotedChar(c byte) bool {
	return c > ' ' && c != '"' && c != '\'' && c != '`' && c != '\\' && c != '&' && c != '<' && c != '|'
}

// quotedLen measures the inside of quotes. Behind an escaped quote the next quote of its kind ends it, else one that is not escaped.
func quotedLen(inner []byte, quote byte, escaped bool) int {
	for i := 0; i < len(inner); i++ {
		switch {
		case inner[i] == quote:
			if escaped {
				return len(bytes.TrimRight(inner[:i], `\`))
			}
			return i
		case inner[i] == '\n':
			return i
		case inner[i] == '\\' && !escaped:
			i++
		}
	}
	return len(inner)
}

// afterScheme skips the scheme of an Authorization value.
func afterScheme(text []byte, from int) int {
	n := run(text[from:min(len(text), from+8)], wordChar)
	switch strings.ToLower(string(text[from : from+n])) {
	case "bearer", "basic", "token", "digest":
		if gap := run(text[from+n:], blank); gap > 0 {
			return from + n + gap
		}
	}
	return from
}

// urlPassword finds the password in `scheme://user:password@host`.
func urlPassword(text []byte, from int) span {
	const longest = 256
	host := text[from:min(len(text), from+longest)]
	host = host[:run(host, func(c byte) bool { return unquotedChar(c) && c != '/' && c != '?' && c != '#' })]
	at := bytes.LastIndexByte(host, '@')
	colon := bytes.IndexByte(host, ':')
	if colon < 0 || at < colon || !isSecret(host[colon+1:at], true) {
		return span{}
	}
	return span{from: from + colon + 1, to: from + at}
}

// isSecret reports whether the value of a telling name is worth hiding: not what refers to a value kept elsewhere, names a type or is
// masked already. A value that is not plain (neither in quotes nor right behind its sign) may be code or prose: then short ones and
// those with the signs of an expression are none.
func isSecret(value []byte, plain bool) bool {
	if len(value) == 0 || isMasked(value) {
		return false
	}
	switch strings.ToLower(string(value[:min(len(value), 10)])) {
	case "null", "nil", "none", "undefined", "true", "false", "string", "number", "boolean", "bool", "int", "str", "bytes":
		return false
	}
	switch next := value[min(1, len(value)-1)]; value[0] {
	case '$':
		if next == '{' || next == '(' || run(value[1:], func(c byte) bool { return upperDigit(c) || c == '_' }) == len(value)-1 {
			return false
		}
	case '<', '{', '[':
		return false
	case '%':
		if next == 's' || value[len(value)-1] == '%' {
			return false
		}
	}
	if plain || len(value) >= 6 && bytes.ContainsAny(value, "0123456789") {
		return true
	}
	return len(value) >= 8 && !bytes.ContainsAny(value, ".(")
}

// credentialName reports whether a name says that its value is a credential: `apiKey`, `client_secret`, `DB_PASSWORD`, `--auth-token`.
func credentialName(name []byte) bool {
	if len(name) < 3 || len(name) > longestName {
		return false
	}
	var letters [longestName]byte
	plain := letters[:0]
	for _, c := range name {
		if c != '_' && c != '-' && c != '.' {
			plain = append(plain, c|0x20) // lower case; a digit stays one
		}
	}
	shell := run(name, func(c byte) bool { return upperDigit(c) || c == '_' }) == len(name)
	for _, end := range credentialEnds {
		if stem, ok := bytes.CutSuffix(plain, []byte(end)); ok {
			switch end {
			case "token":
				return !endsInAny(stem, "page", "next", "continuation", "sync", "max", "stop", "start", "end", "eos", "bos", "pad", "last", "first")
			case "pwd":
				return !shell || len(stem) > 0 // PWD is the working directory
			}
			return true
		}
	}
	stem, ok := bytes.CutSuffix(plain, []byte("key"))
	return ok && shell && (len(stem) == 0 || bytes.HasSuffix(name, []byte("_KEY"))) &&
		!endsInAny(stem, "session", "public", "primary", "foreign", "idempotency", "cache", "sort", "partition", "hot")
}

// credentialEnds are the ends of such names, in lower case and without signs between the words.
var credentialEnds = [...]string{
	"token", "apikey", "secretkey", "accesskey", "privatekey", "signingkey", "encryptionkey", "masterkey", "authkey",
	"secret", "password", "passwd", "passphrase", "pwd", "authorization",
}

func endsInAny(stem []byte, ends ...string) bool {
	for _, end := range ends {
		if bytes.HasSuffix(stem, []byte(end)) {
			return true
		}
	}
	return false
}
