package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

const drivers = "../testdata/drivers"

// question is one line of the table in testdata/drivers/README.md.
type question struct{ folder, kind, namespace, name, answer string }

// TestDrivers asks the plugin and a real kube-scheduler the same questions about the objects of real
// drivers. For every claim and template of the table it makes a fresh claim and has the plugin explain and
// allocate it on a node. Then it creates a pod for that node with another fresh copy: the scheduler must
// allocate exactly what the plugin wrote, or refuse the pod for the reason that the plugin gave.
func TestDrivers(t *testing.T) {
	t.Parallel()
	outer := t // which the clusters outlive the folders with
	byFolder, folders := questions(t)
	compared, ran := 0, 0
	clusters := map[string]*cluster.Cluster{} // by feature gates
	for _, folder := range folders {
		t.Run(folder, func(t *testing.T) {
			if strings.HasSuffix(folder, "-v1alpha3") {
				t.Skip("Kubernetes 1.37 does not serve these objects at v1alpha3 any more")
			}
			if gates := gates[folder]; clusters[gates] == nil {
				clusters[gates] = cluster.Start(outer, cluster.Options{FeatureGates: gates})
			}
			s := newStage(t, folder, clusters[gates[folder]])
			ran++
			for i, q := range byFolder[folder] {
				var verdicts []string // of the scheduler, node by node
				for _, node := range s.nodes {
					t.Run(fmt.Sprintf("%s %s on %s", q.kind, q.name, node), func(t *testing.T) {
						if verdict := s.ask(t, q, node, fmt.Sprintf("question-%d", i)); verdict != "" {
							verdicts = append(verdicts, verdict)
							compared++
						}
					})
				}
				// The table says Allocatable where one node is enough.
				if len(verdicts) > 0 && !slices.Contains(verdicts, q.answer) {
					t.Errorf("%s %s: the scheduler says %v, the table %s", q.kind, q.name, verdicts, q.answer)
				}
			}
		})
	}
	t.Logf("compared %d answers with the scheduler's", compared)
	if compared < 60 && ran > 15 { // fewer folders run when the command line selects some
		t.Errorf("only %d questions were compared; the API server refuses more of the objects than it used to", compared)
	}
}

// questions reads the table.
func questions(t *testing.T) (map[string][]question, []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(drivers, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	byFolder := map[string][]question{}
	var folders []string
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 {
			continue
		}
		kind, name, ok := strings.Cut(strings.TrimSpace(cells[2]), " ")
		if !ok || kind != "claim" && kind != "template" {
			continue
		}
		q := question{folder: strings.TrimSpace(cells[1]), kind: kind, answer: strings.TrimSpace(cells[3])}
		q.namespace, q.name, _ = strings.Cut(name, "/")
		if byFolder[q.folder] == nil {
			folders = append(folders, q.folder)
		}
		byFolder[q.folder] = append(byFolder[q.folder], q)
	}
	return byFolder, folders
}

// gates are those that the objects of a folder need beyond the defaults of Kubernetes 1.37: without them
// the API server drops the fields, and then refuses what is left.
var gates = map[string]string{
	"dra-driver-cpu-grouped":    "DRAListTypeAttributes=true",
	"dra-driver-cpu-individual": "DRAListTypeAttributes=true",
	"kubernetes-scheduler-perf": "DRADeviceCompatibilityGroups=true",
}

// stage is a cluster with the objects of one driver.
type stage struct {
	*cluster.Cluster
	objects []*unstructured.Unstructured
	nodes   []string
}

