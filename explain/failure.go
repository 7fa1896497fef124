package explain

import "github.com/kubectl-dra/kubectl-dra/inspect"

// Failure is the term of a selector that fails for a device, and what the term may have meant.
type Failure struct {
	// Requirement is the term: a ClassTermRequired or a TermRequired. Its Actual says what the device has
	// instead of the first field that it lacks.
	Requirement
	Device inspect.DeviceID
	// Hangs says that the evaluation does not end within any reasonable time, so that the scheduler does not
	// give up either.
	Hangs bool
	// Lacks are the fields that the term reads and the device does not have, as a term can spell them:
	// device.attributes["gpu.example.com"].model. It is empty if the term fails for another reason.
	Lacks []string
	// Has are the names, sorted, of the fields that the device has where the first of Lacks was looked for.
	Has []string
	// Near is the field of the device that was probably meant by the first of Lacks, spelled in the same
	// way. It is empty if no field is similar enough.
	Near string
}
