package exec

// Process is a child as it can be found again after a crash of its owner: the number of its group, which is that of the command itself,
// and what proves that the group is still the same one.
type Process struct {
	RunID string
	PGID  int
	Start uint64 // when the command started, in ticks since the machine did; 0 where the system does not tell
}
