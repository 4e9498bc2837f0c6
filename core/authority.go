package core

// Means says how a decision reached the program (kernel R34). The zero value is none and decides nothing.
type Means string

// The means.
const (
	MeansTerminal Means = "terminal"
	MeansPipe     Means = "pipe"
	MeansKey      Means = "key"
)

// Authority is who decides, from what kind of process. The front door fills it in; the kernel judges it.
type Authority struct {
	Person    PersonID
	Means     Means  // terminal or pipe, as standard input is; the kernel makes it key when Key is accepted
	AgentMark string // the environment variable that shows that an agent started this process; empty if none
	Key       string // operator key as given; never stored, never logged
}
