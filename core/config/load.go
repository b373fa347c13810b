package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"cordboard/core/config/json5"
)

// MaxFileBytes is how large a file may be.
const MaxFileBytes = 1 << 20

// Choose says which file to load: the one that --config names (given: the flag is there, where "" means the defaults on purpose), else
// $XDG_CONFIG_HOME/cordboard/config.json5 if there is one, else "" for the defaults. A file that is there and cannot be read is chosen,
// so that Load says so. getenv is os.Getenv or a test's.
func Choose(flag string, given bool, getenv func(string) string) string {
	if given {
		return flag
	}
	dir := UserDir(getenv)
	if dir == "" {
		return ""
	}
	path := filepath.Join(dir, FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return path
}

// FileName is what a user's config is called.
const FileName = "config.json5"

// UserDir is where a user's own files are, $XDG_CONFIG_HOME/cordboard; "" when there is no home.
func UserDir(getenv func(string) string) string {
	dir := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // a relative one is to be ignored
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "cordboard")
}

// Load reads a file; the path "" gives the defaults. The error is Problems.
func Load(path string) (*Config, Report, error) {
	if path == "" {
		return Parse("", nil)
	}
	data, err := ReadFile(path)
	if err != nil {
		hint := ""
		if errors.Is(err, errUnreadable) {
			hint = ` (--config "" starts with the defaults)`
		}
		return nil, Report{File: path}, Problems{{File: path, Message: err.Error() + hint}}
	}
	return Parse(path, data)
}

var errUnreadable = errors.New("cannot be read")

// ReadFile reads a config file, or one that goes with it, and refuses directories and what is larger than MaxFileBytes.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil: // opening it tells why
	case info.IsDir():
		return nil, errors.New("is a directory: name the configuration file in it")
	case !info.Mode().IsRegular() && path != os.DevNull && !strings.HasPrefix(path, "/dev/fd/"): // a shell's <(…) is handed over there
		return nil, errors.New("is no regular file, and might never end: name one that is")
	}
	file, err := os.Open(path)
	if err != nil {
		if inner, ok := errors.AsType[*fs.PathError](err); ok {
			err = inner.Err
		}
		return nil, fmt.Errorf("%w: %w", errUnreadable, err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot be read: %w", err)
	case len(data) > MaxFileBytes:
		return nil, fmt.Errorf("is larger than %d bytes, which no configuration is", MaxFileBytes)
	}
	return data, nil
}

// Parse reads the text of a file; name is what errors call it. A text without a value, such as an empty one, gives the defaults. The
// error is Problems, every mistake of the text; there is no Config then.
func Parse(name string, data []byte) (*Config, Report, error) {
	doc, err := json5.Parse(data)
	if errors.Is(err, json5.ErrEmpty) {
		doc = &json5.Document{Root: &json5.Value{Kind: json5.Object, Pos: json5.Pos{Line: 1, Col: 1}}}
	} else if bad, ok := errors.AsType[*json5.SyntaxError](err); ok {
		problem := Problem{File: name, Line: bad.Pos.Line, Col: bad.Pos.Col, Key: bad.Path, Message: bad.Message}
		return nil, Report{File: name}, Problems{problem}
	}
	r := newReader(name, doc)
	var c *Config
	if values, ok := r.value(r.root, spot{"", doc.Root.Pos}, "", doc.Root); ok {
		c = decode(values.(map[string]any))
		r.check(c)
	}
	report, problems := r.done()
	if len(problems) > 0 {
		return nil, report, problems
	}
	return c, report, nil
}

// decode lays canonical values over the defaults. They have passed the table, so they fit; what was a mistake is left out.
func decode(values map[string]any) *Config {
	c := Default()
	main := c.Agents.List
	c.Agents.List = nil
	channels, _ := values["channels"].(map[string]any)
	delete(values, "channels")
	overlay(c, values)
	if len(c.Agents.List) == 0 {
		c.Agents.List = main
	}
	for name, entry := range channels {
		ch := Channel{Type: ChannelOutbox, ThreadBindings: c.Session.ThreadBindings}
		overlay(&ch, entry)
		if _, said := entry.(map[string]any)["threads"]; !said {
			ch.Threads = ch.Type == ChannelOutbox
		}
		if c.Channels == nil {
			c.Channels = map[string]Channel{}
		}
		c.Channels[name] = ch
	}
	return c
}

func overlay(target any, values any) {
	text, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(text, target)
	}
	if err != nil {
		panic(fmt.Sprintf("config: the table of keys and the types disagree: %v", err)) // a test reads every key
	}
}
