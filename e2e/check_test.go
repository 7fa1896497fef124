package e2e

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

// checkupData has the faults that kubectl dra check looks for, each with objects to plant into a healthy
// cluster.
const checkupData = "../internal/checkup/testdata"

// fault is a file of faults.
type fault struct {
	code, features string
	// mark is part of the names of everything that belongs to its copy of the healthy cluster.
	mark    string
	objects []*unstructured.Unstructured
	// kueue is the configuration of Kueue, which only the faults of its queues have.
	kueue string
}

// planted is the time at which the files of faults play.
var planted = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

var (
	// shared are the names of the healthy cluster and of the faults that several copies cannot share.
	shared = regexp.MustCompile(`\b(gpu|ml|n1|n2|n9|nics|nic|mig|tpu|fabric|broken|all|typo|drivers|other)\b`)
	moment = regexp.MustCompile(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
)

// faultsToPlant reads all faults, each with a copy of the healthy cluster, as if they happened now.
func faultsToPlant(t *testing.T) []fault {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(checkupData, "faults", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("reading faults: %v", err)
	}
	healthy := readText(t, filepath.Join(checkupData, "healthy.yaml"))
	var all []fault
	for i, file := range files {
		f := fault{code: strings.TrimSuffix(filepath.Base(file), ".txtar"), mark: fmt.Sprintf("-c%03d", i)}
		text := healthy
		for _, part := range txtar.Parse([]byte(readText(t, file))).Files {
			switch part.Name {
			case "features":
				f.features = strings.TrimSpace(string(part.Data))
			case "kueue.yaml":
				f.kueue = shared.ReplaceAllString(string(part.Data), "${1}"+f.mark)
			case "objects.yaml":
				text += "\n---\n" + string(part.Data)
			}
		}
		f.objects = latest(cluster.DecodeText(t, asOfNow(t, shared.ReplaceAllString(text, "${1}"+f.mark))))
		all = append(all, f)
	}
	return all
}

// asOfNow moves the times of a text as if it had been written now.
func asOfNow(t *testing.T, text string) string {
	t.Helper()
	shift := time.Since(planted)
	return moment.ReplaceAllStringFunc(text, func(s string) string {
		at, err := time.Parse(time.RFC3339, s)
		if err != nil {
			t.Fatal(err)
		}
		return at.Add(shift).UTC().Format(time.RFC3339)
	})
}

// latest leaves only the last object of each name.
func latest(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	var out []*unstructured.Unstructured
	for _, o := range objects {
		same := func(p *unstructured.Unstructured) bool {
			return p.GetKind() == o.GetKind() && p.GetNamespace() == o.GetNamespace() && p.GetName() == o.GetName()
		}
		if i := slices.IndexFunc(out, same); i >= 0 {
			out[i] = o
			continue
		}
		out = append(out, o)
	}
	return out
}

// gatesOf are the feature gates that the objects need beyond the defaults.
func gatesOf(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	var text strings.Builder
	for _, o := range objects {
		data, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n" + string(data) + "\n")
	}
	result, err := manifest.ReadBytes("objects.yaml", []byte(text.String()), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var gates []string
	for _, gate := range inspect.FeaturesUsedBy(result.Objects) {
		if !inspect.DefaultFeatures(inspect.NewestMinor).Enabled(gate) {
			gates = append(gates, string(gate)+"=true")
		}
		if gate == inspect.GatePartitionableDevicesType { // it needs this one
			gates = append(gates, string(inspect.GateResourcePoolStatus)+"=true")
		}
	}
	return strings.Join(gates, ",")
}

// checkReport is the output of check.
type checkReport struct {
	Findings []struct {
		Code, Severity, Subject, Message string
		Objects                          []string
	}
	Asked   int
	Skipped []struct{ Code, Message string }
}

// check runs kubectl dra check on a cluster.
func check(t *testing.T, c *cluster.Cluster, args ...string) checkReport {
	t.Helper()
	result := c.Plugin(t, cluster.Admin, append([]string{"check", "-o", "json"}, args...)...)
	if result.Code != 0 && result.Code != 3 {
		t.Fatal(result)
	}
	var report checkReport
	result.JSON(t, &report)
	return report
}

// finds reports whether a fault was found where it was planted.
func (r *checkReport) finds(f *fault) bool {
	for _, finding := range r.Findings {
		text := finding.Subject + finding.Message + strings.Join(finding.Objects, " ")
		if finding.Code == f.code && strings.Contains(text, f.mark) {
			return true
		}
	}
	return false
}

// notLetIn are the faults that the API server of today does not let in, with what it says. They are found in
// manifests, and where an older server let them in.
var notLetIn = map[string]string{
	"AdminAccessRefused":      "admin access to devices requires the `resource.kubernetes.io/admin-access: true` label on the containing namespace",
	"ObjectInvalid":           "a lowercase RFC 1123 label must consist of lower case alphanumeric characters",
	"PoolPartitionTypes":      "spec.devices[0].attributes",
	"SelectorInvalid":         "compilation failed: ERROR",
	"StatusWithoutAllocation": "must be an allocated device in the claim",
}

// oldVersion is found by who has written objects, which the API server notes itself, whatever an object says
// that is planted. TestCheckOfHealthyClusters writes some in an old version.
const oldVersion = "OldVersionWritten"

// elsewhere are the faults of clusters that are set up differently, or were when the objects were made.
var elsewhere = map[string]struct {
	options cluster.Options
	gates   string // of the server from then on
	args    []string
}{
	"EvictionSkipped":  {options: cluster.Options{Version: "v1.34", FeatureGates: "DRAExtendedResource=true,DRADeviceTaints=true"}}, // 1.37.2 does not skip it
	"BindingFailed":    {},                                                                                                          // kube-scheduler takes the devices back, so that it is not certain what becomes of others that wait
	"TaintRuleIgnored": {gates: "DRADeviceTaintRules=false"},
	"FeatureOff":       {gates: "DRADeviceTaints=false,DRADeviceTaintRules=false"},
	"UpgradeGates":     {args: []string{"--target", "1.38"}},
	"UpgradeFinding":   {options: cluster.Options{Version: "v1.34", FeatureGates: "DRAExtendedResource=true,DRADeviceTaints=true"}, args: []string{"--target", "1.37"}},
	"UpgradeVerdict": {options: cluster.Options{Emulated: "1.35", FeatureGates: "DRAConsumableCapacity=true"}, gates: "DRAConsumableCapacity=false",
		args: []string{"--target", "1.37"}},
	"VersionRemoved": {options: cluster.Options{RuntimeConfig: "resource.k8s.io/v1=false,resource.k8s.io/v1beta2=false,resource.k8s.io/v1beta1=true"}},
}

// TestCheckFindsFaults breaks a real cluster in all ways that its API server lets somebody break it, and runs
// kubectl dra check.
func TestCheckFindsFaults(t *testing.T) {
	t.Parallel()
	var all []fault
	var objects []*unstructured.Unstructured
	for _, f := range faultsToPlant(t) {
		if _, other := elsewhere[f.code]; !other && f.code != oldVersion && f.kueue == "" {
			all, objects = append(all, f), append(objects, f.objects...)
		}
	}
	gates := gatesOf(t, objects)
	t.Logf("feature gates: %s", gates)
	c := cluster.Start(t, cluster.Options{NoScheduler: true, FeatureGates: gates})
	refusals := map[string][]cluster.Refusal{}
	for _, f := range all {
		refusals[f.code] = c.Plant(t, f.objects)
	}
	report := check(t, c, "--severity", "note")
	found := 0
	for _, f := range all {
		said := fmt.Sprint(refusals[f.code])
		switch why, listed := notLetIn[f.code]; {
		case listed && (why == "" || !strings.Contains(said, why)):
			t.Errorf("%s: the server says %s, want %q", f.code, said, why)
		case !listed && len(refusals[f.code]) > 0:
			t.Errorf("%s: the server refuses %s", f.code, said)
		case !listed && !report.finds(&f):
			t.Errorf("%s was planted and not found", f.code)
		case !listed:
			found++
		}
	}
	for _, s := range report.Skipped {
		t.Errorf("%s was not looked for: %s", s.Code, s.Message)
	}
	t.Logf("%d faults planted and found, %d refused by the server: %v", found, len(notLetIn), slices.Sorted(maps.Keys(notLetIn)))
}

// TestCheckFindsFaultsOfServers plants the faults of clusters with gates off, before an upgrade, or that
// serve old versions only.
func TestCheckFindsFaultsOfServers(t *testing.T) {
	t.Parallel()
	for _, f := range faultsToPlant(t) {
		e, other := elsewhere[f.code]
		other = other || f.kueue != ""
		if !other && f.features != "" {
			t.Errorf("%s has feature gates of its own: say in which cluster it is planted", f.code)
		}
		if !other {
			continue
		}
		t.Run(f.code, func(t *testing.T) {
			e.options.NoScheduler = true
			c := cluster.Start(t, e.options)
			if f.kueue != "" {
				c.AddKueueKinds(t, "")
				file := filepath.Join(t.TempDir(), "kueue.yaml")
				if err := os.WriteFile(file, []byte(f.kueue), 0o600); err != nil {
					t.Fatal(err)
				}
				e.args = append(e.args, "--kueue-config", file)
			}
			objects := f.objects
			if e.options.RuntimeConfig != "" { // which serves only what the fault itself is given in
				objects = slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return o.GetAPIVersion() == "resource.k8s.io/v1" })
			}
			if refusals := c.Plant(t, objects); len(refusals) > 0 {
				t.Fatalf("the server refuses %v", refusals)
			}
			if e.gates != "" {
				c.SetGates(t, e.gates)
			}
			report := check(t, c, append([]string{"--severity", "note"}, e.args...)...)
			if f.mark = ""; !report.finds(&f) {
				t.Errorf("%s was planted and not found: %+v", f.code, report)
			}
		})
	}
}

