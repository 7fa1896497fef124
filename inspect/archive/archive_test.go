package archive_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

func demoSnapshot(t *testing.T) *inspect.Snapshot {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	health := demo.Health()
	health[inspect.Pods] = inspect.Health{
		State: inspect.Narrowed, Version: "v1", Namespaces: []string{"dev", "ml"},
		Message: "pods were read only in namespaces dev and ml", Since: time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC),
	}
	delete(health, inspect.Volumes)
	return inspect.New(objects, inspect.Config{
		Revision: 1, Time: demo.Now(), ServerVersion: "v1.36.2", Health: health,
		Features: inspect.DefaultFeatures(36).With(map[inspect.Gate]bool{inspect.GateListTypeAttributes: true}),
	})
}

func write(t *testing.T, s *inspect.Snapshot, opts archive.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := archive.Write(&b, s, opts); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t *testing.T, data []byte) *inspect.Snapshot {
	t.Helper()
	if !archive.Is(bufio.NewReader(bytes.NewReader(data))) {
		t.Error("what was written is not taken for an archive")
	}
	header, result, err := archive.Read(t.Context(), bytes.NewReader(data), "test", manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := header.Config()
	if err != nil {
		t.Fatal(err)
	}
	return inspect.New(result.Objects, config)
}

// TestSchedulerConfig: the configuration of kube-scheduler is kept, and what cannot be read of it is an
// error, not the default.
func TestSchedulerConfig(t *testing.T) {
	const text = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: packing, pluginConfig: [{name: DynamicResources, args: {filterTimeout: 1s}}]}]\n"
	config, err := schedulerconfig.Read([]byte(text), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	s := demoSnapshot(t).WithScheduler(config)
	s = s.WithFeatures(s.Features().With(map[inspect.Gate]bool{inspect.GateSchedulerFilterTimeout: false}))
	back := read(t, write(t, s, archive.Options{}))
	if got := back.Scheduler(); got == nil || got.Text != text || back.Schedules(&corev1.Pod{}) {
		t.Errorf("read back: %v", got)
	}
	back = read(t, write(t, s.WithScheduler(schedulerconfig.Unreadable("it is elsewhere")), archive.Options{}))
	if got := back.Scheduler().Unreadable(); got != "it is elsewhere" {
		t.Errorf("read back: %q", got)
	}
	if _, err := (&archive.Header{Scheduler: strings.Replace(text, "v1", "v9", 1)}).Config(); err == nil {
		t.Error("a configuration of another version is none")
	}
}

// TestRoundTrip: what is read back is saved as the same bytes, and so is what a second reader reads.
func TestRoundTrip(t *testing.T) {
	s := demoSnapshot(t)
	for _, opts := range []archive.Options{{}, {Anonymize: true}} {
		data := write(t, s, opts)
		if !bytes.Equal(data, write(t, s, opts)) {
			t.Errorf("%+v: saving twice gives different bytes", opts)
		}
		back := read(t, data)
		if diff := cmp.Diff(unpacked(t, write(t, back, opts)), unpacked(t, data)); diff != "" {
			t.Errorf("%+v: saving what was read gives something else:\n%s", opts, diff)
		}
		if back.Time() != s.Time() || back.ServerVersion() != s.ServerVersion() {
			t.Errorf("time %v, server %q", back.Time(), back.ServerVersion())
		}
		if diff := cmp.Diff(s.Features().List(), back.Features().List()); diff != "" || back.Features().Source != s.Features().Source || back.Features().Minor != 36 {
			t.Errorf("features: %s, source %q, minor %d", diff, back.Features().Source, back.Features().Minor)
		}
	}
	back := read(t, write(t, s, archive.Options{}))
	for _, resource := range inspect.Resources() {
		if diff := cmp.Diff(s.Health(resource), back.Health(resource)); diff != "" {
			t.Errorf("health of %s: %s", resource, diff)
		}
	}
	if diff := cmp.Diff(s.Objects().Slices, back.Objects().Slices); diff != "" {
		t.Errorf("slices differ:\n%s", diff)
	}
}

