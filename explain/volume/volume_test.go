package volume_test

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/volume"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// demoVolumes is the demo cluster with changes.
func demoVolumes(t *testing.T, changes ...func(*inspect.Objects)) *inspect.Snapshot {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range changes {
		change(&objects)
	}
	return inspect.New(objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: demo.Health()})
}

// askVolume asks about claim ml/corpus, for 14Ti of class datasets, which fits in rack a.
func askVolume(t *testing.T, s *inspect.Snapshot, opts question.Options) *explain.Explanation {
	t.Helper()
	e, err := volume.Explain(context.Background(), scheduler.NewCluster(s, scheduler.Options{}), "ml", "corpus", opts)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// corpus changes the claim.
func corpus(change func(*corev1.PersistentVolumeClaim)) func(*inspect.Objects) {
	return func(o *inspect.Objects) {
		for i, claim := range o.VolumeClaims {
			if claim.Name == "corpus" {
				changed := claim.DeepCopy()
				change(changed)
				o.VolumeClaims[i] = changed
			}
		}
	}
}

func asks(size string) func(*inspect.Objects) {
	return corpus(func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
	})
}

// attachNothing lets no node attach a volume of the driver of class datasets.
func attachNothing(o *inspect.Objects) {
	for _, node := range o.Nodes {
		n := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node.Name}}
		n.Spec.Drivers = []storagev1.CSINodeDriver{{Name: "san.csi.example.com", Allocatable: &storagev1.VolumeNodeResources{Count: new(int32)}}}
		o.CSINodes = append(o.CSINodes, n)
	}
}

// TestVolumeVerdicts asks in which cases which verdict is given, with how many nodes.
func TestVolumeVerdicts(t *testing.T) {
	forbidden := map[inspect.Resource]inspect.Health{inspect.StorageCapacities: {State: inspect.Forbidden}}
	for name, test := range map[string]struct {
		snapshot *inspect.Snapshot
		opts     question.Options
		verdict  explain.Verdict
		nodes    explain.NodeCount
		message  string
	}{
		"some nodes": {demoVolumes(t), question.Options{}, explain.Allocatable, explain.NodeCount{Total: 12, Allocatable: 4}, "ml/corpus can have a volume made for it on 4 of 12 nodes"},
		"one node":   {demoVolumes(t), question.Options{Node: "gpu-a-01"}, explain.Allocatable, explain.NodeCount{Total: 1, Allocatable: 1}, "ml/corpus can have a volume made for it on node gpu-a-01"},
		"not on it":  {demoVolumes(t), question.Options{Node: "gpu-b-01"}, explain.Unsatisfiable, explain.NodeCount{Total: 1}, "ml/corpus does not fit on node gpu-b-01: it asks for 14Ti of class datasets, and the largest volume there is 12Ti"},
		"nowhere":    {demoVolumes(t, asks("20Ti")), question.Options{}, explain.Unsatisfiable, explain.NodeCount{Total: 12}, "ml/corpus fits on none of 12 nodes: it asks for 20Ti of class datasets, and the largest volume is 16Ti, on node gpu-a-01"},
		"more than the size": {
			demoVolumes(t, asks("20Ti"), attachNothing), question.Options{}, explain.Unsatisfiable, explain.NodeCount{Total: 12},
			"ml/corpus fits on none of 12 nodes",
		},
		"not read": {
			demoVolumes(t, asks("20Ti")).WithHealth(forbidden), question.Options{}, explain.Unknown, explain.NodeCount{Total: 12},
			"ml/corpus may have its volume on 12 of 12 nodes, but not everything is known",
		},
		"enough is read": {demoVolumes(t).WithHealth(forbidden), question.Options{}, explain.Allocatable, explain.NodeCount{Total: 12, Allocatable: 4}, "ml/corpus can have a volume made for it on 4 of 12 nodes"},
		"no such class": {
			demoVolumes(t, corpus(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil })), question.Options{}, explain.Unsatisfiable, explain.NodeCount{Total: 12},
			"ml/corpus fits nowhere: the volume claim ml/corpus is not bound to a volume, and has no storage class that would make one",
		},
		"no nodes": {
			demoVolumes(t, func(o *inspect.Objects) { o.Nodes, o.Slices = nil, nil }), question.Options{}, explain.Unknown, explain.NodeCount{Total: 1},
			"ml/corpus may have its volume on any node (none is known), but not everything is known",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := askVolume(t, test.snapshot, test.opts)
			if e.Verdict != test.verdict || e.Nodes != test.nodes || e.Message != test.message {
				t.Errorf("%s %v %q, want %s %v %q", e.Verdict, e.Nodes, e.Message, test.verdict, test.nodes, test.message)
			}
			if (e.Verdict == explain.Unknown || !test.snapshot.Health(inspect.StorageCapacities).Complete()) && len(e.Partial) == 0 {
				t.Error("what could not be read is not said")
			}
		})
	}
}

