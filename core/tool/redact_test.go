package tool_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/core/tool"
)

func redactor(t testing.TB, patterns ...string) *tool.Redactor {
	r, err := tool.NewRedactor(patterns)
	require.NoError(t, err)
	return r
}

// Secrets in these tests are put together at run time, so that no scanner takes the file for a leak.
var (
	alnum = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3"
	hex   = "0123456789abcdef0123456789abcdef"
)

func TestMaskHidesCredentials(t *testing.T) {
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----"
	for _, c := range []struct{ name, before, secret, after, mask string }{
		{"E104", "my key is ", "sk-" + "1234567890abcdef1234", " ok?", "sk-123…1234"},
		{"short is all hidden", "", "sk-" + "12345678", "", "***"},
		{"anthropic", "key: ", "sk-" + "ant-api03-" + alnum, "\n", "sk-ant…2Yz3"},
		{"stripe", "", "sk_" + "live_" + alnum, "", "sk_liv…2Yz3"},
		{"github", "use ", "ghp_" + alnum, ".", "ghp_Ab…2Yz3"},
		{"github fine-grained", "'", "github_" + "pat_11ABCDEFG0_" + alnum, "'", "github…2Yz3"},
		{"gitlab", "", "glpat-" + alnum, "", "glpat-…2Yz3"},
		{"slack", "(", "xox" + "b-123456789012-" + alnum, ")", "xoxb-1…2Yz3"},
		{"slack app", "", "xapp-" + "1-A0-" + alnum, "", "xapp-1…2Yz3"},
		{"groq", "", "gsk_" + alnum, "", "gsk_Ab…2Yz3"},
		{"google", "", "AIza" + "Sy" + alnum, "", "AIzaSy…2Yz3"},
		{"aws", "id ", "AKIA" + "IOSFODNN7EXAMPLE", " x", "AKIAIO…MPLE"},
		{"perplexity", "", "pplx-" + alnum, "", "pplx-A…2Yz3"},
		{"npm", "", "npm_" + alnum, "", "npm_Ab…2Yz3"},
		{"hugging face", "", "hf_" + alnum, "", "hf_Ab1…2Yz3"},
		{"jwt", "t=", "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + alnum, "", "eyJhbG…2Yz3"},
		{"telegram", "", "123456789:AAH" + alnum, "", "123456…2Yz3"},
		{"telegram in an URL", "https://api.telegram.org/bot", "123456789:AAH" + alnum, "/getMe", "123456…2Yz3"},
		{"bearer", "curl -H 'Authorization: Bearer ", alnum, "'", "Ab1Cd2…2Yz3"},
		{"bare bearer", "then bearer ", alnum, " .", "Ab1Cd2…2Yz3"},
		{"short bearer after its header", "Authorization: Bearer ", "abc123", "", "***"},
		{"basic", "Proxy-Authorization: Basic ", "dXNlcjpwYXNzd29yZDEyMw==", "", "dXNlcj…Mw=="},
		{"header", "X-Api-Key: ", "abcdefgh", "", "***"},
		{"shell", "export OPENAI_API_KEY=", "plainvalue", " && run", "***"},
		{"shell quoted", "DB_PASSWORD='", "pass word", "' go", "***"},
		{"bare KEY", "KEY=", "value", "", "***"},
		{"lower case", "password=", "hunter2", "&user=x", "***"},
		{"comma inside", "password=", "abc,def", ",", "***"},
		{"prose", "Password: ", "hunter2", "", "***"},
		{"yaml", "client_secret: ", alnum, "\nid: 4", "Ab1Cd2…2Yz3"},
		{"json", `{"apiKey": "`, "abcdef", `","n":1}`, "***"},
		{"json with a quote inside", `{"password":"`, `a\"b\\`, `"}`, "***"},
		{"json in json", `{\"accessToken\": \"`, "abcdef", `\"}`, "***"},
		{"json in json in json", `{\\\"refresh_token\\\":\\\"`, "abcdef", `\\\"}`, "***"},
		{"python", `{'secret': '`, "abcdef", `'}`, "***"},
		{"ruby", `:api_key => "`, "abcdef", `"`, "***"},
		{"go", "token := `", "abcdef", "`", "***"},
		{"flag", "tool --api-key ", "abcdef", " --verbose", "***"},
		{"flag quoted", `tool --token "`, "a b c", `"`, "***"},
		{"flag with sign", "tool --password=", "abcdef", " x", "***"},
		{"url", "postgres://admin:", "p4ss:w0rd", "@db.example:5432/x", "***"},
		{"query", "https://x.example/?access_token=", "abcdef", "&y=1", "***"},
		{"pem", "a\n" + pem, "\nMIIE" + hex + "\n", "-----END RSA PRIVATE KEY-----\nb", "***"},
		{"pem without an end", pem, "\nMIIE" + hex, "", "***"},
		{"pem in json in text", `"` + pem, `\nMIIE` + hex + `\n`, `-----END RSA PRIVATE KEY-----"`, "***"},
		{"not ASCII around", "ключ ", "sk-" + "1234567890abcdef1234", "é", "sk-123…1234"},
		{"not ASCII inside", `password="`, "пароль-пароль-пароль", `"`, "пароль…роль"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, changed := redactor(t).Mask(c.before + c.secret + c.after)
			assert.True(t, changed)
			assert.Equal(t, c.before+c.mask+c.after, got)
			again, changed := redactor(t).Mask(got)
			assert.False(t, changed, "masking twice is masking once")
			assert.Equal(t, got, again)
		})
	}
}

