package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Failure is the term of a selector that fails for a device, and what the device has that the term may have meant.
type Failure struct {
	// Requirement is the term: a ClassTermRequired or a TermRequired. Here says what the device has instead of
	// the fields that it lacks.
	Requirement
	Device inspect.DeviceID
	// Hangs: the evaluation does not end within any reasonable time, so the scheduler does not give up either.
	Hangs bool
	// Lacks are the fields that the term reads and the device does not have, as the term may spell them:
	// device.attributes["gpu.example.com"].model. Empty when it fails for another reason.
	Lacks []string
	// Has are the names that the device has where the first of them was looked for, sorted.
	Has []string
	// Near is the field of the device that was probably meant by the first, spelled alike; empty when none is
	// close.
	Near string
}
