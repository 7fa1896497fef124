package manifest

import (
	"fmt"
	"testing"
)

const coreEvent = `
apiVersion: v1
kind: Event
metadata: {name: p.1, namespace: ml}
involvedObject: {kind: Pod, namespace: ml, name: p, uid: u}
reason: FailedMount
message: no such volume
`

// TestEvents: Events of both API groups are read beside the objects, each once, and count as something to
// read.
func TestEvents(t *testing.T) {
	newer := func(name string) string {
		return fmt.Sprintf("\n---\napiVersion: events.k8s.io/v1\nkind: Event\nmetadata: {name: %s}\nregarding: {kind: Pod, name: p}\nreason: Scheduled\nnote: on n1\n", name)
	}
	result, err := ReadBytes("events.yaml", []byte(coreEvent+newer("p.1")+newer("p.2")+"\n---\napiVersion: v1\nkind: Event\ncount: x\n"), Options{Namespace: "ml"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range result.Events {
		got = append(got, fmt.Sprint(e.Kind, " ", e.Namespace, "/", e.Name, " ", e.UID, " ", e.Reason, ": ", e.Message))
	}
	want := []string{"Pod ml/p u FailedMount: no such volume", "Pod ml/p  Scheduled: on n1"} // p.1 is the first again
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("events %q, want %q", got, want)
	}
	if result.Skipped["v1 Event"] != 1 || len(result.Skipped) != 1 {
		t.Errorf("skipped %v, want the Event that cannot be decoded", result.Skipped)
	}
}
