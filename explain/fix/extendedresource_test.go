package fix_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestFixesOfExtendedResources asks for a pod with two extended resources. A node that has a device plugin
// for one of them needs a claim for the other only, so what is asked for differs between the nodes. The
// scheduler makes the claim of the containers, so only these can be changed.
func TestFixesOfExtendedResources(t *testing.T) {
	o := explaintest.NodesWithDevices(4, 6)
	for _, name := range []string{"example.com/gpu", "example.com/nic"} { // both select every device
		o.Classes = append(o.Classes, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: strings.TrimPrefix(name, "example.com/")},
			Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &name}})
	}
	o.Nodes[1].Status.Allocatable["example.com/nic"] = resource.MustParse("8")
	pod := explaintest.NewPod(func(p *corev1.PodSpec) {
		p.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("7"), "example.com/nic": resource.MustParse("2")}
	})
	e, err := question.PodObject(context.Background(), explaintest.NewCluster(o), pod, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if e.Verdict != explain.Unsatisfiable || e.Conflict == nil {
		t.Fatalf("%s, conflict %+v", e.Message, e.Conflict)
	}
	checkFixes(t, e, "ReduceCount n1 1")
	for _, f := range e.Fixes {
		if f.Kind == explain.ReduceCount && f.Node == "n1" && f.Message != "in the containers of the pod: ask for 6 devices instead of 7" {
			t.Errorf("message %q", f.Message)
		}
		if f.Kind == explain.UseClass || f.Kind == explain.TolerateTaint {
			t.Errorf("nobody can write that into the claim: %+v", f)
		}
	}
}