// healthyDrivers are folders of testdata/drivers in whose objects nothing is wrong.
var healthyDrivers = []string{"dra-example-driver", "dra-example-driver-taints", "dra-example-driver-v1beta1", "dranet-aks-gb300", "dranet-aks-mi300x"}

// pluginPod is the pod of a driver on a node.
const pluginPod = `
apiVersion: v1
kind: Pod
metadata: {namespace: driver, name: "%[1]s", ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: plugin, uid: plugin, controller: true}]}
spec:
  nodeName: %[2]s
  tolerations: [{operator: Exists}]
  containers: [{name: plugin, image: plugin}]
  volumes: [{name: registry, hostPath: {path: /var/lib/kubelet/plugins_registry}}]
status: {phase: Running, conditions: [{type: Ready, status: "True"}]}
`

// TestCheckOfHealthyClusters runs kubectl dra check on clusters with the objects of real drivers, their
// nodes, a pod of the driver on each, and the pods that use devices, which the scheduler has placed: nothing
// is said.
func TestCheckOfHealthyClusters(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	quiet := 0
	for _, folder := range healthyDrivers {
		t.Run(folder, func(t *testing.T) {
			s := newStage(t, folder, c)
			s.addNamespace(t, "driver")
			for i, node := range s.nodes {
				c.ApplyText(t, fmt.Sprintf(pluginPod, fmt.Sprintf("%s-%d", folder, i), node))
			}
			placed := s.runPods(t)
			report := check(t, c)
			written := 0
			for _, f := range report.Findings {
				if f.Code == oldVersion && strings.Contains(f.Message, "e2e.test") {
					written++ // by this test, which is true
					continue
				}
				t.Errorf("%s %s: %s", f.Severity, f.Code, f.Message)
			}
			if strings.HasSuffix(folder, "v1beta1") != (written > 0) {
				t.Errorf("%d findings about who wrote an old version", written)
			}
			for _, skipped := range report.Skipped {
				t.Errorf("%s was not looked for: %s", skipped.Code, skipped.Message)
			}
			t.Logf("%d nodes, %d pods with devices placed: %d checks", len(s.nodes), placed, report.Asked)
			if !t.Failed() && placed > 0 {
				quiet++
			}
		})
	}
	if quiet < len(healthyDrivers) {
		t.Errorf("of only %d healthy clusters nothing is said", quiet)
	}
}

