package child

import "strings"

// Prefix begins the names of what is told to a child in its environment. What an owner was told itself is not passed on.
const (
	Prefix      = "CORDBOARD_"
	RunVariable = Prefix + "RUN_ID"
)

// Environment is what a child inherits of its owner's environment; a sandboxed one gets little, since it may hold secrets.
func Environment(owner []string, sandboxed bool) (env []string) {
	for _, pair := range owner {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, Prefix) && (!sandboxed || harmless(name)) {
			env = append(env, pair)
		}
	}
	return env
}

// harmless reports whether a sandboxed child may have a variable of the owner's.
func harmless(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}
