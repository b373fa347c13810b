package themes

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func TestBuiltinThemes(t *testing.T) {
	require.Equal(t, []string{Dark, HighContrast, Light, NoColour}, Names())
	for _, name := range Names() {
		p, err := Load(name)
		require.NoError(t, err)
		assert.Equal(t, name, p.Name)
	}
}

// TestContrast holds R150 and R151: every ink is readable on every surface it is drawn on, and on every background that a surface
// left to the terminal may turn out to be (WCAG 2 contrast: 4.5, high contrast 7, or 6 from the few steps of 256 colours).
func TestContrast(t *testing.T) {
	for name, least := range map[string]float64{Dark: 4.5, Light: 4.5, HighContrast: 7} {
		p, err := Load(name)
		require.NoError(t, err)
		readable(t, p, least)
		few := p.in256()
		eachRole(few.Roles, func(role string, c Color) {
			reflect.ValueOf(&few.Roles).Elem().FieldByIndex(roleIndex(role)).SetString(string(hexOf(c)))
		})
		few.Name += " in 256 colours"
		readable(t, few, min(least, 6))
	}
	black, white := Color("#000000"), Color("#ffffff")
	assert.InDelta(t, 21, contrast(t, black, white), 0.01, "the measure itself")
	assert.InDelta(t, 4.48, contrast(t, "#777777", white), 0.01, "the measure itself")
}

// roleIndex finds the field of a role.
func roleIndex(role string) []int {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Roles]()) {
		if f.Tag.Get("json") == role {
			return f.Index
		}
	}
	panic(role)
}

// hexOf writes one of the fixed colours of a 256-colour terminal as #rrggbb.
func hexOf(c Color) Color {
	index, ok := strings.CutPrefix(string(c), "ansi:")
	if !ok {
		return c
	}
	n, err := strconv.Atoi(index)
	if err != nil {
		panic(err)
	}
	return Color(fmt.Sprintf("#%06x", fixed(n)))
}

func readable(t *testing.T, p Palette, least float64) {
	t.Helper()
	name := p.Name
	require.NotEmpty(t, p.Assumes)
	surfaces := map[string][]Color{}
	eachRole(p.Roles, func(role string, c Color) {
		if strings.HasPrefix(role, "bg") {
			surfaces[role] = []Color{c}
			if c == "" {
				surfaces[role] = p.Assumes
			}
		}
	})
	require.Len(t, surfaces, 4)
	eachRole(p.Roles, func(role string, ink Color) {
		if strings.HasPrefix(role, "bg") || strings.HasPrefix(role, "match") || role == "border" {
			return
		}
		for surface, colors := range surfaces {
			for _, bg := range colors {
				assert.GreaterOrEqual(t, contrast(t, ink, bg), least, "%s: %s %s on %s %s", name, role, ink, surface, bg)
			}
		}
	})
	assert.GreaterOrEqual(t, contrast(t, p.Roles.MatchFg, p.Roles.Match), least, name)
	assert.GreaterOrEqual(t, contrast(t, p.Roles.MatchCurrentFg, p.Roles.MatchCurrent), least, name)
}

// TestIn256: what is fixed stays, greys keep their lightness and no bluish grey turns green.
func TestIn256(t *testing.T) {
	for c, want := range map[Color]Color{
		"": "", "ansi:8": "ansi:8", "#000000": "ansi:16", "#ffffff": "ansi:231", "#ff0000": "ansi:196", "#5f87af": "ansi:67",
		"#98a1b2": "ansi:247", "#aeb7c7": "ansi:249", "#4a5264": "ansi:239", "#2c3547": "ansi:236",
	} {
		assert.Equal(t, want, c.in256(), c)
	}
}

// TestSelectionShows: the selected row and the current match differ from the screen, also for the colour-blind, by luminance.
func TestSelectionShows(t *testing.T) {
	for _, name := range []string{Dark, Light, HighContrast} {
		p, err := Load(name)
		require.NoError(t, err)
		for _, bg := range p.Assumes {
			assert.GreaterOrEqual(t, contrast(t, p.Roles.BgSelected, bg), 1.1, "%s selection on %s", name, bg)
			assert.GreaterOrEqual(t, contrast(t, p.Roles.MatchCurrent, bg), 3.0, "%s current match on %s", name, bg)
		}
		assert.GreaterOrEqual(t, contrast(t, p.Roles.MatchCurrent, p.Roles.Match), 2.0, "%s: match and current match", name)
	}
}

func eachRole(r Roles, f func(role string, c Color)) {
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		f(v.Type().Field(i).Tag.Get("json"), Color(v.Field(i).String()))
	}
}

