package fix_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// TestUseClaim proposes the claim or template that a pod may have meant.
func TestUseClaim(t *testing.T) {
	templates := explaintest.EqualDevices(2)
	templates.Templates = []*resourcev1.ResourceClaimTemplate{
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "two-gpus"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: explaintest.GpuClaim(2, "any").Spec}},
		{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "ten-gpus"}, Spec: resourcev1.ResourceClaimTemplateSpec{Spec: explaintest.GpuClaim(10, "any").Spec}},
	}
	for _, tt := range []struct {
		cluster *allocator.Cluster
		entry   corev1.PodResourceClaim
		want    []string
	}{
		{explaintest.DemoCluster(t), corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: ptr.To("trian-1")},
			[]string{`UseClaim gpu-b-03 2 replace /spec/resourceClaims/0/resourceClaimName "train-1"`}}, // train-0 cannot be allocated
		{explaintest.DemoCluster(t), corev1.PodResourceClaim{Name: "gpus", ResourceClaimName: ptr.To("entirely-different")}, nil},
		{explaintest.Newest(templates), corev1.PodResourceClaim{Name: "gpus", ResourceClaimTemplateName: ptr.To("twogpus")},
			[]string{`UseClaim n0 1 replace /spec/resourceClaims/0/resourceClaimTemplateName "two-gpus"`}},
	} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p"}}
		pod.Spec.ResourceClaims = []corev1.PodResourceClaim{tt.entry}
		e, err := question.PodObject(context.Background(), tt.cluster, pod, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if e.Verdict != explain.Unsatisfiable || len(e.Fixes) != len(tt.want) {
			t.Errorf("%s: %s, fixes %+v", e.Message, e.Verdict, e.Fixes)
		}
		checkFixes(t, e, tt.want...)
	}
}

// TestMissingClaimThatMayExist: what may not be read may exist.
func TestMissingClaimThatMayExist(t *testing.T) {
	c := allocator.NewCluster(inspect.New(explaintest.EqualDevices(1), inspect.Config{
		Features: inspect.DefaultFeatures(inspect.NewestMinor),
		Health:   map[inspect.Resource]inspect.Health{inspect.Claims: {State: inspect.Forbidden}},
	}), allocator.Options{})
	pod := podWith("somewhere")
	e, err := question.PodObject(context.Background(), c, pod, question.Options{})
	if err != nil || e.Verdict != explain.Unknown || !strings.Contains(e.Message, `whether resourceclaim "somewhere" exists`) {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestFixesOfExtendedResources: a node with a device plugin for one of two resources needs a claim for the other
// only; so what is asked for differs between the nodes. What the scheduler makes of the containers can be
// changed there alone.
func TestFixesOfExtendedResources(t *testing.T) {
	o := explaintest.EqualDevices(4, 6)
	for _, name := range []string{"example.com/gpu", "example.com/nic"} { // both select every device
		o.Classes = append(o.Classes, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: strings.TrimPrefix(name, "example.com/")},
			Spec: resourcev1.DeviceClassSpec{ExtendedResourceName: &name}})
	}
	o.Nodes[1].Status.Allocatable = corev1.ResourceList{"example.com/nic": resource.MustParse("8")}
	pod := explaintest.NewPod(func(p *corev1.PodSpec) {
		p.Containers[0].Resources.Requests = corev1.ResourceList{"example.com/gpu": resource.MustParse("7"), "example.com/nic": resource.MustParse("2")}
	})
	e, err := question.PodObject(context.Background(), explaintest.Newest(o), pod, question.Options{})
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

// TestWiderConstraint: two devices are never on one PCIe root here, but on one NUMA node. What all devices have
// in common is not proposed.
func TestWiderConstraint(t *testing.T) {
	o := explaintest.EqualDevices(4)
	for i := range o.Slices[0].Spec.Devices {
		o.Slices[0].Spec.Devices[i].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"resource.kubernetes.io/pcieRoot": {StringValue: ptr.To(string(rune('a' + i)))},
			"numa":                            {IntValue: ptr.To(int64(i / 2))},
			"odd":                             {BoolValue: ptr.To(i%2 == 1)},
			"model":                           {StringValue: ptr.To("m")},
		}
	}
	claim := explaintest.GpuClaim(2, "any", resourcev1.DeviceConstraint{MatchAttribute: ptr.To(resourcev1.FullyQualifiedName("resource.kubernetes.io/pcieRoot"))})
	e, err := question.ClaimObject(context.Background(), explaintest.Newest(o), claim, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, `DropConstraint n0 1 replace /spec/devices/constraints/0/matchAttribute "gpu.example.com/numa"`, "DropConstraint n0 1 remove /spec/devices/constraints/0")
	for i := range e.Fixes {
		if len(e.Fixes[i].Patch) > 0 && !fitsOn(t, o, patched(t, claim, e.Fixes[i].Patch), "n0") {
			t.Errorf("does not help: %+v", e.Fixes[i])
		}
		if strings.Contains(e.Fixes[i].Message, "model") {
			t.Errorf("no constraint at all: %+v", e.Fixes[i])
		}
	}
}

// TestOtherClass: where no partition is published, a whole device of the same driver may do.
func TestOtherClass(t *testing.T) {
	o := explaintest.EqualDevices(2)
	selects := func(name, expression string) *resourcev1.DeviceClass {
		return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: resourcev1.DeviceClassSpec{Selectors: explaintest.CelSelectors(expression)}}
	}
	o.Classes = append(o.Classes,
		selects("whole", `device.driver == "gpu.example.com"`),
		selects("part", `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].?type.orValue("gpu") == "mig"`),
		selects("foreign", `device.driver == "nic.example.com"`))
	e, err := question.ClaimObject(context.Background(), explaintest.Newest(o), explaintest.GpuClaim(1, "part"), question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkFixes(t, e, `UseClass n0 1 replace `+exactly+`deviceClassName "whole"`)
	if len(e.Fixes) != 1 {
		t.Errorf("fixes %+v", e.Fixes)
	}
}

// Of the classes that exist those are proposed that are nearly as much alike as the one that is most alike, and a
// class to be created only where the API server would take its name.
func TestMissingClass(t *testing.T) {
	for asked, want := range map[string][]string{
		"gpus.example.com": {"UseClass gpu.example.com", "CreateClass"},
		"gpu.nvidia.com":   {"UseClass gpu.example.com", "CreateClass"},
		"gpu":              {"UseClass gpu.example.com", "CreateClass"},
		"gpu_80gb":         {"UseClass gpu-80gb.example.com"},
		"nic.example.com":  {"UseClass edge-nic.example.com", "UseClass rdma-nic.example.com", "UseClass mig.example.com", "CreateClass"},
		"accelerator":      {"CreateClass"},
	} {
		t.Run(asked, func(t *testing.T) {
			e, err := question.ClaimObject(context.Background(), explaintest.DemoCluster(t), explaintest.GpuClaim(1, asked), question.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range e.Fixes {
				text := string(f.Kind)
				if len(f.Patch) > 0 {
					text += fmt.Sprint(" ", f.Patch[0].Value)
				}
				got = append(got, text)
			}
			if !slices.Equal(got, want) {
				t.Errorf("fixes %q, want %q", got, want)
			}
		})
	}
}
