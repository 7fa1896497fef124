package flowcontrol

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/utils/ptr"
)

func TestRealDumps(t *testing.T) {
	want := DumpedLevel{ActiveQueues: ptr.To(0), Idle: ptr.To(true), Quiescing: ptr.To(false), WaitingRequests: ptr.To(0), ExecutingRequests: ptr.To(0)}
	full := want
	full.DispatchedRequests, full.RejectedRequests, full.TimedOutRequests, full.CancelledRequests = ptr.To(500), ptr.To(0), ptr.To(0), ptr.To(0)
	fullExempt := full
	fullExempt.DispatchedRequests = ptr.To(0)
	for file, expected := range map[string]struct {
		levels       int
		exempt, high DumpedLevel
	}{
		"dump.txt":             {8, fullExempt, full},
		"dump.exempt-none.txt": {8, DumpedLevel{}, full},
		"dump.v1.18-era.txt":   {7, DumpedLevel{}, want},
	} {
		dump, err := ParseDump(bytes.NewReader(readFile(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(expected.exempt, dump.Levels["exempt"]); diff != "" {
			t.Errorf("%s: exempt (-want +got):\n%s", file, diff)
		}
		if diff := cmp.Diff(expected.high, dump.Levels["workload-high"]); diff != "" || len(dump.Levels) != expected.levels {
			t.Errorf("%s: %d levels, workload-high (-want +got):\n%s", file, len(dump.Levels), diff)
		}
	}
}

// TestDumpAlone: without metrics, the dump gives what it has.
func TestDumpAlone(t *testing.T) {
	dump, err := ParseDump(strings.NewReader("PriorityLevelName, IsQuiescing, WaitingRequests, ExecutingRequests, RejectedRequests, New\np, true, 3, 2, 9, x\n"))
	if err != nil {
		t.Fatal(err)
	}
	reading := Reading{Dump: dump}
	want := Figures{Executing: ptr.To(2), Queued: ptr.To(3), Rejected: ptr.To(9), Quiescing: true}
	if diff := cmp.Diff(want, reading.Level("p")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := reading.Level("q"); got != (Figures{}) {
		t.Errorf("a level that is not there: %+v", got)
	}
	reading.Metrics = parse(t, "apiserver_flowcontrol_current_limit_seats{priority_level=\"p\"} 4\n")
	want = Figures{Current: ptr.To(4), Executing: ptr.To(0), ExecutingSeats: ptr.To(0), Queued: ptr.To(0), QueuedSeats: ptr.To(0), Rejected: ptr.To(0), Quiescing: true}
	if diff := cmp.Diff(want, reading.Level("p")); diff != "" {
		t.Errorf("metrics come first (-want +got):\n%s", diff)
	}
}

func TestParseDumpErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "reading the dump of priority levels: it is empty",
		"<html>\n":                        `reading the dump of priority levels: it begins with "<html>", not with PriorityLevelName`,
		"PriorityLevelName, IsIdle\np, 7": `reading the dump of priority levels: level "p": column "IsIdle": "7" is neither true nor false`,
		"PriorityLevelName, WaitingRequests\np, x": `reading the dump of priority levels: level "p": column "WaitingRequests": "x" is no number`,
	} {
		if _, err := ParseDump(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParseDump(f *testing.F) {
	for _, file := range []string{"dump.txt", "dump.exempt-none.txt", "dump.v1.18-era.txt"} {
		f.Add(readFile(f, file))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		dump, err := ParseDump(bytes.NewReader(text))
		if (dump == nil) == (err == nil) {
			t.Errorf("dump %v, error %v", dump, err)
		}
		if err != nil && len(err.Error()) > 2000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}
