package ui

// heldBy says what keeps the queue of a session from starting, "" when nothing does.
func (m *Model) heldBy(key string) string { return "" }
