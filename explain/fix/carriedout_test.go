package fix_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// TestFixesCarriedOut makes random problems those of a pod that uses a claim, or a template. Each fix is made
// as it is to be carried out: the objects that it prints take the place of the old ones, and the claims that
// it names are released. Asked again, the pod can be scheduled on as many nodes as the fix says.
func TestFixesCarriedOut(t *testing.T) {
	want := effort.Of(400, 150)
	problems, made := 0, map[string]int{}
	for seed := uint64(1); problems < want; seed++ {
		p := randomProblem(rand.New(rand.NewPCG(seed, 11)))
		o := p.objects()
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod"}}
		pod.Spec.Containers = []corev1.Container{{Name: "c", Image: "i"}}
		if claim := p.claim(); seed%2 == 0 {
			o.Claims = append(o.Claims, claim)
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "a", ResourceClaimName: &claim.Name}}
		} else {
			template := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "template"}}
			template.Spec.Spec = claim.Spec
			o.Templates = append(o.Templates, template)
			pod.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "a", ResourceClaimTemplateName: ptr.To("template")}}
		}
		o.Pods = append(o.Pods, pod)
		e := explainedPod(t, o)
		if e.Verdict != explain.Unsatisfiable {
			continue
		}
		problems++
		for i := range e.Fixes {
			f := &e.Fixes[i]
			if len(f.Changes) == 0 || f.Timeout != "" {
				continue
			}
			again := explainedPod(t, carriedOut(t, o, f))
			if again.Verdict != explain.Allocatable || again.Nodes.Allocatable != f.Nodes {
				t.Errorf("seed %d: %+v: now it is %s on %d nodes: %s", seed, f, again.Verdict, again.Nodes.Allocatable, again.Message)
			}
			for _, c := range f.Changes {
				made[c.Kind]++
			}
		}
	}
	t.Log(problems, "problems, changed objects:", made)
	if made["ResourceClaim"] == 0 || made["ResourceClaimTemplate"] == 0 || made["DeviceClass"] == 0 {
		t.Errorf("some kind of object was never changed: %v", made)
	}
}

// TestContainersCarriedOut: what is asked for of an extended resource is changed in the containers.
func TestContainersCarriedOut(t *testing.T) {
	made := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 12))
		o := explaintest.NodesWithDevices(1+r.IntN(4), 1+r.IntN(4))
		o.Classes[0].Spec.ExtendedResourceName = ptr.To("example.com/gpu")
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "pod"}}
		for i := range 1 + r.IntN(3) {
			list := corev1.ResourceList{"example.com/gpu": *resource.NewQuantity(int64(1+r.IntN(4)), resource.DecimalSI), "a.example.com/none": {}}
			c := corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "i", Resources: corev1.ResourceRequirements{Limits: list}}
			if r.IntN(2) == 0 {
				c.Resources.Requests = list.DeepCopy()
			}
			pod.Spec.Containers = append(pod.Spec.Containers, c)
		}
		o.Pods = append(o.Pods, pod)
		e := explainedPod(t, o)
		for i := range e.Fixes {
			f := &e.Fixes[i]
			if len(f.Changes) == 0 {
				continue
			}
			made++
			if again := explainedPod(t, carriedOut(t, o, f)); again.Verdict != explain.Allocatable || again.Nodes.Allocatable != f.Nodes {
				t.Errorf("seed %d: %+v: now it is %s on %d nodes: %s", seed, f, again.Verdict, again.Nodes.Allocatable, again.Message)
			}
		}
	}
	if made < 20 {
		t.Errorf("only %d fixes were there to be carried out", made)
	}
}

func explainedPod(t *testing.T, o inspect.Objects) *explain.Explanation {
	t.Helper()
	e, err := question.Pod(context.Background(), explaintest.NewCluster(o), inspect.PodRef{Namespace: "default", Name: "pod"}, question.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// carriedOut returns the objects after a fix was carried out.
func carriedOut(t *testing.T, o inspect.Objects, f *explain.Fix) inspect.Objects {
	t.Helper()
	s := explaintest.NewCluster(o).Snapshot()
	manifests, err := remedy.Manifests(f, func(c explain.ObjectChange) (remedy.Object, error) { return remedy.Find(s, c) })
	if err != nil {
		t.Fatal(err)
	}
	o.Claims, o.Templates, o.Classes, o.Pods = slices.Clone(o.Claims), slices.Clone(o.Templates), slices.Clone(o.Classes), slices.Clone(o.Pods)
	for _, m := range manifests {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		switch m["kind"] {
		case "ResourceClaim":
			replace(t, o.Claims, data)
		case "ResourceClaimTemplate":
			replace(t, o.Templates, data)
		case "DeviceClass":
			replace(t, o.Classes, data)
		case "Pod":
			replace(t, o.Pods, data)
		default:
			t.Fatalf("unexpected %s", data)
		}
	}
	for _, h := range f.Claims {
		at := slices.IndexFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return inspect.RefOf(c) == h.Claim })
		o.Claims[at] = o.Claims[at].DeepCopy()
		o.Claims[at].Status = resourcev1.ResourceClaimStatus{}
	}
	return o
}

// replace puts an object in JSON in the place of the one with its name.
func replace[T any, P interface {
	*T
	metav1.Object
}](t *testing.T, list []P, data []byte) {
	t.Helper()
	object := P(new(T))
	if err := json.Unmarshal(data, object); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(list, func(o P) bool { return o.GetName() == object.GetName() && o.GetNamespace() == object.GetNamespace() })
	if at < 0 {
		t.Fatalf("%s is not there", object.GetName())
	}
	list[at] = object
}
