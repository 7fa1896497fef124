package faults

import (
	"slices"
	"testing"
)

// failing are the cells of the table, as fault/command, and the tests that do not hold yet. The list is to become
// empty.
var failing = []string{
	// top calls an address live at which there is no API server, or none that knows DRA, and says "no claims".
	"404/top", "no-dra/top",
	// Fourteen errors of 50 MiB each are kept whole.
	"endless-error/explain", "endless-error/get", "endless-error/get--watch", "endless-error/top", "endless-error/top--once",
	"endless-error/snapshot", "endless-error/allocate--dry-run=server", "endless-error/allocate--yes",
}

// flaky are cells of that list that hold now and then.
var flaky = []string{"endless-error/snapshot", "endless-error/explain", "endless-error/get", "endless-error/get--watch", "endless-error/top--once", "endless-error/allocate--dry-run=server", "endless-error/allocate--yes"}

// skipKnown skips a test that is known to fail.
func skipKnown(t *testing.T) {
	t.Helper()
	if slices.Contains(failing, t.Name()) {
		t.Skip("known to fail")
	}
}