// newStage puts the objects of a folder into a cluster, and the nodes that its slices name, and takes out
// what was there. What the API server refuses is left out, as it would be in real life.
func newStage(t *testing.T, folder string, c *cluster.Cluster) *stage {
	t.Helper()
	c.Clear(t)
	files, err := filepath.Glob(filepath.Join(drivers, folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no YAML files: %v", folder, err)
	}
	s := &stage{Cluster: c, objects: cluster.Decode(t, files...)}
	for _, object := range s.objects {
		if node, _, _ := unstructured.NestedString(object.Object, "spec", "nodeName"); node != "" && object.GetKind() == "ResourceSlice" {
			s.nodes = append(s.nodes, node)
		}
	}
	slices.Sort(s.nodes)
	s.nodes = slices.Compact(s.nodes)
	if len(s.nodes) == 0 {
		s.nodes = []string{"node-1"}
	}
	for _, node := range s.nodes {
		s.AddNode(t, node, map[string]string{corev1.LabelHostname: node})
	}
	for _, object := range s.objects {
		switch object.GetKind() {
		case "ResourceClaim", "ResourceClaimTemplate":
			s.addNamespace(t, object.GetNamespace())
			// Published claims are abridged in a way that the API server refuses (no uid, no time stamp).
			// What they hold is in their allocation.
			unstructured.RemoveNestedField(object.Object, "status", "devices")
			unstructured.RemoveNestedField(object.Object, "status", "reservedFor")
		case "DeviceClass", "ResourceSlice", "DeviceTaintRule":
		default:
			continue // a pod would be scheduled and take devices
		}
		if err := s.Create(t.Context(), object); err != nil {
			if !refuses(err) {
				t.Fatal(err)
			}
			t.Logf("left out: %v", err)
		}
	}
	return s
}

// addNamespace creates a namespace whose claims may ask for admin access.
func (s *stage) addNamespace(t *testing.T, name string) {
	t.Helper()
	label := map[string]string{resourcev1.DRAAdminNamespaceLabelKey: "true"}
	if name == "" {
		name = metav1.NamespaceDefault
	}
	namespaces := s.Client().CoreV1().Namespaces()
	_, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: label}}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		patch := fmt.Sprintf(`{"metadata":{"labels":{%q:"true"}}}`, resourcev1.DRAAdminNamespaceLabelKey)
		_, err = namespaces.Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	if err != nil {
		t.Fatalf("creating namespace %s: %v", name, err)
	}
}

// claimSpec returns the spec that a question is about.
func (s *stage) claimSpec(t *testing.T, q question) (spec any, apiVersion string) {
	t.Helper()
	kind, path := "ResourceClaim", []string{"spec"}
	if q.kind == "template" {
		kind, path = "ResourceClaimTemplate", []string{"spec", "spec"}
	}
	for _, o := range s.objects {
		namespace := o.GetNamespace()
		if namespace == "" {
			namespace = metav1.NamespaceDefault
		}
		if o.GetKind() == kind && o.GetName() == q.name && namespace == q.namespace {
			spec, _, _ := unstructured.NestedFieldCopy(o.Object, path...)
			return spec, o.GetAPIVersion()
		}
	}
	t.Fatalf("no %s %s/%s in %s", kind, q.namespace, q.name, q.folder)
	return nil, ""
}

// explanation is what these tests read of the JSON of explain.
type explanation struct {
	Kind, Verdict, Message string
	Allocation             *struct {
		Node    string
		Devices []struct{ Request, Driver, Pool, Device string }
	}
	Partial []any
}

// ask compares one answer and returns the scheduler's verdict, or "" when the API server refuses the
// claim.
func (s *stage) ask(t *testing.T, q question, node, name string) string {
	spec, apiVersion := s.claimSpec(t, q)
	create := func() error {
		return s.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": "ResourceClaim",
			"metadata": map[string]any{"name": name, "namespace": q.namespace}, "spec": spec}})
	}
	if err := create(); err != nil && !refuses(err) {
		t.Fatal(err)
	} else if err != nil {
		t.Skipf("the API server refuses the claim: %v", err)
	}
	t.Cleanup(func() { s.remove(t, q.namespace, name) })

	explained := s.Plugin(t, cluster.Admin, "explain", "claim", name, "-n", q.namespace, "--node", node, "-o", "json")
	allocated := s.Plugin(t, cluster.Admin, "allocate", "claim", name, "-n", q.namespace, "--node", node, "--yes", "--settle", noSettle, "-o", "json")
	ours := s.Claim(t, q.namespace, name)
	var answer explanation
	explained.JSON(t, &answer)
	if len(answer.Partial) > 0 {
		t.Errorf("the admin may read everything, but partial is %v", answer.Partial)
	}

	var theirs decided
	for _, pause := range patience {
		s.remove(t, q.namespace, name)
		if err := create(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause)
		theirs = s.schedule(t, q.namespace, name, node, answer.Verdict)
		allocation := s.Claim(t, q.namespace, name).Status.Allocation
		if theirs.verdict == answer.Verdict && cmp.Equal(normalized(allocation), normalized(ours.Status.Allocation)) {
			break
		}
	}
	verdict, code := theirs.verdict, map[string]int{"Allocatable": 0, "Unsatisfiable": 3, "Invalid": 1}[theirs.verdict]
	t.Logf("scheduler: %s %s; plugin: %s, %s", verdict, theirs.says, answer.Verdict, answer.Message)
	if answer.Verdict != verdict || explained.Code != code {
		t.Errorf("verdict %s with exit code %d, want %s with %d\n%v", answer.Verdict, explained.Code, verdict, code, explained)
	}
	if allocated.Code != code {
		t.Errorf("allocate exits with %d, want %d\n%v", allocated.Code, code, allocated)
	}
	if verdict == "Allocatable" {
		s.compare(t, q.namespace, name, answer, ours, allocated)
	}
	if ours.Status.Allocation != nil && verdict != "Allocatable" {
		t.Errorf("the plugin wrote %v", ours.Status.Allocation)
	}
	return verdict
}