func contrast(t *testing.T, a, b Color) float64 {
	t.Helper()
	x, y := luminance(t, a), luminance(t, b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func luminance(t *testing.T, c Color) float64 {
	t.Helper()
	require.Len(t, string(c), 7, "a built-in ink is #rrggbb, else nobody knows its contrast")
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(string(c[1+2*i:3+2*i]), 16, 8)
		require.NoError(t, err)
		v := float64(n) / 255
		if v <= 0.04045 {
			sum += weight * v / 12.92
		} else {
			sum += weight * math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return sum
}

// edited is the dark theme's file after a change.
func edited(t *testing.T, change func(top, roles map[string]any)) []byte {
	t.Helper()
	data, err := builtin.ReadFile("dark.json")
	require.NoError(t, err)
	var top map[string]any
	require.NoError(t, json.Unmarshal(data, &top))
	change(top, top["roles"].(map[string]any))
	data, err = json.Marshal(top)
	require.NoError(t, err)
	return data
}

func TestParseIsStrict(t *testing.T) {
	for _, c := range []struct {
		name, key, says string
		change          func(top, roles map[string]any)
	}{
		{"unknown role", "roles.acent", `did you mean "roles.accent"?`, func(_, r map[string]any) { r["acent"] = "" }},
		{"unknown role unlike any", "roles.zzz", "unknown key \"roles.zzz\" in the theme", func(_, r map[string]any) { r["zzz"] = "" }},
		{"wrong case", "roles.BG", `did you mean "roles.bg"?`, func(_, r map[string]any) { r["BG"] = "" }},
		{"unknown top key", "colour", "unknown key", func(top, _ map[string]any) { top["colour"] = 1 }},
		{"missing role", "roles.busy", "lacks roles.busy", func(_, r map[string]any) { delete(r, "busy") }},
		{"missing name", "name", "lacks name", func(top, _ map[string]any) { delete(top, "name") }},
		{"missing roles", "roles", "lacks roles", func(top, _ map[string]any) { delete(top, "roles") }},
		{"empty name", "name", "empty name", func(top, _ map[string]any) { top["name"] = " " }},
		{"no colour", "roles.ok", `roles.ok is "green"`, func(_, r map[string]any) { r["ok"] = "green" }},
		{"short hex", "roles.ok", "#rrggbb", func(_, r map[string]any) { r["ok"] = "#fff" }},
		{"ansi out of range", "roles.ok", "ansi:256", func(_, r map[string]any) { r["ok"] = "ansi:256" }},
		{"escape in a colour", "roles.ok", "no colour", func(_, r map[string]any) { r["ok"] = "#00000\x1b" }},
		{"bad assumption", "assumes", "no colour", func(top, _ map[string]any) { top["assumes"] = []string{"white"} }},
		{"number for a colour", "roles.ok", "cannot be a number", func(_, r map[string]any) { r["ok"] = 8 }},
		{"roles no object", "", "roles must be a JSON object", func(top, _ map[string]any) { top["roles"] = "dark" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(edited(t, c.change))
			require.ErrorContains(t, err, c.says)
			var e *core.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, core.CodeConfig, e.Code)
			assert.Equal(t, c.key, e.ConfigKey)
		})
	}
	good := edited(t, func(_, r map[string]any) { r["ok"] = "ansi:2" })
	_, err := Parse(good)
	require.NoError(t, err)
	for name, data := range map[string]string{
		"empty": "", "array": "[]", "torn": string(good[:40]), "more after it": string(good) + "{}",
		"role twice": strings.Replace(string(good), `"busy":`, `"ok":"","busy":`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(data))
			assert.Equal(t, core.CodeConfig, core.CodeOf(err), "%v", err)
		})
	}
}

func FuzzParse(f *testing.F) {
	data, err := builtin.ReadFile("dark.json")
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"roles":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse(data)
		if err != nil {
			require.Equal(t, core.CodeConfig, core.CodeOf(err))
			return
		}
		require.NotEmpty(t, p.Name)
	})
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	mine := edited(t, func(top, _ map[string]any) { top["name"] = "mine" })
	path := filepath.Join(dir, "mine.json")
	require.NoError(t, os.WriteFile(path, mine, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "dark.json"), mine, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "broken.json"), []byte("{"), 0o600))

	for _, name := range []string{path, "mine", "dark"} { // the user's file wins over a built-in one
		p, err := Load(name, dir)
		require.NoError(t, err, name)
		assert.Equal(t, "mine", p.Name)
	}
	p, err := Load("light", dir, filepath.Join(dir, "absent"))
	require.NoError(t, err)
	assert.Equal(t, "light", p.Name)
	assert.Equal(t, []string{"broken", "dark", "high-contrast", "light", "mine", "no-colour"}, Names(dir, filepath.Join(dir, "absent")))

	_, err = Load("broken", dir)
	require.ErrorContains(t, err, "broken.json")
	assert.Equal(t, core.CodeConfig, core.CodeOf(err))

	_, err = Load("drak", dir)
	var e *core.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, core.CodeNotFound, e.Code)
	assert.Contains(t, e.Message, `did you mean "dark"?`)
	assert.Contains(t, e.Allowed, "mine")

	_, err = Load(filepath.Join(dir, "absent.json"))
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ name, flag, config, env, want string }{
		{"nothing known", "", "", "", "dark"},
		{"R224 flag wins", "light", "dark", "15;0", "light"},
		{"config before the environment", "", "high-contrast", "0;15", "high-contrast"},
		{"auto is no choice", "auto", "auto", "0;15", "light"},
		{"flag auto leaves it to config", "auto", "light", "15;0", "light"},
		{"black", "", "", "15;0", "dark"},
		{"white", "", "", "0;7", "light"},
		{"dark grey", "", "", "7;8", "dark"},
		{"three fields", "", "", "0;default;15", "light"},
		{"default background", "", "", "0;default", "dark"},
		{"one field", "", "", "15", "dark"},
		{"out of range", "", "", "0;99", "dark"},
		{"a path", "/tmp/x.json", "", "", "/tmp/x.json"},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, Choose(c.flag, c.config, c.env)) })
	}
}