func TestMaskLeavesOrdinaryTextAlone(t *testing.T) {
	for _, text := range []string{
		"", "hello", "session_key: agent:main:subagent:d2fbc54a-c5ef-48ee-82f8-8da23ff0ae47", `"childSessionKey": "agent:main:subagent:d2fbc54a"`,
		"sessionKey=agent:main:main", "SESSION_KEY=agent:main:main", "agent:main:telegram:direct:123456789:thread:42", "123456789:d2fbc54a-c5ef-48ee-82f8-8da23ff0ae47",
		"stats: runtime 5m12s • tokens 1.0k (in 12 / out 1.0k)", "totalTokens: 123456", `{"totalTokens":123456,"token":12}`, "nextPageToken=abcdefgh1", "max_token: 4096000",
		"task-12345678901234567890", "risk-1234567890", "ask-me-anything-12345", "monkey=banana12", "keyboard: qwertz123", "primary_key: id1234567", "PUBLIC_KEY=abcdef",
		"PWD=/home/op/x", "TOKEN=$OTHER_TOKEN", "TOKEN=${TOKEN}", "password = $(pass show x)", `"apiKey": "${API_KEY}"`, "token: string;", "secret?: boolean", "password: <your password>", "apiKey: null,",
		"apiKey = config.apiKey", "const token = getToken()", "the password is wrong", "Token: invalid", "bearer of good news", "Bearer short",
		"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----", "-----BEGIN CERTIFICATE-----\nMIIB", "--token", "--token --x", "-- password", "https://x.example:8080/@a", "https://user@x.example",
		"12:34:56 INFO x", "a::b", "token=", "token=***", `"token":"sk-123…1234"`, "eyJhbGciOiJIUzI1NiJ9", "AKIAIOSFODNN7EXAMPLEX", "xAKIAIOSFODNN7EXAMPLE",
	} {
		got, changed := redactor(t).Mask(text)
		assert.False(t, changed, text)
		assert.Equal(t, text, got)
	}
}

func TestMaskFindsMoreThanOne(t *testing.T) {
	a, b := "sk-"+"1234567890abcdef1234", "ghp_"+alnum
	got, _ := redactor(t).Mask(a + " " + b + ", password=x " + a)
	assert.Equal(t, "sk-123…1234 ghp_Ab…2Yz3, password=*** sk-123…1234", got)
}

// What stands around a credential may look like one only once that is masked.
func TestMaskGoesOnUntilNothingIsLeft(t *testing.T) {
	got, changed := redactor(t).Mask("API_KEY:token=: eyJ:password")
	assert.True(t, changed)
	assert.Equal(t, "API_KEY:*** eyJ:password", got)
	masked, changed := redactor(t).MaskJSON(json.RawMessage(`{"a":"API_KEY:token=: eyJ"}`))
	assert.True(t, changed)
	assert.JSONEq(t, `{"a":"API_KEY:*** eyJ"}`, string(masked))
}

func TestRedactorTakesPatterns(t *testing.T) {
	r := redactor(t, `ticket-\d+`, `pin (\d{4})|code (\w+)`, ``, `sk-[a-z0-9]+ and more`)
	got, changed := r.Mask("ticket-123456789012345 pin 1234, code abc, sk-" + "1234567890abcdef1234 and more")
	assert.True(t, changed)
	assert.Equal(t, "ticket…2345 pin ***, code ***, sk-123…more", got)
	again, changed := r.Mask(got)
	assert.False(t, changed, again)

	_, err := tool.NewRedactor([]string{"ok", "(?<!x)y"})
	require.Error(t, err)
	assert.Equal(t, core.CodeConfig, core.CodeOf(err))
	var refused *core.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "logging.redactPatterns[1]", refused.ConfigKey)
}

