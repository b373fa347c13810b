package openclaw

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// testdata/broken is a state directory with everything wrong that one can have. What is whole in it comes in, and what is not is told.
func TestBrokenDirectory(t *testing.T) {
	s := newStore(t)
	report := imported(t, s, "testdata/broken")
	var told []string
	for _, p := range report.Problems {
		told = append(told, strings.ReplaceAll(p.String(), "\x00", `\0`))
	}
	want, err := os.ReadFile("testdata/broken-problems.txt")
	require.NoError(t, err)
	assert.Equal(t, strings.Split(strings.TrimSpace(string(want)), "\n"), told)
	assert.Equal(t, 1, report.Partial)
	assert.Equal(t, 3, report.Agents)

	assert.ElementsMatch(t, []string{
		"agent:traps:fine", "agent:traps:Fine", "agent:traps:noid", "agent:traps:wrongtype", "agent:traps:twice", "agent:traps:after", "global",
	}, sessionKeys(t, s))
	transcripts := map[string][]string{
		"fine": {"whole", "also whole"}, "fine-upper": {"CRLF", "after an empty line and a second header"},
		"typo": {"an orphan now, its entry is broken"}, "wrongtype": {"before", "after"}, "twice-1": {"first"},
		"twice-2": {"with a byte order mark", "behind NUL bytes"}, "after": {"invalid: \ufffd\ufffd"}, "blank": nil, "cut": {"archived"},
		"undated": {"a copy made by hand"}, "ghost": {"an agent that is only on disk"}, "kept": {"its index is gone, it is not"}, "global": nil,
	}
	assert.Len(t, generations(t, s), len(transcripts))
	for id, want := range transcripts {
		assert.Equal(t, want, texts(t, s, id), id)
	}
	assert.True(t, messages(t, s, "after")[0].Flags.Has(core.MessageInvalidUTF8))
	assert.Contains(t, string(messages(t, s, "after")[0].Raw), "\xff\xfe", "bytes are kept as they are")
	assert.Equal(t, "kept all the same", session(t, s, "agent:traps:wrongtype").DisplayName)
	assert.Equal(t, "agent:gone:main", session(t, s, "agent:traps:fine").SpawnedBy, "lineage to a parent that is not there")
	view(t, s, func(r core.Reader) error {
		raw, _, err := r.Entry("agent:traps:fine")
		assert.Contains(t, string(raw), `"futureField":{"kept":[1.0,1E3,12345678901234567890]}`)
		return err
	})

	before := dumped(t, s)
	again := imported(t, s, "testdata/broken")
	assert.Equal(t, before, dumped(t, s))
	assert.Zero(t, again.Messages+again.Events+again.Sessions.Added+again.Sessions.Changed)
	assert.Less(t, again.ProblemCount, report.ProblemCount, "lines that were told of are not told of again")
}
