package manifest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	classA = `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"a"}}`
	classB = `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"b"}}`
	yamlA  = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata:\n  name: a\n"
	yamlB  = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata:\n  name: b\n"
)

func classNames(o *inspect.Objects) string {
	var names []string
	for _, class := range o.Classes {
		names = append(names, class.Name)
	}
	return strings.Join(names, " ")
}

func TestFormats(t *testing.T) {
	for name, text := range map[string]string{
		"YAML documents":             yamlB + "---\n" + yamlA,
		"YAML with CRLF":             strings.ReplaceAll(yamlB+"---\n"+yamlA, "\n", "\r\n"),
		"marker with comment":        "--- # first\n" + yamlA + "--- # second\n" + yamlB + "---\n",
		"document end markers":       "%YAML 1.1\n---\n" + yamlA + "...\n---\n" + yamlB + "...\n",
		"empty documents":            "# nothing\n---\n---\n" + yamlA + "---\n# nothing either\n---\nnull\n---\n" + yamlB,
		"document on marker line":    "--- " + classA + "\n--- " + classB + "\n",
		"byte order mark":            "\xef\xbb\xbf" + yamlA + "---\n" + yamlB,
		"JSON values":                classB + classA,
		"JSON values on lines":       "\n" + classB + "\n\n" + classA + "\n",
		"JSON between markers":       classB + "\n---\n" + classA,
		"JSON, then YAML":            classB + "\n---\n" + yamlA,
		"v1 List":                    `{"kind":"List","apiVersion":"v1","items":[` + classB + `,` + classA + `]}`,
		"List after its items":       `{"items":[` + classB + `,` + classA + `],"kind":"List","apiVersion":"v1"}`,
		"List in a List":             `{"kind":"List","items":[{"kind":"List","items":[` + classB + `]},` + classA + `]}`,
		"typed list":                 `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClassList","items":[{"metadata":{"name":"b"}},{"metadata":{"name":"a"}}]}`,
		"typed list in YAML":         "apiVersion: resource.k8s.io/v1\nkind: DeviceClassList\nitems:\n- metadata: {name: a}\n- metadata: {name: b}\n",
		"KYAML":                      "---\n{\n  # comment\n  apiVersion: \"resource.k8s.io/v1\",\n  kind: \"DeviceClass\",\n  metadata: {name: \"a\",},\n}\n---\n" + yamlB,
		"the same object twice":      yamlA + "---\n" + yamlB + "---\n" + yamlA,
		"gzip":                       gzipped(t, yamlA+"---\n"+yamlB),
		"gzip of JSON":               gzipped(t, classA+classB),
		"UTF-16, as from PowerShell": utf16LE(yamlA + "---\r\n" + yamlB),
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadBytes("file", []byte(text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := classNames(&r.Objects); got != "a b" || len(r.Warnings) != 0 {
				t.Errorf("got classes %q and warnings %v", got, r.Warnings)
			}
			want := map[inspect.Resource]inspect.Health{
				inspect.Classes: {State: inspect.Synced, Version: "resource.k8s.io/v1"},
			}
			if diff := cmp.Diff(want, r.Health); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func utf16LE(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

// A list beyond largeYAML is cut into items; it must give what the same list gives as a whole.
func TestLargeYAMLListEqualsSmall(t *testing.T) {
	for name, format := range map[string]struct{ begin, item, end string }{
		"items at the margin": {
			"apiVersion: v1\nitems:\n", "- apiVersion: v1\n  kind: Pod\n  metadata: {name: p@}\n  spec:\n    hostname: |-\n      - x\n    containers:\n    - name: c\n      args:\n      - --a\n\n", "kind: List\nmetadata:\n  resourceVersion: \"\"\n",
		},
		"items indented": {
			"# made by hand\nkind: PodList\napiVersion: v1\nitems:\n", "  # one\n  - metadata:\n      name: p@\n    spec: {containers: [{name: c}]}\n", "",
		},
		"aliases across items": {
			"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: first}\n  spec: &spec {hostname: h}\n", "- {apiVersion: v1, kind: Pod, metadata: {name: p@}, spec: *spec}\n", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			build := func(n int) []byte {
				var b strings.Builder
				b.WriteString(format.begin)
				for i := range n {
					b.WriteString(strings.ReplaceAll(format.item, "@", strings.Repeat("0", i%7)+string(rune('a'+i%26))+itoa(i)))
				}
				b.WriteString(format.end)
				return []byte(b.String())
			}
			n := largeYAML/len(format.item) + 100
			large := build(n)
			if len(large) <= largeYAML {
				t.Fatal("not large")
			}
			r, err := ReadBytes("large.yaml", large, Options{})
			if err != nil {
				t.Fatal(err)
			}
			small, _, err := yamlToJSON(large)
			if err != nil {
				t.Fatal(err)
			}
			whole, err := ReadBytes("whole.json", small, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Objects.Pods) < n {
				t.Errorf("got %d pods of %d", len(r.Objects.Pods), n)
			}
			if !slices.EqualFunc(r.Objects.Pods, whole.Objects.Pods, func(a, b *corev1.Pod) bool { return reflect.DeepEqual(a, b) }) {
				t.Error("the cut list gives other pods than the whole one")
			}
			if len(r.Warnings) != len(whole.Warnings) {
				t.Errorf("%d warnings, but %d for the whole", len(r.Warnings), len(whole.Warnings))
			}
		})
	}
}

func itoa(i int) string { return string(appendInt(nil, i)) }

func appendInt(b []byte, i int) []byte {
	if i >= 10 {
		b = appendInt(b, i/10)
	}
	return append(b, byte('0'+i%10))
}

// A file that kubectl was writing when the disk was full must not pass as a smaller cluster.
func TestCutOffListIsAnError(t *testing.T) {
	list := "apiVersion: v1\nitems:\n" + strings.Repeat("- apiVersion: v1\n  kind: ConfigMap\n", 40000)
	for name, text := range map[string]string{"small": list[:200], "large": list} {
		_, err := ReadBytes(name, []byte(text), Options{})
		var e *Error
		if !errors.As(err, &e) || e.Code != Syntax || e.Path != "kind" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestReadDirectory(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("2.yaml", yamlB)
	write("sub/deep/1.YML", yamlA)
	write("sub/3.json", strings.ReplaceAll(classA, `"a"`, `"c"`))
	write("README.md", "no manifest")
	write(".hidden.yaml", "{ broken")
	write(".git/x.yaml", "{ broken")
	for link, target := range map[string]string{
		"sub/loop": "..", "self": "self", "dangling.yaml": "nowhere", "link.yaml": "2.yaml", "again": "sub",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	r, err := Read(context.Background(), []string{dir, "-"}, Options{Stdin: strings.NewReader(strings.ReplaceAll(yamlA, ": a", ": d"))})
	if err != nil {
		t.Fatal(err)
	}
	if got := classNames(&r.Objects); got != "a b c d" {
		t.Errorf("got classes %q", got)
	}
}

// TestLinksOutOfADirectory: a directory may come from anybody, and does not decide what is read besides it.
func TestLinksOutOfADirectory(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "report")
	for _, err := range []error{
		os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(parent, "mine.yaml"), []byte(yamlA), 0o600),
		os.WriteFile(filepath.Join(dir, "its.yaml"), []byte(strings.ReplaceAll(yamlA, ": a", ": b")), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"file.yaml": "../mine.yaml", "up": "..", "up.yaml": parent} {
		path := filepath.Join(dir, link)
		if err := os.Symlink(target, path); err != nil {
			t.Skip("no symbolic links here:", err)
		}
		r, err := Read(context.Background(), []string{dir}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := classNames(&r.Objects); got != "b" {
			t.Errorf("%s: got classes %q", link, got)
		}
		if len(r.Failures) != 1 || r.Failures[0].Source != path || !strings.Contains(r.Failures[0].Detail, "leads out of the directory") {
			t.Errorf("%s: got failures %v", link, r.Failures)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Read(ctx, []string{"-"}, Options{Stdin: strings.NewReader(classA)})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	_, err = Read(ctx, []string{t.TempDir()}, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSkippedAndGone(t *testing.T) {
	text := `
apiVersion: apps/v1
kind: Deployment
---
apiVersion: apps/v1
kind: Deployment
---
apiVersion: example.com/v1
kind: WidgetList
items: [{}, {}, {}]
---
replicas: 3
---
apiversion: v1
kind: Pod
---
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClaim
metadata: {name: old, namespace: ns}
---
apiVersion: resource.k8s.io/v1alpha4
kind: ResourceSlice
metadata: {name: never}
---
apiVersion: storage.k8s.io/v1alpha1
kind: CSIStorageCapacity
---
apiVersion: resource.k8s.io/v1alpha2
kind: PodSchedulingContext
---
apiVersion: v2
kind: Pod
`
	r, err := ReadBytes("mixed.yaml", []byte(text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]int{
		"apps/v1 Deployment": 2, "example.com/v1 Widget": 3, "(no apiVersion or kind)": 2,
		"resource.k8s.io/v1alpha2 ResourceClaim": 1, "resource.k8s.io/v1alpha4 ResourceSlice": 1,
		"storage.k8s.io/v1alpha1 CSIStorageCapacity": 1, "resource.k8s.io/v1alpha2 PodSchedulingContext": 1, "v2 Pod": 1,
	}
	if diff := cmp.Diff(want, r.Skipped); diff != "" {
		t.Error(diff)
	}
	checkWarnings(t, r.Warnings, []string{
		"mixed.yaml:12: left out: it has no apiVersion, so it is not a Kubernetes object",
		`mixed.yaml:14: Pod: left out: the field must be written "apiVersion", not "apiversion"`,
		"mixed.yaml:17: ResourceClaim ns/old: apiVersion: resource.k8s.io/v1alpha2 is the first API",
		"mixed.yaml:21: ResourceSlice never: apiVersion: resource.k8s.io/v1alpha4 is served by no current",
		"mixed.yaml:25: CSIStorageCapacity", "PodSchedulingContext (without name): apiVersion: resource.k8s.io/v1alpha2 is the first API",
	})
	if len(r.Failures) != 1 || r.Failures[0].Code != Newer || r.Health[inspect.Pods].State != inspect.Incomplete {
		t.Errorf("a newer version: %v, %+v", r.Failures, r.Health[inspect.Pods])
	}
}

func TestOrderNamesAndNamespaces(t *testing.T) {
	text := `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: z, namespace: a}
---
apiVersion: resource.k8s.io/v1beta2
kind: ResourceClaim
metadata: {name: a}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {generateName: made-, namespace: a}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {generateName: made-, namespace: a}
---
apiVersion: v1
kind: Node
metadata: {name: node, namespace: odd}
`
	r, err := ReadBytes("x", []byte(text), Options{Namespace: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, claim := range r.Objects.Claims {
		got = append(got, claim.Namespace+"/"+claim.Name+" "+claim.APIVersion+" "+claim.Kind)
	}
	want := []string{
		"a/made-1 resource.k8s.io/v1 ResourceClaim", "a/made-2 resource.k8s.io/v1 ResourceClaim",
		"a/z resource.k8s.io/v1 ResourceClaim", "mine/a resource.k8s.io/v1 ResourceClaim",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if node := r.Objects.Nodes[0]; node.Namespace != "" {
		t.Errorf("a node got the namespace %q", node.Namespace)
	}
	if got := r.Health[inspect.Claims].Version; got != "resource.k8s.io/v1, resource.k8s.io/v1beta2" {
		t.Errorf("got versions %q", got)
	}
}

// The same claim in every version that ever had it must become the same object.
func TestVersionsOfAClaim(t *testing.T) {
	flat := `
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - name: r
      deviceClassName: gpu
      selectors: [{cel: {expression: "true"}}]
      tolerations: [{key: k, effect: NoSchedule}]
    - name: s
      firstAvailable:
      - {name: all, deviceClassName: gpu, allocationMode: All}
      - {name: two, deviceClassName: gpu, count: 2}
`
	nested := `
kind: ResourceClaim
metadata: {name: c}
spec:
  devices:
    requests:
    - name: r
      exactly:
        deviceClassName: gpu
        selectors: [{cel: {expression: "true"}}]
        tolerations: [{key: k, effect: NoSchedule}]
    - name: s
      firstAvailable:
      - {name: all, deviceClassName: gpu, allocationMode: All}
      - {name: two, deviceClassName: gpu, count: 2}
`
	want := resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{
		{Name: "r", Exactly: &resourcev1.ExactDeviceRequest{
			DeviceClassName: "gpu", AllocationMode: "ExactCount", Count: 1,
			Selectors:   []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: "true"}}},
			Tolerations: []resourcev1.DeviceToleration{{Key: "k", Operator: "Equal", Effect: "NoSchedule"}},
		}},
		{Name: "s", FirstAvailable: []resourcev1.DeviceSubRequest{
			{Name: "all", DeviceClassName: "gpu", AllocationMode: "All"},
			{Name: "two", DeviceClassName: "gpu", AllocationMode: "ExactCount", Count: 2},
		}},
	}}
	for version, text := range map[string]string{"v1alpha3": flat, "v1beta1": flat, "v1beta2": nested, "v1": nested} {
		r, err := ReadBytes(version, []byte("apiVersion: resource.k8s.io/"+version+text), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Warnings) > 0 {
			t.Errorf("%s: %v", version, r.Warnings)
		}
		if diff := cmp.Diff(want, r.Objects.Claims[0].Spec.Devices); diff != "" {
			t.Errorf("%s: %s", version, diff)
		}
	}
}

// TestObjectsWithoutName: nothing could refer to such an object, and no server has one.
func TestObjectsWithoutName(t *testing.T) {
	r, err := ReadBytes("f", []byte(`{"apiVersion":"v1","kind":"NodeList","items":[{},{"metadata":{"name":"n"}},{"metadata":{"generateName":"g-"}}]}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, node := range r.Objects.Nodes {
		names = append(names, node.Name)
	}
	if !slices.Equal(names, []string{"g-1", "n"}) {
		t.Errorf("nodes %q, want g-1 and n", names)
	}
	checkWarnings(t, r.Warnings, []string{"Node (without name): metadata.name: left out"})
}
