package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/explanations"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// printedBy runs a command and returns what it prints to stdout, and its exit code.
func printedBy(args ...string) (text string, code int, notes string) {
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	code = Main(args, streams, demo.Now)
	return out.String(), code, errOut.String()
}

// explanationsOf asks for explanations as JSON.
func explanationsOf(t *testing.T, args ...string) []*explanations.Explanation {
	t.Helper()
	text, _, notes := printedBy(append(append([]string{"explain"}, args...), "-o", "json")...)
	if text == "" {
		return nil // there is nothing to ask about
	}
	list, one := output.ListOf[*explanations.Explanation]{}, explanations.Explanation{}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, notes)
	}
	if list.Kind == "ExplanationList" {
		return list.Items
	}
	if err := json.Unmarshal([]byte(text), &one); err != nil {
		t.Fatal(err)
	}
	return []*explanations.Explanation{&one}
}

// selectorOf is the value of --fix for a fix of an answer.
func selectorOf(e *explanations.Explanation, i int) string {
	kind, name := e.Subject.Kind, e.Subject.Name
	if e.Workload != nil {
		kind, name = e.Workload.Kind, e.Workload.Name
	}
	return fmt.Sprintf("%s/%s:%d", strings.ToLower(kind), name, i+1)
}

// printable reports whether a fix is made by applying what --fix prints.
func printable(f *explanations.Fix) bool {
	return len(f.Changes) > 0 && len(f.Claims) == 0 && f.Timeout == "" && !slices.Contains(append(f.Also, f.Kind), "AddDevices")
}

// checkFixed asks again with files that hold what was printed, and checks that the answer is as the fix said.
func checkFixed(t *testing.T, what string, e *explanations.Explanation, f *explanations.Fix, args ...string) {
	t.Helper()
	for _, again := range explanationsOf(t, args...) {
		if again.Subject != e.Subject {
			continue
		}
		if again.Verdict != "Allocatable" || again.Nodes.Allocatable != f.Nodes {
			t.Errorf("%s: %q: now it is %s on %d nodes, not Allocatable on %d: %s", what, f.Message, again.Verdict, again.Nodes.Allocatable, f.Nodes, again.Message)
		}
		return
	}
	t.Errorf("%s: %q: %v is not asked about any more", what, f.Message, e.Subject)
}

// TestPrintedObjectsAreFixed asks about all that is stuck in the demo cluster, applies the objects that fixes
// print, and asks again.
func TestPrintedObjectsAreFixed(t *testing.T) {
	const cluster = "../../../../internal/demo/cluster"
	checked := 0
	claims, _, _ := printedBy("get", "claims", "-A", "--from", cluster, "-o", `jsonpath={range .items[?(@.state=="Pending")]}claim {.name} {.namespace}{"\n"}{end}`)
	subjects := strings.Split(strings.TrimSpace(claims), "\n")
	subjects = append(subjects, "pod train-0 ml", "pod rerank-0 infer", "pod llama-405b-eval ml")
	for n, line := range subjects {
		subject := strings.Fields(line)
		if len(subject) != 3 || !effort.Full() && n%3 != 0 && subject[0] == "claim" {
			continue
		}
		ask := []string{subject[0], subject[1], "-n", subject[2], "--from", cluster}
		for _, e := range explanationsOf(t, ask...) {
			for i := range e.Fixes {
				f := &e.Fixes[i]
				if !printable(f) {
					continue
				}
				text, code, notes := printedBy(append(append([]string{"explain"}, ask...), "--fix", fmt.Sprint(i+1), "-o", "yaml")...)
				if code != 0 {
					t.Errorf("%s: fix %d: exit code %d: %s", line, i+1, code, notes)
					continue
				}
				file := filepath.Join(t.TempDir(), "fixed.yaml")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				checked++
				checkFixed(t, line, e, f, append(ask, "--from", file)...)
			}
		}
	}
	t.Logf("%d fixes of %d subjects", checked, len(subjects))
	if checked < 8 {
		t.Errorf("only %d fixes were there to be checked", checked)
	}
}