// decided is what the scheduler decided about a pod, in the words of the plugin.
type decided struct{ verdict, says string }

func decidedBy(condition corev1.PodCondition, node string) decided {
	d := decided{says: condition.Message}
	switch {
	case node != "":
		d.verdict = "Allocatable"
	case condition.Reason == corev1.PodReasonUnschedulable:
		d.verdict = "Unsatisfiable"
	case condition.Reason == corev1.PodReasonSchedulerError: // the scheduler gave up with an error
		d.verdict = "Invalid"
	default:
		d.verdict = condition.Reason
	}
	return d
}

// schedule creates a pod that uses the claim and fits only the node, and waits for the scheduler to say what
// is expected, or something else for good.
func (s *stage) schedule(t *testing.T, namespace, claim, node, expected string) decided {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: claim}, Spec: corev1.PodSpec{
		NodeSelector:   map[string]string{corev1.LabelHostname: node},
		ResourceClaims: []corev1.PodResourceClaim{{Name: "claim", ResourceClaimName: &claim}},
		Containers: []corev1.Container{{Name: "main", Image: "example.com/none",
			Resources: corev1.ResourceRequirements{Claims: []corev1.ResourceClaim{{Name: "claim"}}}}},
	}}
	if _, err := s.Client().CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatalf("creating pod %s/%s: %v", namespace, claim, err)
	}
	return decidedBy(s.PodScheduledWithin(t, decidingTime, namespace, claim, func(condition corev1.PodCondition, node string) bool {
		return decidedBy(condition, node).verdict == expected
	}))
}

// compare holds the allocation that the plugin wrote, and that it printed, against the one that the scheduler
// wrote.
func (s *stage) compare(t *testing.T, namespace, name string, answer explanation, ours *resourcev1.ResourceClaim, allocated cluster.Result) {
	t.Helper()
	written, err := s.Client().ResourceV1().ResourceClaims(namespace).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var printed resourcev1.ResourceClaim
	allocated.JSON(t, &printed)
	want := normalized(written.Status.Allocation)
	if diff := cmp.Diff(want, normalized(ours.Status.Allocation)); diff != "" {
		t.Errorf("allocation (-scheduler +plugin):\n%s", diff)
	}
	if diff := cmp.Diff(want, normalized(printed.Status.Allocation)); diff != "" {
		t.Errorf("allocation (-scheduler +printed by the plugin):\n%s", diff)
	}
	if answer.Allocation == nil || want == nil {
		t.Fatalf("no allocation in explain (%v) or in the claim (%v)", answer.Allocation, want)
	}
	var inClaim, inAnswer []string
	for _, d := range want.Devices.Results {
		inClaim = append(inClaim, d.Request+" "+d.Driver+"/"+d.Pool+"/"+d.Device)
	}
	for _, d := range answer.Allocation.Devices {
		inAnswer = append(inAnswer, d.Request+" "+d.Driver+"/"+d.Pool+"/"+d.Device)
	}
	if diff := cmp.Diff(inClaim, inAnswer); diff != "" {
		t.Errorf("devices of explain (-scheduler +plugin):\n%s", diff)
	}
}

// normalized drops what two allocations never share, random share ids and the time, and the white space
// of opaque parameters.
func normalized(a *resourcev1.AllocationResult) *resourcev1.AllocationResult {
	if a == nil {
		return nil
	}
	a = a.DeepCopy()
	a.AllocationTimestamp = nil
	for i := range a.Devices.Results {
		a.Devices.Results[i].ShareID = nil
	}
	for _, config := range a.Devices.Config {
		if config.Opaque != nil {
			var compact bytes.Buffer
			if err := json.Compact(&compact, config.Opaque.Parameters.Raw); err == nil {
				config.Opaque.Parameters.Raw = compact.Bytes()
			}
		}
	}
	return a
}

// remove deletes a pod and its claim at once. The controller that would take the finalizer off the claim
// is not there.
func (s *stage) remove(t *testing.T, namespace, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	err := s.Client().CoreV1().Pods(namespace).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64)})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Errorf("deleting pod: %v", err)
	}
	s.RemoveClaim(t, namespace, name)
}