func TestMaskJSONReadsEscapesAndNames(t *testing.T) {
	secret := "sk-" + "1234567890abcdef1234"
	escaped := `\u0073k-12345\u00367890abcdef1234`
	for _, c := range []struct{ name, raw, want string }{
		{"nothing", `{ "a" : [ 1.0, 12345678901234567890, "x\u00e9" ] }`, `{ "a" : [ 1.0, 12345678901234567890, "x\u00e9" ] }`},
		{"plain", `{"a":"` + secret + `","n":1E3}`, `{"a":"sk-123…1234","n":1E3}`},
		{"escapes hide nothing", `{"a":"<` + escaped + `>\n"}`, `{"a":"<sk-123…1234>\n"}`},
		{"nested", `{"arguments":{"env":["` + secret + `",{"deep":"` + secret + `"}]}, "z":1}`, `{"arguments":{"env":["sk-123…1234",{"deep":"sk-123…1234"}]}, "z":1}`},
		{"named", `{"arguments":{"apiKey":"abc def","password" : "p\"q","note":"x"}}`, `{"arguments":{"apiKey":"***","password" : "***","note":"x"}}`},
		{"named by the shell", `{"env":{"OPENAI_API_KEY":"abc","PATH":"/bin","SESSION_KEY":"agent:main:main"}}`, `{"env":{"OPENAI_API_KEY":"***","PATH":"/bin","SESSION_KEY":"agent:main:main"}}`},
		{"scheme stays", `{"Authorization":"Bearer abc"}`, `{"Authorization":"Bearer ***"}`},
		{"a name reaches no further than its value", `{"token":["abc",{"x":"def"}],"y":"ghi"}`, `{"token":["abc",{"x":"def"}],"y":"ghi"}`},
		{"named number", `{"token":5,"password":null,"x":"y"}`, `{"token":5,"password":null,"x":"y"}`},
		{"json as text", `{"arguments":"{\"apiKey\":\"abc\"}"}`, `{"arguments":"{\"apiKey\":\"***\"}"}`},
		{"a key that is no value", `{"` + secret + `":"x"}`, `{"` + secret + `":"x"}`},
		{"a bare string", `"` + secret + `"`, `"sk-123…1234"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			raw := json.RawMessage(c.raw)
			got, changed := redactor(t).MaskJSON(raw)
			assert.Equal(t, c.want, string(got))
			assert.Equal(t, c.raw != c.want, changed)
			assert.Equal(t, c.raw, string(raw), "what came in stays")
			assert.True(t, json.Valid(got))
		})
	}
}

func TestMaskIsIdempotentAndHides(t *testing.T) {
	r := redactor(t)
	pieces := []string{"token", "password", "API_KEY", "=", ": ", ":", `"`, `\"`, "'", " ", "\n", "--", "sk-", "Bearer ", "eyJ", ".", "abc", "12345678", alnum, "://", "@", "-----BEGIN PRIVATE KEY-----", "-----END ", "***", "…", "é", "{", ",", "&", "bot", "\\"}
	proptest.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(t, "text"), "")
		once, changed := r.Mask(text)
		twice, again := r.Mask(once)
		assert.Equal(t, once, twice, "%q", text)
		assert.False(t, again, "%q → %q", text, once)
		assert.Equal(t, changed, once != text)

		secret := "ghp_" + rapid.StringMatching(`[A-Za-z0-9]{30,40}`).Draw(t, "secret")
		hidden, _ := r.Mask(text + " " + secret)
		assert.NotContains(t, hidden, secret)
	})
}

func FuzzMaskJSON(f *testing.F) {
	f.Add([]byte(`{"a":"sk-1234567890abcdef1234","token":"x\u0041","b":[1.0,{"password":"é"}]}`))
	f.Add([]byte(`"-----BEGIN PRIVATE KEY-----\n"`))
	f.Add([]byte("{\"apiKey\":\"\xff\"}"))
	f.Add([]byte(`{"a":"--token \\\"x"}`))
	r := redactor(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			r.Mask(string(raw)) // must not panic
			return
		}
		before := string(raw)
		got, changed := r.MaskJSON(raw)
		assert.Equal(t, before, string(raw))
		assert.True(t, json.Valid(got), "%q → %q", raw, got)
		if !changed {
			assert.Equal(t, before, string(got))
		}
	})
}

func BenchmarkMask(b *testing.B) {
	r := redactor(b)
	prose := strings.Repeat("The build failed in core: line 12 says <nil>, see https://x.example/a?b=c.\n", 70_000)
	data := strings.Repeat(`{"key":"agent:main:main","totalTokens":12,"ok":true,"name":"x"},`, 80_000)
	dashes := strings.Repeat("-", 5<<20)
	for name, text := range map[string]string{
		"prose": prose, "json": data, "dashes": dashes, "tokens": strings.Repeat("token: ", 700_000),
		"jwts": strings.Repeat("eyJaaaaaaaaa-", 400_000), "urls": strings.Repeat("a://", 1_300_000), "quotes": strings.Repeat(`token=\\"\\\\`, 400_000),
	} {
		b.Run(fmt.Sprintf("%s-%dMB", name, len(text)>>20), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Mask(text)
			}
		})
	}
}
