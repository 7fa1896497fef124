package question_test

import (
	"context"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// changeObjects returns objects with one random change. Lists that it changes are copies.
func changeObjects(r *rand.Rand, o inspect.Objects) inspect.Objects {
	switch r.IntN(6) {
	case 0: // a device changes
		o.Slices = slices.Clone(o.Slices)
		at := r.IntN(len(o.Slices))
		o.Slices[at] = o.Slices[at].DeepCopy()
		devices := o.Slices[at].Spec.Devices
		if len(devices) > 0 {
			d := &devices[r.IntN(len(devices))]
			d.Attributes["model"] = resourcev1.DeviceAttribute{StringValue: ptr.To([]string{"A100", "H100"}[r.IntN(2)])}
			d.Attributes["numa"] = resourcev1.DeviceAttribute{IntValue: ptr.To(r.Int64N(2))}
		}
	case 1: // a device goes, or the pool becomes incomplete
		o.Slices = slices.Clone(o.Slices)
		at := r.IntN(len(o.Slices))
		o.Slices[at] = o.Slices[at].DeepCopy()
		if spec := &o.Slices[at].Spec; r.IntN(2) == 0 && len(spec.Devices) > 1 {
			spec.Devices = spec.Devices[1:]
		} else {
			spec.Pool.ResourceSliceCount = 1 + r.Int64N(2)
		}
	case 2: // a claim is released
		at := r.IntN(len(o.Claims))
		o.Claims = slices.Delete(slices.Clone(o.Claims), at, at+1)
	case 3: // a node goes
		if at := r.IntN(len(o.Nodes)); len(o.Nodes) > 4 {
			o.Nodes = slices.Delete(slices.Clone(o.Nodes), at, at+1)
		}
	case 4: // a node is written
		at := r.IntN(len(o.Nodes))
		o.Nodes = slices.Clone(o.Nodes)
		o.Nodes[at] = o.Nodes[at].DeepCopy()
	default: // a claim takes a device
		slice := o.Slices[r.IntN(len(o.Slices))]
		d := r.IntN(8)
		o.Claims = append(slices.Clone(o.Claims), explaintest.AllocatedClaim(string(rune('a'+r.IntN(26)))+slice.Name, slice.Spec.Pool.Name, d))
	}
	return o
}

// TestNextCluster makes sequences of random changes. It compares the explanations of clusters that follow
// from each other with those of clusters that are built from nothing.
func TestNextCluster(t *testing.T) {
	config := inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}
	questions := explaintest.BigQuestions()
	for name := range explaintest.BigQuestions() {
		questions[name+", other values"] = similarQuestion(name)
	}
	for seed := range uint64(effort.Of(4, 2)) {
		r := rand.New(rand.NewPCG(seed, 2))
		snapshot := inspect.New(explaintest.BigCluster(12), config)
		cluster := scheduler.NewCluster(snapshot, scheduler.Options{})
		for step := range 15 {
			o := *snapshot.Objects()
			for range 1 + r.IntN(2) {
				o = changeObjects(r, o)
			}
			config.Revision++
			fresh := o
			fresh.Claims, fresh.Slices, fresh.Nodes = slices.Clone(o.Claims), slices.Clone(o.Slices), slices.Clone(o.Nodes)
			snapshot = snapshot.Next(o, config)
			cluster = scheduler.NewCluster(snapshot, scheduler.Options{Like: cluster})
			for name, claim := range questions {
				if r.IntN(2) == 0 {
					continue // so that clusters know different things of the nodes
				}
				want, err := question.ClaimObject(context.Background(), scheduler.NewCluster(inspect.New(fresh, config), scheduler.Options{}), claim, question.Options{})
				if err != nil {
					t.Fatal(err)
				}
				got, err := question.ClaimObject(context.Background(), cluster, claim, question.Options{})
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d step %d, %s:\n got %+v, %v\nwant %+v", seed, step, name, got, err, want)
				}
			}
		}
	}
}