// runPods creates the pods of the folder, or one for each template if it has none, and has those run that the
// scheduler places. The others are taken away again, with claims that nothing was allocated to: the examples
// of a driver are not meant to run all at once. It returns how many run.
func (s *stage) runPods(t *testing.T) int {
	t.Helper()
	running := 0
	for _, pod := range s.pods() {
		s.addNamespace(t, pod.GetNamespace())
		if err := s.Create(t.Context(), pod); err != nil {
			t.Fatal(err)
		}
		pods := s.Client().CoreV1().Pods(pod.GetNamespace())
		decision, node := s.PodScheduled(t, pod.GetNamespace(), pod.GetName(), cluster.Placed)
		if node == "" {
			t.Logf("pod %s is not placed: %s", pod.GetName(), decision.Message)
			if err := pods.Delete(t.Context(), pod.GetName(), metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			continue
		}
		running++
		const status = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
		if _, err := pods.Patch(t.Context(), pod.GetName(), types.StrategicMergePatchType, []byte(status), metav1.PatchOptions{}, "status"); err != nil {
			t.Fatal(err)
		}
	}
	claims, err := s.Client().ResourceV1().ResourceClaims("").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range claims.Items {
		if claim := &claims.Items[i]; claim.Status.Allocation == nil {
			s.RemoveClaim(t, claim.Namespace, claim.Name)
		}
	}
	return running
}

// pods are those of the folder, or one for each template.
func (s *stage) pods() []*unstructured.Unstructured {
	var pods, made []*unstructured.Unstructured
	for _, o := range s.objects {
		o = o.DeepCopy()
		if o.GetNamespace() == "" {
			o.SetNamespace(metav1.NamespaceDefault)
		}
		switch o.GetKind() {
		case "Pod":
			if o.GetName() == "" {
				o.SetName(o.GetGenerateName() + "1")
			}
			unstructured.RemoveNestedField(o.Object, "status")
			unstructured.RemoveNestedField(o.Object, "spec", "nodeName")
			pods = append(pods, o)
		case "ResourceClaimTemplate":
			made = append(made, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "uses-" + o.GetName(), "namespace": o.GetNamespace()},
				"spec": map[string]any{
					"containers":     []any{map[string]any{"name": "c", "image": "c"}},
					"resourceClaims": []any{map[string]any{"name": "devices", "resourceClaimTemplateName": o.GetName()}},
				},
			}})
		}
	}
	if len(pods) == 0 {
		return made
	}
	return pods
}