func unpacked(t *testing.T, data []byte) string {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zr)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestWhoSetATaintIsSaved: of managed fields only that remains, and a name that only this cluster has is
// replaced.
func TestWhoSetATaintIsSaved(t *testing.T) {
	const rule = `
apiVersion: resource.k8s.io/v1
kind: DeviceTaintRule
metadata: {name: %s, managedFields: [{manager: %s, operation: Update, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:taint": {}}}}]}
spec: {deviceSelector: {}, taint: {key: k, effect: NoSchedule}}
---`
	result, err := manifest.ReadBytes("rules.yaml", []byte(fmt.Sprintf(rule+rule, "a", "kubectl-create", "b", "acme-operator")), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := inspect.New(result.Objects, inspect.Config{Time: demo.Now()})
	for _, anonymize := range []bool{false, true} {
		rules := read(t, write(t, snapshot, archive.Options{Anonymize: anonymize})).Objects().TaintRules
		if a, b := inspect.TaintSetBy(rules[0]), inspect.TaintSetBy(rules[1]); a != "kubectl-create" || b == "" || anonymize == (b == "acme-operator") {
			t.Errorf("anonymized %t: the taints were set by %q and %q", anonymize, a, b)
		}
	}
}

// TestOldWritersAreSaved: so is who writes in an old version of the API, and in which.
func TestOldWritersAreSaved(t *testing.T) {
	const class = `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: c, managedFields: [{manager: acme-operator, operation: Update, apiVersion: resource.k8s.io/v1beta1, time: 2026-11-22T11:00:00Z}]}
---`
	result, err := manifest.ReadBytes("class.yaml", []byte(class), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := inspect.New(result.Objects, inspect.Config{Time: demo.Now()})
	for _, anonymize := range []bool{false, true} {
		got := inspect.OldWriters(read(t, write(t, snapshot, archive.Options{Anonymize: anonymize})).Objects().Classes[0])
		if len(got) != 1 || got[0].APIVersion != "resource.k8s.io/v1beta1" || got[0].Time == nil || got[0].Manager == "" || anonymize == (got[0].Manager == "acme-operator") {
			t.Errorf("anonymized %t: %+v", anonymize, got)
		}
	}
}

// TestAnnouncementsAreSaved: what is done to a claim and since when, and nothing else of the announcement.
func TestAnnouncementsAreSaved(t *testing.T) {
	const claim = `
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: c
  namespace: ml
  annotations: {kubectl-dra.dev/announcement: '{"run":"SECRET","action":"allocate","by":"SECRET","at":"2026-11-22T10:00:00Z","claims":["ml/SECRET"]}'}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
`
	result, err := manifest.ReadBytes("claim.yaml", []byte(claim), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	snapshot := inspect.New(result.Objects, inspect.Config{Time: demo.Now()})
	for _, anonymize := range []bool{false, true} {
		data := write(t, snapshot, archive.Options{Anonymize: anonymize})
		got, ok := inspect.AnnouncementOn(read(t, data).Objects().Claims[0])
		if want := time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC); !ok || got.Action != "allocate" || !got.At.Equal(want) || got.By != "" {
			t.Errorf("anonymized %t: %+v %t", anonymize, got, ok)
		}
	}
}

// TestStandInsAreNotSaved: nodes that nobody gave are derived again.
func TestStandInsAreNotSaved(t *testing.T) {
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	objects.Nodes = nil
	s := inspect.New(objects, inspect.Config{Time: demo.Now()})
	back := read(t, write(t, s, archive.Options{}))
	if !s.NodesAssumed() || !back.NodesAssumed() || len(back.Nodes()) != len(s.Nodes()) {
		t.Errorf("%d nodes, assumed %t; want %d stand-ins", len(back.Nodes()), back.NodesAssumed(), len(s.Nodes()))
	}
}

// private holds SECRET wherever something is left out of an archive, and KEPT where it stays.
const private = `
apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {a: SECRET}, generateName: SECRET, managedFields: [{manager: SECRET}], labels: {l: KEPT-1}}
spec:
  serviceAccountName: SECRET
  containers: [{name: c, image: SECRET, command: [SECRET], args: [SECRET], env: [{name: SECRET, value: SECRET}], envFrom: [{secretRef: {name: SECRET}}]}]
  initContainers: [{name: i, image: SECRET, env: [{name: SECRET, value: SECRET}]}]
  imagePullSecrets: [{name: SECRET}]
  volumes: [{name: v, secret: {secretName: SECRET}}]
  nodeSelector: {zone: KEPT-2}
status: {podIP: SECRET, hostIP: SECRET, conditions: [{type: PodScheduled, status: "False", message: KEPT-3}]}
---
apiVersion: v1
kind: Node
metadata: {name: "n", annotations: {a: SECRET}, labels: {zone: KEPT-4}}
spec: {podCIDR: SECRET, providerID: SECRET, taints: [{key: KEPT-5, effect: NoSchedule}]}
status: {addresses: [{type: InternalIP, address: SECRET}], images: [{names: [SECRET]}], nodeInfo: {machineID: SECRET}, conditions: [{type: Ready, status: "True", message: KEPT-6}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: c, annotations: {a: SECRET}}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}], config: [{opaque: {driver: d, parameters: {p: KEPT-7}}}]}}
status:
  devices: [{driver: d, pool: p, device: x, conditions: [{type: Ready, status: "True", reason: r, message: KEPT-8, lastTransitionTime: "2026-01-01T00:00:00Z"}], data: {a: SECRET}, networkData: {ips: [KEPT-13], hardwareAddress: KEPT-14, interfaceName: KEPT-15}}]
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t}
spec: {metadata: {annotations: {a: SECRET}, labels: {l: KEPT-9}}, spec: {devices: {}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v}
spec: {capacity: {storage: 1Gi}, storageClassName: KEPT-10, csi: {driver: KEPT-11, volumeHandle: SECRET, volumeAttributes: {a: SECRET}, nodeStageSecretRef: {name: SECRET, namespace: SECRET}}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: w}
spec: {capacity: {storage: 1Gi}, nfs: {server: SECRET, path: SECRET}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: x}
spec: {capacity: {storage: 1Gi}, cinder: {volumeID: KEPT-16, secretRef: {name: SECRET}}, persistentVolumeReclaimPolicy: Retain}
---
apiVersion: storage.k8s.io/v1
kind: CSINode
metadata: {name: "n", annotations: {a: SECRET}}
spec: {drivers: [{name: KEPT-17, nodeID: SECRET}]}
---
apiVersion: storage.k8s.io/v1
kind: VolumeAttachment
metadata: {name: a}
spec: {attacher: KEPT-18, nodeName: "n", source: {inlineVolumeSpec: {csi: {driver: d, volumeHandle: SECRET, volumeAttributes: {a: SECRET}}}}}
status: {attached: false, attachmentMetadata: {a: SECRET}, attachError: {message: KEPT-19}}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: KEPT-12}
provisioner: p
parameters: {a: SECRET}
mountOptions: [SECRET]
`

func TestNothingPrivateIsSaved(t *testing.T) {
	result, err := manifest.ReadBytes("private.yaml", []byte(private), manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Time: demo.Now()})
	before, err := json.Marshal(s.Objects())
	if err != nil {
		t.Fatal(err)
	}
	text := unpacked(t, write(t, s, archive.Options{}))
	for line := range strings.Lines(text) {
		if i := strings.Index(line, "SECRET"); i >= 0 {
			t.Errorf("%s is saved", line[max(0, i-40):i+6])
		}
	}
	for i := range 19 {
		if kept := fmt.Sprintf("KEPT-%d", i+1); !strings.Contains(text, kept+`"`) {
			t.Errorf("%s is not saved", kept)
		}
	}
	if after, _ := json.Marshal(s.Objects()); !bytes.Equal(before, after) { // it could be marshalled before
		t.Error("saving a snapshot has changed it")
	}
}

// TestAnonymizedNamesAreGone looks for every name of the demo cluster in every string of its anonymized
// archive.
func TestAnonymizedNamesAreGone(t *testing.T) {
	s := demoSnapshot(t)
	old := map[string]bool{}
	o := s.Objects()
	for _, c := range o.Claims {
		old[c.Name], old[c.Namespace] = true, true
	}
	for _, c := range o.Templates {
		old[c.Name] = true
	}
	for _, p := range o.Pods {
		old[p.Name] = true
	}
	for _, n := range o.Nodes {
		old[n.Name] = true
	}
	for _, sl := range o.Slices {
		old[sl.Name], old[sl.Spec.Pool.Name] = true, true
	}
	for _, r := range o.TaintRules {
		old[r.Name] = true
	}
	for _, c := range o.StorageCapacities {
		old[c.Name], old[c.Namespace] = true, true
	}
	for _, v := range o.Volumes {
		old[v.Name] = true
	}
	for _, v := range o.VolumeClaims {
		old[v.Name], old[v.Namespace] = true, true
	}
	if len(old) < 100 {
		t.Fatalf("only %d names", len(old))
	}
	// Where a name names no object but an entry of the pod itself.
	allowed := map[string]bool{"Pod.spec.resourceClaims[].name": true, "Pod.spec.containers[].resources.claims[].name": true}
	var look func(path string, v any)
	look = func(path string, v any) {
		switch v := v.(type) {
		case string:
			for word := range strings.FieldsFuncSeq(v, func(r rune) bool { return strings.ContainsRune(" /,;:\"'()", r) }) {
				if old[word] && !allowed[path] {
					t.Errorf("%s holds the name %q: %s", path, word, v)
				}
			}
		case map[string]any:
			for key, value := range v {
				look(path+"."+key, value)
			}
		case []any:
			for _, value := range v {
				look(path+"[]", value)
			}
		}
	}
	decoder := json.NewDecoder(strings.NewReader(unpacked(t, write(t, s, archive.Options{Anonymize: true}))))
	for decoder.More() {
		var v map[string]any
		if err := decoder.Decode(&v); err != nil {
			t.Fatal(err)
		}
		look(fmt.Sprint(v["kind"]), v)
	}
}

// TestAnonymizedNamesKeepTheirOrder: the allocator's choice depends on it.
func TestAnonymizedNamesKeepTheirOrder(t *testing.T) {
	s := demoSnapshot(t)
	back := read(t, write(t, s, archive.Options{Anonymize: true}))
	same := func(what string, old, renamed []string) {
		t.Helper()
		if len(old) != len(renamed) || !slices.IsSorted(old) || !slices.IsSorted(renamed) {
			t.Errorf("%s: %v is renamed to %v", what, old, renamed)
		}
		for i := 1; i < min(len(old), len(renamed)); i++ {
			if (old[i] == old[i-1]) != (renamed[i] == renamed[i-1]) {
				t.Errorf("%s: %v is renamed to %v", what, old, renamed)
			}
		}
	}
	var names [2][3][]string
	for i, snapshot := range []*inspect.Snapshot{s, back} {
		for _, n := range snapshot.Nodes() {
			names[i][0] = append(names[i][0], n.Name)
		}
		for _, p := range snapshot.PoolStatuses() {
			names[i][1] = append(names[i][1], p.ID.Driver+" "+p.ID.Pool)
		}
		for _, sl := range snapshot.Objects().Slices {
			names[i][2] = append(names[i][2], sl.Name)
		}
	}
	same("nodes", names[0][0], names[1][0])
	same("pools", names[0][1], names[1][1])
	same("slices", names[0][2], names[1][2])
	renamed := map[string]string{} // of devices and of values of attributes: the same text by the same, another by another
	become := func(old, now string) {
		if before, ok := renamed[old]; ok && before != now {
			t.Errorf("%q becomes %q and %q", old, before, now)
		}
		renamed[old] = now
	}
	for i, sl := range s.Objects().Slices { // the same slice, not just any
		other := back.Objects().Slices[i]
		if len(sl.Spec.Devices) != len(other.Spec.Devices) {
			t.Fatalf("slice %s has %d devices, and then %d", sl.Name, len(sl.Spec.Devices), len(other.Spec.Devices))
		}
		for d := range sl.Spec.Devices {
			become("device "+sl.Spec.Devices[d].Name, "device "+other.Spec.Devices[d].Name)
			for name, attribute := range sl.Spec.Devices[d].Attributes {
				now := other.Spec.Devices[d].Attributes[name] // those of the demo cluster are public
				if attribute.StringValue != nil {
					become(*attribute.StringValue, *now.StringValue)
					attribute.StringValue, now.StringValue = nil, nil
				}
				if diff := cmp.Diff(attribute, now); diff != "" {
					t.Errorf("slice %s, %s: %s", sl.Name, name, diff)
				}
			}
		}
	}
	back2 := map[string]string{}
	for old, now := range renamed {
		if also, ok := back2[now]; ok {
			t.Errorf("%q and %q both become %q", old, also, now)
		}
		back2[now] = old
	}
	if len(renamed) < 100 {
		t.Errorf("only %d texts", len(renamed))
	}
}

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	if _, err := io.WriteString(zw, text); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBrokenArchives(t *testing.T) {
	whole := write(t, demoSnapshot(t), archive.Options{})
	text := unpacked(t, whole)
	damaged := slices.Clone(whole)
	damaged[len(damaged)-6] ^= 0xff // in the checksum
	lines := strings.SplitAfter(text, "\n")
	isPod := func(line string) bool { return strings.HasPrefix(line, `{"kind":"Pod"`) }
	firstPod, pods := slices.IndexFunc(lines, isPod), strings.Count(text, `{"kind":"Pod","apiVersion":"v1","metadata"`)
	tests := map[string]struct {
		data []byte
		want string
	}{
		"half":               {whole[:len(whole)/2], "reading snapshot x: the file is incomplete: save or copy it again"},
		"only the beginning": {whole[:200], "reading snapshot x: the file is incomplete: save or copy it again"},
		"damaged":            {damaged, "reading snapshot x: the file is damaged: gzip: invalid checksum"},
		"objects missing":    {pack(t, strings.Join(slices.Concat(lines[:firstPod], lines[firstPod+10:]), "")), fmt.Sprintf("reading snapshot x: it has %d of %d pods: the file is incomplete: save or copy it again", pods-10, pods)},
		"half a line":        {pack(t, text[:strings.LastIndex(text, "2026-")+5]), fmt.Sprintf("the snapshot is broken: reading x:%d: broken JSON: the text ends within a string; is the file complete?", strings.Count(text, "\n"))},
		"header cut off":     {[]byte(text[:300]), "reading snapshot x: the file is incomplete: save or copy it again"},
		"a later version":    {pack(t, strings.Replace(text, "v1alpha1", "v2", 1)), `it is of "kubectl-dra.dev/v2", kind "Snapshot", and this program reads kubectl-dra.dev/v1alpha1`},
		"no time":            {pack(t, strings.Replace(text, `"time"`, `"tim"`, 1)), "broken header: it has no time"},
		"time is a number":   {pack(t, strings.Replace(text, `"time":"2026-11-20T09:00:00Z"`, `"time":7`, 1)), "broken header: "},
		"broken object":      {pack(t, strings.Replace(text, `"driver":`, `"driver"`, 1)), "x:"},
		"wrong type":         {pack(t, strings.Replace(text, `"allocationMode":"ExactCount","count":1`, `"allocationMode":"ExactCount","count":"x"`, 1)), "spec."},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if !archive.Is(bufio.NewReader(bytes.NewReader(test.data))) {
				t.Error("not taken for an archive")
			}
			_, _, err := archive.Read(t.Context(), bytes.NewReader(test.data), "x", manifest.Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestWhatIsNoArchive(t *testing.T) {
	for name, data := range map[string][]byte{
		"empty": nil, "yaml": []byte("kind: Snapshot\n"), "other json": []byte(`{"kind":"Snapshot","apiVersion":"example.com/v1"}`),
		"an answer": []byte(`{"apiVersion":"kubectl-dra.dev/v1alpha1","kind":"Explanation"}`), "packed yaml": pack(t, "kind: Pod\n"),
		"broken gzip": {0x1f, 0x8b, 0, 0, 0},
	} {
		if archive.Is(bufio.NewReader(bytes.NewReader(data))) {
			t.Errorf("%s is taken for an archive", name)
		}
	}
}

// TestRealDrivers saves what real drivers publish and reads it back.
func TestRealDrivers(t *testing.T) {
	dirs, err := filepath.Glob("../../testdata/drivers/*")
	if err != nil || len(dirs) < 10 {
		t.Fatalf("%d folders: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			continue
		}
		result, err := manifest.Read(t.Context(), []string{dir}, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s := inspect.New(result.Objects, inspect.Config{Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor), Health: result.Health})
		for _, opts := range []archive.Options{{}, {Anonymize: true}} {
			data := write(t, s, opts)
			if diff := cmp.Diff(unpacked(t, data), unpacked(t, write(t, read(t, data), opts))); diff != "" {
				t.Errorf("%s, %+v: saving what was read gives something else:\n%s", dir, opts, diff)
			}
		}
	}
}
