package allocator

import (
	"errors"
	"fmt"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// AbortError is what makes the scheduler give up on a pod altogether instead of trying other nodes: a
// selector that fails, a class that does not exist, a feature that is off. It answers the question
// asked, with "the input is invalid".
type AbortError struct {
	Code  Code
	Claim inspect.ClaimRef
	// Request is the request, or "request/subrequest". It is empty if the claim as a whole is at fault.
	Request string
	// Device is the device whose evaluation failed. It is zero if none is involved.
	Device inspect.DeviceID
	// Pool is the pool at fault. It is zero if none is.
	Pool inspect.PoolID
	// Class and Selector tell which selector failed: number Selector of the named DeviceClass, or of
	// the request when Class is empty. Selector is -1 when no selector is at fault.
	Class    string
	Selector int
	Err      error
}

func (e *AbortError) Error() string {
	what := "claim " + e.Claim.String()
	if e.Request != "" {
		what += ", request " + e.Request
	}
	if e.Class != "" && e.Selector >= 0 {
		what = "class " + e.Class
	}
	if e.Selector >= 0 {
		what += fmt.Sprintf(", selector #%d", e.Selector)
	}
	if e.Device != (inspect.DeviceID{}) {
		what += ", device " + e.Device.String()
	}
	return what + ": " + e.Err.Error()
}

// IgnoreAbort returns nil for an AbortError, which is an answer, and any other error as it is.
func IgnoreAbort(err error) error {
	if errors.As(err, new(*AbortError)) {
		return nil
	}
	return err
}

func (e *AbortError) Unwrap() error { return e.Err }

// Hangs reports that the scheduler would not even give up: it would go on evaluating a selector, for hours
// perhaps, and schedule nothing else meanwhile.
func (e *AbortError) Hangs() bool {
	exhausted := (*selector.Exhausted)(nil)
	return errors.As(e.Err, &exhausted) && exhausted.Endless
}

// Undecided reports that evaluating a selector was given up here, or that it is not clear what it gives, and
// that the scheduler may finish it.
func (e *AbortError) Undecided() bool {
	return !e.Hangs() && (errors.As(e.Err, new(*selector.Exhausted)) || errors.As(e.Err, new(*selector.Unclear)))
}

// Consequence says what an AbortError does to the scheduler, as the predicate of a sentence about the claim.
func (e *AbortError) Consequence() string {
	if e.Hangs() {
		return "would keep the scheduler busy for hours"
	}
	if e.Undecided() {
		return "could not be decided"
	}
	return "makes the scheduler give up with an error"
}

// abort makes an AbortError for a request.
func (a *alternative) abort(code Code, format string, args ...any) *AbortError {
	return &AbortError{Code: code, Claim: a.claim.ref, Request: a.name, Selector: -1, Err: fmt.Errorf(format, args...)}
}
