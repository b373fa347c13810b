package wire

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// What the append functions write is read back, with the body as it was.
func TestFramesComeBack(t *testing.T) {
	body := json.RawMessage("{ \"a\":\"<\xff\\u00e9>\" }")
	for name, c := range map[string]struct {
		data []byte
		want frame
	}{
		"req":    {appendRequest(nil, 7, "cordboard.call", body), frame{Type: typeRequest, ID: 7, Method: "cordboard.call", Body: body}},
		"res":    {append(append(appendAnswer(nil, 8), body...), '}'), frame{Type: typeResponse, ID: 8, OK: true, Body: body}},
		"event":  {appendEvent(nil, 9, body), frame{Type: typeEvent, ID: 9, Body: body}},
		"cancel": {appendCancel(nil, 1<<64-1), frame{Type: typeCancel, ID: 1<<64 - 1}},
		"error": {appendFailure(nil, 3, core.Errorf(core.CodeConfig, "<no>").Accept("x")), frame{
			Type: typeResponse, ID: 3, Error: &core.Error{Code: core.CodeConfig, Message: "<no>", Allowed: []string{"x"}},
		}},
	} {
		got, err := parse(c.data)
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
}

// A frame that the quick reader takes means the same to the thorough one.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"type":"req","id":7,"method":"m","params":{"a":1}}`, `{"type":"res","id":7,"ok":true,"payload":[]}`, `{"type":"event","id":7,"payload":1}`,
		`{"type":"res","id":7,"ok":false,"error":{"code":"x","error":"y"}}`, `{"type":"cancel","id":7}`, `{"type":"req","id":007,"method":"m","params":1}`,
		`{"type":"req","id":7,"method":"m","params":{}},"x":{}}`, `{"type":"req","id":7,"method":"m","params":}`, `{"type":"req","id":7,"method":"m\"","params":1}`,
		`null`, `[]`, `{"id":1}`, `{"type":"req","id":-1,"method":"m"}`, `{"type":"req","id":1e3,"method":"m"}`, "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		quick, ok := parseOwn(data)
		if !ok || !json.Valid(quick.Body) || !json.Valid(data) {
			_, _ = parse(data)
			return
		}
		var slow struct {
			Type            frameType
			ID              uint64
			Method          string
			OK              bool
			Params, Payload json.RawMessage
		}
		require.NoError(t, json.Unmarshal(data, &slow))
		body := slow.Payload
		if slow.Type == typeRequest {
			body = slow.Params
		}
		assert.JSONEq(t, string(body), string(quick.Body))
		assert.Equal(t, slow.ID, quick.ID)
		assert.Equal(t, slow.Type, quick.Type)
	})
}