// confirmedByServer are the codes whose findings in the objects of drivers only an API server can confirm:
// what it refuses or accepts. The allocator confirms the others.
var confirmedByServer = []checkup.Code{"ObjectInvalid", "ObjectOdd", "PoolSurplus", "AdminAccessPossible"}

// TestFindingsInDrivers creates the objects of drivers in which something is wrong.
func TestFindingsInDrivers(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true})
	folders, err := filepath.Glob(filepath.Join(drivers, "*", "SOURCE.md"))
	if err != nil {
		t.Fatal(err)
	}
	counts := map[checkup.Code]int{}
	for _, source := range folders {
		folder := filepath.Dir(source)
		result, err := manifest.Read(t.Context(), []string{folder}, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.New(result.Objects, inspect.Config{Time: time.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: result.Health})
		report, err := checkup.Run(t.Context(), s, checkup.Options{Severity: checkup.Note, Only: confirmedByServer})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			c.Clear(t)
			objects := objectsOf(t, folder, f)
			if namespace := objects[0].GetNamespace(); namespace != "" && f.Code != "AdminAccessPossible" {
				(&stage{Cluster: c}).addNamespace(t, namespace) // admin access has to be no reason
			}
			refusals := c.Plant(t, objects)
			if problem := unconfirmed(f, refusals); problem != "" {
				t.Errorf("%s: %s: %s: %s: %v", filepath.Base(folder), f.Code, f.Message(), problem, refusals)
			}
			counts[f.Code]++
		}
	}
	t.Logf("confirmed by the API server: %v", counts)
	for _, code := range confirmedByServer {
		if counts[code] == 0 {
			t.Errorf("there was nothing to confirm of %s", code)
		}
	}
}

// objectsOf returns the first object of a finding, as the folder has it. Of a namespace in which admin access
// is possible it is also a claim for that.
func objectsOf(t *testing.T, folder string, f *checkup.Finding) []*unstructured.Unstructured {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range cluster.Decode(t, files...) {
		if o.GetNamespace() == "" && o.GetKind() != "ResourceSlice" && o.GetKind() != "Namespace" {
			o.SetNamespace(metav1.NamespaceDefault)
		}
		if at := f.Objects[0]; o.GetKind() != at.Kind || o.GetName() != at.Name || o.GetNamespace() != at.Namespace {
			continue
		}
		if o.SetOwnerReferences(nil); o.GetKind() != "Namespace" { // published claims are abridged there
			return []*unstructured.Unstructured{o}
		}
		return append(cluster.DecodeText(t, fmt.Sprintf(`
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: admin, namespace: %q}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: c, adminAccess: true}}]}}
`, o.GetName())), o)
	}
	t.Fatalf("there is no %v in %s", f.Objects[0], folder)
	return nil
}

// unconfirmed says why what the server did does not confirm a finding; "" is that it does.
func unconfirmed(f *checkup.Finding, refusals []cluster.Refusal) string {
	path := strings.Replace(f.Path, "spec.spec.", "spec.", 1) // of templates, the server leaves one out
	switch f.Code {
	case "ObjectOdd", "AdminAccessPossible":
		if len(refusals) > 0 {
			return "the server refuses it"
		}
		return ""
	case "PoolSurplus": // slices that announce fewer than there are
		path = "spec.pool.resourceSliceCount"
	}
	if len(refusals) != 1 || !strings.Contains(refusals[0].Reason, path+":") {
		return "the server does not refuse " + path
	}
	return ""
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
