package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Whatever a message, a help text or README tells people to type is there: the verb, and each flag of it.
func TestAdviceCanBeFollowed(t *testing.T) {
	root := newRoot(&app{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	advice := regexp.MustCompile("`cordboard ([^`\n]+)`")
	found := 0
	for file, text := range sources(t, "../..") {
		for _, match := range advice.FindAllStringSubmatch(text, -1) {
			found++
			checkAdvice(t, root, file, strings.Fields(match[1]))
		}
	}
	assert.Greater(t, found, 10)
}

// Every verb that talks or steers shows how it is used, and what the examples say is there.
func TestExamplesCanBeFollowed(t *testing.T) {
	root := newRoot(&app{})
	root.InitDefaultHelpCmd()
	for _, c := range verbsOf(root) {
		top := c
		for top.Parent() != root {
			top = top.Parent()
		}
		if top.GroupID == "talk" || top.GroupID == "steer" {
			assert.NotEmpty(t, c.Example, "%s has no example", c.CommandPath())
		}
		for line := range strings.Lines(c.Example) {
			words := strings.Fields(line)
			require.Equal(t, "cordboard", words[0], line)
			assert.Contains(t, line, strings.TrimPrefix(c.CommandPath(), "cordboard "), "the example is of another verb")
			checkAdvice(t, root, "example", words[1:])
		}
	}
}

// verbsOf are the commands that do something.
func verbsOf(c *cobra.Command) (verbs []*cobra.Command) {
	for _, below := range c.Commands() {
		if !below.HasSubCommands() {
			verbs = append(verbs, below)
		}
		verbs = append(verbs, verbsOf(below)...)
	}
	return verbs
}

func checkAdvice(t *testing.T, root *cobra.Command, file string, words []string) {
	c, value := root, false
	for _, word := range words {
		if value { // of the flag before it
			value = false
			continue
		}
		if flag, ok := strings.CutPrefix(word, "--"); ok {
			name, _, given := strings.Cut(flag, "=")
			c.InitDefaultHelpFlag()
			c.InitDefaultVersionFlag()
			known := c.Flags().Lookup(name)
			if known == nil {
				known = c.InheritedFlags().Lookup(name)
			}
			assert.NotNil(t, known, "%s: `cordboard %s`: there is no --%s", file, strings.Join(words, " "), name)
			value = known != nil && known.NoOptDefVal == "" && !given
			continue
		}
		below, _, err := c.Find([]string{word})
		if err == nil && below != c {
			c = below
			continue
		}
		place := c.HasParent() || strings.HasPrefix(word, "%") || strings.ToUpper(word) == word // an argument
		assert.True(t, place, "%s: `cordboard %s`: there is no verb %s", file, strings.Join(words, " "), word)
	}
}

// sources reads the product's Go files and README, by path.
func sources(t *testing.T, root string) map[string]string {
	texts := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.Name() == "README.md", strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			text, err := os.ReadFile(path)
			texts[path] = string(text)
			return err
		}
		return nil
	})
	require.NoError(t, err)
	return texts
}

// What stands in backticks in a flag's usage is shown as the name of its value, so it is one: a word in capitals, and there only once.
func TestFlagsNameTheirValues(t *testing.T) {
	value := regexp.MustCompile("^[A-Z][A-Z0-9|=:-]*$")
	root := newRoot(&app{})
	for _, c := range append(verbsOf(root), root) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			parts := strings.Split(f.Usage, "`")
			if len(parts) > 1 {
				assert.Len(t, parts, 3, "%s --%s: %s", c.CommandPath(), f.Name, f.Usage)
				assert.Regexp(t, value, parts[1], "%s --%s", c.CommandPath(), f.Name)
			}
		})
	}
}

// Who answers for the session that an MCP client acts as, in words.
func TestWhoAnswersAnMCPClient(t *testing.T) {
	for runtime, want := range map[string]string{
		"": "nobody: its agent is not configured", "external": "this client", "echo": "the offline runtime (echo)", "manual": "the operator (manual)",
		"openai": "the runtime openai",
	} {
		assert.Equal(t, want, playedBy(runtime))
	}
}
