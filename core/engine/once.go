package engine

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"cordboard/core"
)

const (
	answerKept = 24 * 60 * 60 * 1000 // ms for which a command's answer is kept (engine.md §1)
	maxOnceKey = 512                 // bytes of an idempotency key
)

// once makes what is asked several times under one key happen once: the first answer is every answer. The zero value is for what came
// without a key.
type once struct {
	scope string // actor, method, key
	hash  string // of the parameters
}

// onceFor is the once of a command.
func (b *board) onceFor(actor core.Actor, method string, c core.Command) (once, error) {
	key := c.Key
	c.Key = ""
	return newOnce(actor, method, key, c)
}

func newOnce(actor core.Actor, method, key string, params any) (o once, err error) {
	switch {
	case key == "":
		return o, nil
	case len(key) > maxOnceKey:
		return o, core.Errorf(core.CodeInvalidParams, "the idempotency key has %d bytes: at most %d", len(key), maxOnceKey)
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return o, core.Errorf(core.CodeInvalidParams, "the parameters are no JSON: %w", err)
	}
	sum := sha256.Sum256(raw)
	return once{scope: nameOf(actor) + "\x00" + method + "\x00" + key, hash: hex.EncodeToString(sum[:])}, nil
}

// answered reads into what the same was answered before. Another that came under the same key is a conflict.
func (o once) answered(r core.Reader, now int64, into any) (bool, error) {
	if o.scope == "" {
		return false, nil
	}
	a, ok, err := r.Idempotent(o.scope)
	if err != nil || !ok || now-a.At > answerKept {
		return false, err
	}
	if a.Hash != o.hash {
		return false, core.Errorf(core.CodeIdempotency, "the idempotency key was used for another command: use a new one")
	}
	return true, json.Unmarshal(a.Body, into)
}

// keep remembers an answer for a day; the store sweeps older ones on the way.
func (o once) keep(tx core.Tx, now int64, answer any) error {
	if o.scope == "" {
		return nil
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	return tx.PutIdempotent(o.scope, core.Answer{Hash: o.hash, At: now, Body: body})
}
