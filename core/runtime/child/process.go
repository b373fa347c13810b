package child

import "cordboard/core"

// Process is a recorded child and the run it was started for.
type Process struct {
	RunID string
	core.Process
}
