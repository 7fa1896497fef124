package flowcontrol

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestParseRequestDump reads dumps of the documentation of Kubernetes.
func TestParseRequestDump(t *testing.T) {
	dump, err := ParseRequestDump(strings.NewReader(string(readFile(t, "requests.txt"))))
	if err != nil {
		t.Fatal(err)
	}
	if len(dump.Requests) != 3 {
		t.Fatalf("%+v", dump)
	}
	first, second := dump.Requests[0], dump.Requests[1]
	if first.Waiting || first.Queue != -1 || first.Level != "exempt" || first.Schema != "exempt" {
		t.Errorf("%+v", first)
	}
	if !second.Waiting || second.Queue != 14 || second.Seats != 10 || second.Flow != "system:serviceaccount:default:loadtest" {
		t.Errorf("%+v", second)
	}
	old, err := ParseRequestDump(strings.NewReader(string(readFile(t, "requests.v1.18-era.txt"))))
	if err != nil || len(old.Requests) != 1 || old.Requests[0].Queue != 12 || !old.Requests[0].Waiting {
		t.Errorf("%+v %v", old, err)
	}
	for text, want := range map[string]string{
		"":          "reading the dump of requests: it is empty",
		"Not found": `reading the dump of requests: it begins with "Not found", not with PriorityLevelName`,
		dumpName + ", FlowSchemaName, QueueIndex\np, f, x\n": `reading the dump of requests: level "p": column QueueIndex: "x" is no number`,
	} {
		if _, err := ParseRequestDump(strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	if untimed, err := ParseRequestDump(strings.NewReader(dumpName + ", FlowSchemaName, QueueIndex, RequestIndexInQueue\np, f, 3, -1\np, f, 3, 0\n")); err != nil ||
		untimed.Requests[0].Waiting || !untimed.Requests[1].Waiting {
		t.Errorf("%+v %v", untimed, err)
	}
	// A user whose name has a comma makes more columns than there are headers.
	if odd, err := ParseRequestDump(strings.NewReader(dumpName + ", FlowSchemaName, FlowDistingsher\np, f, a,b\np, f, c\n")); err != nil || len(odd.Requests) != 1 {
		t.Errorf("%+v %v", odd, err)
	}
}

// TestNeighbours: who sits in the queues of a flow, and which other flows have some of them.
func TestNeighbours(t *testing.T) {
	q := Queuing{Queues: 6, HandSize: 4}
	mine := &Classification{Level: "p", Schema: "s", Distinguisher: "me", Hand: Hand("s", "me", q)}
	other := Hand("s", "other", q)
	shared := Shared(mine.Hand, other)
	if len(shared) == 0 || len(shared) == 4 {
		t.Fatalf("the hands %v and %v are no example", mine.Hand, other)
	}
	at := func(level, flow string, queue int, waiting bool) DumpedRequest {
		return DumpedRequest{Level: level, Schema: "s", Flow: flow, Queue: queue, Waiting: waiting, Seats: 3}
	}
	dump := &RequestDump{Requests: []DumpedRequest{
		at("p", "other", shared[0], true), at("p", "other", shared[0], true), at("p", "me", shared[0], false), at("q", "other", shared[0], true),
	}}
	if diff := cmp.Diff([]Flow{{Schema: "s", Distinguisher: "other", Waiting: 2, WaitingSeats: 6, Shared: shared}}, dump.FlowsOf(mine, q)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := []Flow{{Schema: "s", Distinguisher: "other", Waiting: 2, WaitingSeats: 6}, {Schema: "s", Distinguisher: "me", Executing: 1}}
	for _, queue := range mine.Hand {
		var in []Flow
		if queue == shared[0] {
			in = want
		}
		if diff := cmp.Diff(in, dump.InQueue("p", queue)); diff != "" {
			t.Errorf("queue %d (-want +got):\n%s", queue, diff)
		}
	}
}
