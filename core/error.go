package core

import (
	"errors"
	"fmt"
)

// Code names a refusal. Codes are public: they are printed, sent over the wire and matched by callers (session-tools.md, "Refusals").
type Code string

const (
	CodeForbidden     Code = "forbidden"            // scope, agentToAgent, allowlist, sandbox, not the operator
	CodeInvalidParams Code = "invalid_params"       // unknown parameter, wrong type, out of range
	CodeNotFound      Code = "not_found"            // absent, or hidden from the caller: the two are never told apart
	CodeAmbiguous     Code = "ambiguous"            // more than one session answers to the name
	CodeSendDenied    Code = "send_denied"          // the send policy said no
	CodeHopLimit      Code = "hop_limit"            // a chain of sends got too long
	CodeMirrored      Code = "mirrored"             // the session belongs to an imported or followed source
	CodeUnsupported   Code = "unsupported"          // this board cannot do that; Info.Features says why
	CodeToolCalls     Code = "max_tool_calls"       // a run called more tools than it may
	CodeUnavailable   Code = "unavailable"          // a server that has the tool does not answer now
	CodeIdempotency   Code = "idempotency_conflict" // the key names another command
	CodeConflict      Code = "conflict"             // IfRev did not hold
	CodeConfig        Code = "config"               // the configuration is wrong
	CodeStoreLocked   Code = "store_locked"         // another process owns the store file
	CodeStoreForeign  Code = "store_foreign"        // not a cordboard store: empty, foreign or truncated
	CodeStoreDamaged  Code = "store_damaged"        // a cordboard store whose pages or records do not hold together
	CodeStoreNewer    Code = "store_newer"          // written by a newer cordboard
	CodeStoreMissing  Code = "store_missing"        // there is no store at that path
	CodeStoreIO       Code = "store_io"             // the file system refused: full, no permission, no locks, an I/O error
	CodeReadOnly      Code = "read_only"            // the board or store was opened for reading
	CodeVersion       Code = "version_mismatch"     // the owner of the store is another version of the program
	CodeInternal      Code = "internal"             // a fault of ours
)

// Error is every refusal and every named failure. Message is one sentence for a person: which value, which side failed, what would
// have been accepted. ConfigKey is the key that decided, Allowed the accepted values; both may be empty.
type Error struct {
	Code      Code     `json:"code"`
	Message   string   `json:"error"`
	ConfigKey string   `json:"configKey,omitempty"`
	Allowed   []string `json:"allowed,omitempty"`
	Param     string   `json:"param,omitempty"` // of a tool's parameters the one that was refused; "" = none by itself
	Err       error    `json:"-"`
}

// Errorf makes an Error; a %w in the format becomes its cause.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), Err: errors.Unwrap(wrapped)}
}

// Because names the config key that decided and returns the error itself.
func (e *Error) Because(configKey string) *Error {
	e.ConfigKey = configKey
	return e
}

// About names the parameter that was refused and returns the error itself.
func (e *Error) About(param string) *Error {
	e.Param = param
	return e
}

// Accept lists the values that would have been accepted and returns the error itself.
func (e *Error) Accept(values ...string) *Error {
	e.Allowed = values
	return e
}

func (e *Error) Error() string { return e.Message }
func (e *Error) Unwrap() error { return e.Err }

// Status is the `status` word of a refused tool call: "forbidden" or "error".
func (e *Error) Status() string {
	if e.Code == CodeForbidden {
		return "forbidden"
	}
	return "error"
}

// CodeOf returns the code of the first Error in err's chain, CodeInternal for any other error and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
