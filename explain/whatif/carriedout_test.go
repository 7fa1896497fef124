package whatif_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// asked returns the question for the pod "asked" of a file about the claims of some names.
func asked(t *testing.T, name string, claims ...string) *whatif.Question {
	t.Helper()
	file := filepath.Join("testdata", name+".yaml")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	read, err := manifest.ReadBytes(file, data, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := &whatif.Question{Cluster: explaintest.NewCluster(read.Objects)}
	s := q.Cluster.Snapshot()
	q.Pod, _ = s.Pod(inspect.PodRef{Namespace: "default", Name: "asked"})
	for _, name := range claims {
		claim, _ := s.Claim(inspect.ClaimRef{Namespace: "default", Name: name})
		q.Claims = append(q.Claims, claim)
	}
	return q
}

// TestReleaseFreesAllOfPod: the pod that ends for one claim has nothing of another one any more either.
func TestReleaseFreesAllOfPod(t *testing.T) {
	q := asked(t, "two-claims-of-a-pod", "wanted")
	_, after := q.Carry(context.Background(), []explain.Edit{whatif.ReleaseEdit{Claim: inspect.ClaimRef{Namespace: "default", Name: "one"}}})
	for _, name := range []string{"one", "two"} {
		if claim, _ := after.Claim(inspect.ClaimRef{Namespace: "default", Name: name}); claim.Status.Allocation != nil {
			t.Errorf("claim %s still has devices", name)
		}
	}
}

// TestNamedTwice: an edit of a claim that the pod names twice is one of both.
func TestNamedTwice(t *testing.T) {
	q := asked(t, "named-twice", "wanted", "wanted")
	e := whatif.CountEdit{At: whatif.RequestRef{Claim: 0, Request: 0, Sub: -1}, Count: 1}
	for i, claim := range q.AsIs(context.Background(), []whatif.Edit{e}).Claims {
		if count := claim.Spec.Devices.Requests[0].Exactly.Count; count != 1 {
			t.Errorf("claim %d asks for %d", i, count)
		}
	}
}

// TestAddToIncompletePool: what a driver adds to a pool that it has not published whole cannot be had.
func TestAddToIncompletePool(t *testing.T) {
	q := asked(t, "incomplete-pool", "wanted")
	node, _ := q.Cluster.Snapshot().Node("n0")
	one := suppose.DeviceCopies{ID: inspect.DeviceID{Driver: "gpu.example.com", Pool: "n1", Device: "gpu-0"}, Device: &resourcev1.Device{Name: "gpu-0"}, Count: 1}
	for seen, added := range map[int64][]suppose.DeviceCopies{2: {one}, 3: {one, one}} {
		e := whatif.AddDevicesEdit{Node: "n0", Added: added}
		pools, err := q.Real(t.Context(), []whatif.Edit{e}).Cluster.Snapshot().PoolsOn(node)
		if err != nil || len(pools) != 1 || !pools[0].Incomplete || pools[0].SlicesSeen != seen {
			t.Errorf("pools of n0 with %d devices more: %+v, %v", len(added), pools, err)
		}
	}
}
