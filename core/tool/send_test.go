package tool_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core/tool"
)

func TestDecodeSend(t *testing.T) {
	for raw, want := range map[string]tool.Send{
		`{"sessionKey":" k ","message":" keep \t"}`:                  {SessionKey: "k", Message: " keep \t", TimeoutSeconds: 30},
		`{"sessionKey":"k","message":"m","timeoutSeconds":null}`:     {SessionKey: "k", Message: "m", TimeoutSeconds: 30},
		`{"sessionKey":"k","message":"m","timeoutSeconds":0}`:        {SessionKey: "k", Message: "m"},
		`{"sessionKey":"k","message":"m","timeoutSeconds":-0}`:       {SessionKey: "k", Message: "m"},
		`{"sessionKey":"k","message":"m","timeoutSeconds":0.01}`:     {SessionKey: "k", Message: "m", TimeoutSeconds: 1},
		`{"sessionKey":"k","message":"m","timeoutSeconds":86400}`:    {SessionKey: "k", Message: "m", TimeoutSeconds: 86400},
		`{"sessionKey":"k","message":"m","timeoutSeconds":86399.5}`:  {SessionKey: "k", Message: "m", TimeoutSeconds: 86400},
		`{"message":"\u003cb\u003e","sessionKey":"agent:main:main"}`: {SessionKey: "agent:main:main", Message: "<b>", TimeoutSeconds: 30},
	} {
		got, clamped, err := tool.DecodeSend(json.RawMessage(raw))
		require.NoError(t, err, raw)
		assert.Equal(t, want, got, raw)
		assert.Empty(t, clamped)
	}
	for raw, word := range map[string]string{
		`{"message":"m"}`:                                           "sessionKey",
		`{"sessionKey":"k"}`:                                        "message",
		`{"sessionKey":"k","message":" \n"}`:                        "blank",
		`{"sessionKey":"k","message":5}`:                            "message",
		`{"sessionKey":"k","message":"m","timeoutSeconds":86400.5}`: "86400",
		`{"sessionKey":"k","message":"m","timeoutSeconds":-1}`:      "timeoutSeconds",
		`{"sessionKey":"k","message":"m","timeoutSeconds":-0.5}`:    "timeoutSeconds",
		`{"sessionKey":"k","message":"m","timeoutSeconds":NaN}`:     "not JSON",
		`{"sessionKey":"k","message":"m","timeoutSeconds":1e9}`:     "timeoutSeconds",
		`{"sessionKey":"k","message":"m","timeoutSeconds":[5]}`:     "timeoutSeconds",
		`{"sessionKey":"k","message":"m","timeoutSeconds":"5"}`:     "timeoutSeconds",
		`{"sessionKey":"k","message":"m","timeoutSeconds":1e400}`:   "timeoutSeconds",
		`{"sessionKey":"k","message":"m","label":"x"}`:              "label",
	} {
		_, _, err := tool.DecodeSend(json.RawMessage(raw))
		assert.ErrorContains(t, err, word, raw)
	}
}

func TestSendAnswers(t *testing.T) {
	a := tool.SendAnswer{RunID: "r", SessionKey: "main", ExchangeID: "x"}
	alone := tool.SendAnswer{RunID: "r", SessionKey: "main"}
	for got, want := range map[string]string{
		string(a.Accepted()):               `{"runId":"r","status":"accepted","sessionKey":"main","delivery":{"status":"pending","mode":"announce"},"exchangeId":"x"}`,
		string(alone.Accepted()):           `{"runId":"r","status":"accepted","sessionKey":"main"}`,
		string(a.OK(`<"b">`)):              `{"runId":"r","status":"ok","sessionKey":"main","reply":"<\"b\">","delivery":{"status":"pending","mode":"announce"},"exchangeId":"x"}`,
		string(alone.OK("")):               `{"runId":"r","status":"ok","sessionKey":"main"}`,
		string(a.TimedOut("", "why")):      `{"runId":"r","status":"timeout","sessionKey":"main","error":"why"}`,
		string(a.TimedOut("code", "why")):  `{"runId":"r","status":"timeout","sessionKey":"main","code":"code","error":"why"}`,
		string(a.Failed("aborted", "why")): `{"runId":"r","status":"error","sessionKey":"main","error":"why","outcome":"aborted"}`,
	} {
		assert.Equal(t, want, got)
	}
}