// TestPrintedFilesAreFixed asks about the files of drivers, of several API versions, prints them with fixes,
// and asks again. Lines that have nothing to do with a fix are as before, comments among them.
func TestPrintedFilesAreFixed(t *testing.T) {
	folders, err := filepath.Glob("../../../../testdata/drivers/*")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for n, folder := range folders {
		files, err := filepath.Glob(folder + "/*.yaml")
		if err != nil {
			t.Fatal(err)
		}
		if !effort.Full() && n%2 == 0 {
			continue
		}
		for _, file := range files {
			for _, e := range explanationsOf(t, "-f", file, "--from", folder) {
				for i := range e.Fixes {
					creates := slices.ContainsFunc(e.Fixes[i].Changes, func(c explain.ObjectChange) bool { return c.Creates })
					if printable(&e.Fixes[i]) && !creates { // what is created is in no file
						checked++
						checkFile(t, file, folder, e, i)
					}
				}
			}
		}
	}
	t.Logf("%d fixes", checked)
	if checked < 10 {
		t.Errorf("only %d fixes were there to be checked", checked)
	}
}

func checkFile(t *testing.T, file, folder string, e *explanations.Explanation, i int) {
	t.Helper()
	f := &e.Fixes[i]
	text, code, notes := printedBy("explain", "-f", file, "--from", folder, "--fix", selectorOf(e, i), "-o", "yaml")
	if code != 0 {
		t.Errorf("%s: fix %s: exit code %d: %s", file, selectorOf(e, i), code, notes)
		return
	}
	before, err := os.ReadFile(file) //nolint:gosec // a file of this repository
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(t.TempDir(), "changed.yaml")
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	lost, added := differentLines(string(before), text)
	if len(lost) > 12*len(f.Changes) || len(added) > 6*len(f.Changes) || slices.ContainsFunc(lost, func(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }) {
		t.Errorf("%s: %q: lines %q became %q", file, f.Message, lost, added)
	}
	checkFixed(t, file, e, f, "-f", changed, "--from", folder)
}

// differentLines are the lines of a text that are not in another, in their order, and the other way round.
func differentLines(before, after string) (lost, added []string) {
	a, b := strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n")
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	next := 0 // of those between, the lines that follow in both are no difference
	for _, line := range a {
		if at := slices.Index(b[next:], line); at >= 0 {
			added = append(added, b[next:next+at]...)
			next += at + 1
			continue
		}
		lost = append(lost, line)
	}
	return lost, append(added, b[next:]...)
}

// TestPodOfAClusterIsPrintedWhole: of pods of a cluster only a part is kept, but a pod is printed with all
// that it has.
func TestPodOfAClusterIsPrintedWhole(t *testing.T) {
	o := inspect.Objects{
		Nodes:   []*corev1.Node{explaintest.Node("n1")},
		Classes: []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}},
		Slices: []*resourcev1.ResourceSlice{{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "d", NodeName: ptr.To("n1"), Pool: resourcev1.ResourcePool{Name: "p", Generation: 1, ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "x"}},
		}}},
		Claims: []*resourcev1.ResourceClaim{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "train-0"}, Spec: resourcev1.ResourceClaimSpec{
			Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1,
			}}}},
		}}},
		Pods: []*corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "p"}, Spec: corev1.PodSpec{
			Containers:     []corev1.Container{{Name: "c", Image: "trainer", Env: []corev1.EnvVar{{Name: "EPOCHS", Value: "3"}}}},
			ResourceClaims: []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr.To("trian-0")}},
		}}},
	}
	fake, err := fakeserver.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(fake)
	defer server.Close()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	text, code, notes := printedBy("explain", "pod", "p", "-n", "ml", "--server", server.URL, "--fix", "1", "-o", "yaml")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, notes)
	}
	for _, part := range []string{"image: trainer", "name: EPOCHS", "resourceClaimName: train-0"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	for _, part := range []string{"status:", "uid:", "resourceVersion:", "trian-0"} {
		if strings.Contains(text, part) {
			t.Errorf("%q in\n%s", part, text)
		}
	}
	text, _, _ = printedBy("explain", "pod", "p", "-n", "ml", "--server", server.URL, "-o", "jsonpath={.fixes[0].commands[0]}")
	if want := "kubectl dra explain pod p -n ml --server " + server.URL + " --fix 1 -o yaml | kubectl replace --force -f - --server " + server.URL; text != want {
		t.Errorf("%s, want %s", text, want)
	}
}
