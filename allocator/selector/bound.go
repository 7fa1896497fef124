package selector

// Bound says how much is kept of what was computed, so that a process that sees ever other objects does not
// grow. Beyond it, all is forgotten at once and computed anew for what is there: that is simpler than to tell
// what is still in use, and happens seldom.
type Bound struct {
	// PerUse is how many entries are kept for each that is in use.
	PerUse int
	// Spare is how many are kept besides.
	Spare int
}

// Exceeded reports whether more is known than the bound allows.
func (b Bound) Exceeded(known, inUse int) bool { return known > b.PerUse*inUse+b.Spare }

var (
	// keptDevices bounds the devices of which a Program knows what it says.
	keptDevices = Bound{Spare: 1 << 18}
	// keptSources bounds the expressions of a Library. What is in use stays with its users.
	keptSources = Bound{Spare: 4096}
)