// TestVolumeFixes makes every change that is proposed and asks again.
func TestVolumeFixes(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*inspect.Objects)
		want   []explain.FixKind
	}{
		"smaller": {asks("20Ti"), []explain.FixKind{explain.ReduceVolume}},
		"of the other class": {
			corpus(func(c *corev1.PersistentVolumeClaim) {
				scratch := "scratch"
				c.Spec.StorageClassName = &scratch
			}), []explain.FixKind{explain.ReduceVolume, explain.ChangeStorageClass},
		},
		"no class": {
			corpus(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = nil }),
			[]explain.FixKind{explain.ChangeStorageClass},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := askVolume(t, demoVolumes(t, test.change), question.Options{})
			var kinds []explain.FixKind
			for _, fix := range e.Fixes {
				kinds = append(kinds, fix.Kind)
				after := askVolume(t, demoVolumes(t, test.change, corpus(func(c *corev1.PersistentVolumeClaim) { apply(t, c, fix.Patch) })), question.Options{})
				if after.Verdict != explain.Allocatable || after.Nodes.Allocatable != fix.Nodes || fix.Nodes == 0 {
					t.Errorf("%s on %d nodes: then it is %s on %d", fix.Message, fix.Nodes, after.Verdict, after.Nodes.Allocatable)
				}
			}
			if len(kinds) != len(test.want) {
				t.Fatalf("fixes %v, want %v", kinds, test.want)
			}
			for i := range kinds {
				if kinds[i] != test.want[i] {
					t.Errorf("fixes %v, want %v", kinds, test.want)
				}
			}
		})
	}
}

// apply makes the change of a patch of a claim.
func apply(t *testing.T, c *corev1.PersistentVolumeClaim, patch []explain.PatchOperation) {
	t.Helper()
	for _, op := range patch {
		value := op.Value.(string)
		switch op.Path {
		case "/spec/resources/requests/storage":
			c.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(value)
		case "/spec/storageClassName":
			if (op.Op == "add") != (c.Spec.StorageClassName == nil) {
				t.Errorf("%s of a class, which is there: %t", op.Op, c.Spec.StorageClassName != nil)
			}
			c.Spec.StorageClassName = &value
		default:
			t.Fatalf("a patch of %s", op.Path)
		}
	}
}

// TestNoVolumeClaim: what is not there cannot be asked about.
func TestNoVolumeClaim(t *testing.T) {
	c := scheduler.NewCluster(demoVolumes(t), scheduler.Options{})
	if _, err := volume.Explain(context.Background(), c, "ml", "nothing", question.Options{}); !errors.Is(err, question.ErrNotFound) {
		t.Errorf("a claim that does not exist: %v", err)
	}
	if _, err := volume.Explain(context.Background(), c, "ml", "corpus", question.Options{Node: "nothing"}); !errors.Is(err, question.ErrNotFound) {
		t.Errorf("a node that does not exist: %v", err)
	}
}

// TestVolumeWithoutNodes: where a volume can be is not known where no node is, nor where what it depends on
// was not read.
func TestVolumeWithoutNodes(t *testing.T) {
	e := askVolume(t, demoVolumes(t, func(o *inspect.Objects) { o.Nodes, o.Slices = nil, nil }), question.Options{})
	if e.Verdict != explain.Unknown {
		t.Errorf("%s, %s", e.Verdict, e.Message)
	}
	// The class that a claim names may be there, though it was not read.
	o := demoVolumes(t, corpus(func(c *corev1.PersistentVolumeClaim) { c.Spec.StorageClassName = new("elsewhere") })).Objects()
	health := map[inspect.Resource]inspect.Health{inspect.StorageClasses: {State: inspect.Forbidden, Message: "m"}}
	for read, want := range map[bool]explain.Verdict{true: explain.Unsatisfiable, false: explain.Unknown} {
		config := inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}
		if !read {
			config.Health = health
		}
		e := askVolume(t, inspect.New(*o, config), question.Options{})
		if e.Verdict != want {
			t.Errorf("classes read %t: %s, %s %s", read, e.Verdict, e.Message, e.Basis.Remarks)
		}
	}
}
