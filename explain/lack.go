package explain

// Lack is that a request gets too few devices on every node that could be used.
type Lack struct {
	Class string
	// Needed is the number of devices that are asked for; no node can give more of them than Most. OfClass is
	// the largest number of devices of the class on a node, whatever else is asked of them, or -1 if that is
	// not known.
	Needed, Most, OfClass int
	// Terms are what selectors ask of the devices, such as "model == H100", and Constraint what they have to
	// have in common, as " with the same numa".
	Terms      []string
	Constraint string
	// Taken says that there are devices that would do and cannot be had, such as those in use.
	Taken bool
	// Missing is the term that is true of no device of the class. Have is what these have instead, if that is
	// short.
	Missing, Have string
	// Excluded says that there are nodes which could not be used whatever devices they have.
	Excluded bool
}
