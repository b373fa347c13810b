package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
	"cordboard/core/tool"
)

// Every tool of the catalogue is done by the engine. Whoever adds one to core/tool/catalogue.go finds the way in core/tool/doc.go.
func TestEveryToolOfTheCatalogueIsDone(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	for _, spec := range tool.Tools() {
		result, err := b.as("agent:main:main").Call(t.Context(), core.ToolCall{Tool: spec.Name, Params: json.RawMessage("{}")})
		assert.NoError(t, err, "%s is in the catalogue: add its case to dispatch in core/engine/call.go, and the function that does it in a "+
			"file of its own beside it", spec.Name)
		assert.NotEmpty(t, result.Body, "%s answers", spec.Name)
	}
}
