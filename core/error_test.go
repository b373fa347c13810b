package core_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
)

func TestErrorKeepsItsCauseAndCode(t *testing.T) {
	err := core.Errorf(core.CodeStoreForeign, "reading %s: %w", "x.db", io.ErrUnexpectedEOF)
	assert.Equal(t, "reading x.db: unexpected EOF", err.Error())
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, core.CodeStoreForeign, core.CodeOf(fmt.Errorf("open: %w", err)))
	assert.Equal(t, core.CodeInternal, core.CodeOf(errors.New("x")))
	assert.Equal(t, core.Code(""), core.CodeOf(nil))
}

func TestOnlyForbiddenHasItsOwnStatusWord(t *testing.T) {
	assert.Equal(t, "forbidden", core.Errorf(core.CodeForbidden, "x").Status())
	assert.Equal(t, "error", core.Errorf(core.CodeNotFound, "x").Status())
}
