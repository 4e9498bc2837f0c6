package skills

// Builtins returns the names of the commands that are not skills, sorted. They
// win over skills of the same name.
func Builtins() []string {
	return []string{
		"approve", "clear", "close", "compact", "export", "fork", "help", "invite", "model",
		"new", "observations", "pin", "queue", "quit", "record", "reject", "sessions", "share", "skills", "unpin",
	}
}
