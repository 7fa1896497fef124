package archive_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// planter puts a secret of its own into every string that there is.
type planter struct {
	n     int
	forms []string // of secrets, by turns
	paths map[string]string
}

func (p *planter) secret(path string) string {
	s := fmt.Sprintf(p.forms[p.n%len(p.forms)], p.n)
	p.paths[s] = path
	p.n++
	return s
}

func (p *planter) plant(path string, v reflect.Value) {
	switch o := v.Addr().Interface().(type) {
	case *metav1.Time, *metav1.MicroTime, *metav1.TypeMeta:
		return
	case *resource.Quantity:
		*o = resource.MustParse("5")
		return
	case *runtime.RawExtension:
		o.Raw = fmt.Appendf(nil, `{"%s":"%s"}`, p.secret(path+" key"), p.secret(path))
		return
	case *metav1.FieldsV1:
		o.SetRawString(fmt.Sprintf(`{"f:%s":{}}`, p.secret(path)))
		return
	case *resourcev1.CELDeviceSelector:
		o.Expression = fmt.Sprintf(`device.attributes["%s"].secret%d == '%s' && %s("%s") // %s`,
			p.secret(path), p.n, p.secret(path), "quantity", p.secret(path), p.secret(path))
		p.paths[fmt.Sprintf("secret%d", p.n-1)] = path + " identifier"
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		p.plant(path, v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		p.plant(path+"[0]", v.Index(0))
		p.plant(path+"[1]", v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		p.plant(path+" key", key)
		p.plant(path+" value", value)
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Type().Field(i); field.IsExported() {
				p.plant(path+"."+field.Name, v.Field(i))
			}
		}
	case reflect.String:
		v.SetString(p.secret(path))
	}
}

// TestNoSecretIsInAnAnonymizedArchive plants one into every string field of every kind, map keys and
// enumerations too, in several forms.
func TestNoSecretIsInAnAnonymizedArchive(t *testing.T) {
	for _, forms := range [][]string{
		{"sec-%dx"}, {"Secret/%dx"}, {"10.%d.77.7"}, {"1.2.3-sec%dx", "v1.2.%d-secret"}, {"system:secret:%dx", "secret.kubernetes.io/x%dx"},
		{"02:42:ac:%d:11:02", "4d%d9b0e-6f0e-4c1a-9a7e-0123456789ab", "fd00::%d:77"}, {"deviceclass.resource.kubernetes.io/sec%dx", "example.com/sec%dx"},
		{"Sec %d, \"quoted\" \\ and\nlines", "geheim-ß-%d"},
	} {
		p := &planter{forms: forms, paths: map[string]string{}}
		var o inspect.Objects
		p.plant("", reflect.ValueOf(&o).Elem())
		if p.n < 2000 {
			t.Errorf("only %d secrets are planted", p.n)
		}
		s := inspect.New(o, inspect.Config{Time: demo.Now(), ServerVersion: "v1.37.0-" + p.secret("server version"), Health: map[inspect.Resource]inspect.Health{
			inspect.Pods: {State: inspect.Narrowed, Namespaces: []string{p.secret("health")}, Message: p.secret("health message"), Since: time.Time{}},
		}})
		text := unpacked(t, write(t, s, archive.Options{Anonymize: true}))
		for _, form := range append(forms, "secret%d") {
			quoted, err := json.Marshal(form)
			if err != nil {
				t.Fatal(err)
			}
			for _, form := range []string{form, strings.Trim(string(quoted), `"`)} {
				pattern := regexp.MustCompile(strings.Replace(regexp.QuoteMeta(form), "%d", "[0-9]+", 1))
				for _, found := range pattern.FindAllString(text, 20) {
					t.Errorf("%q of %s is in the archive", found, p.paths[found])
				}
			}
		}
	}
}

// TestAnonymizedRelease: by whose rules is decided stays, and nothing else of the version.
func TestAnonymizedRelease(t *testing.T) {
	for version, want := range map[string]string{
		"v1.37.1-rc.0.7+secret": "v1.37.1-rc.0", "v1.37.1-secret.5": "v1.37.1", "v1.37": "v1.37", "secret": "unknown", "": "",
	} {
		s := inspect.New(inspect.Objects{}, inspect.Config{Time: demo.Now(), ServerVersion: version})
		if got := read(t, write(t, s, archive.Options{Anonymize: true})).ServerVersion(); got != want {
			t.Errorf("%s becomes %q, want %q", version, got, want)
		}
	}
}

// TestNoMarkIsInAnAnonymizedArchive: the same for objects that refer to each other, as in a cluster. All
// names and texts in the file begin with mk-, in whatever case.
func TestNoMarkIsInAnAnonymizedArchive(t *testing.T) {
	data, err := os.ReadFile("testdata/secrets.yaml")
	if err != nil {
		t.Fatal(err)
	}
	result, err := manifest.ReadBytes("secrets.yaml", data, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := inspect.New(result.Objects, inspect.Config{Time: demo.Now()})
	if n := len(s.Objects().Pods) + len(s.Objects().StorageClasses) + len(s.Objects().VolumeClaims) + len(s.Objects().FlowSchemas); n != 5 {
		t.Fatalf("%d of 5 objects", n)
	}
	text := unpacked(t, write(t, s, archive.Options{Anonymize: true}))
	for _, found := range regexp.MustCompile(`(?i).{0,60}(mk[-_./]|MkKind|10\.[0-9]+\.[0-9]+\.[0-9]+|9\.9\.9\.9).{0,20}`).FindAllString(text, -1) {
		t.Errorf("…%s… is in the archive", found)
	}
	// What refers to each other still does.
	for _, want := range []string{
		`"allowedTopologies":[{"matchLabelExpressions":[{"key":"kubernetes.io/hostname","values":["node-1"]}]}]`,
		`"selector":{"matchLabels":{"kubernetes.io/hostname":"node-1"}}`, `"value":"node-1","effect":"NoSchedule"`,
		`{"string":"node-1"}`, `"nodeName":"node-1"`,
		`"annotations":{"resource.kubernetes.io/pod-claim-name":"podclaim-1"},"ownerReferences":[{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","name":"podgroup-1"`,
		`{"apiGroup":"scheduling.k8s.io","resource":"podgroups","name":"podgroup-1"`, `"schedulingGroup":{"podGroupName":"podgroup-1"}`,
		`"workloadRef":{"workloadName":"owner-2",`, `"name":"owner-2","uid"`,
		`"volumes":[{"name":"podvolume-1","persistentVolumeClaim":{"claimName":"volumeclaim-2"}},{"name":"podvolume-2","ephemeral":{}}]`,
		`{"name":"pod-1-podvolume-2","namespace":"ns-1","annotations":{"volume.kubernetes.io/selected-node":"node-1","volume.kubernetes.io/storage-provisioner":"csi-1"}}`,
		`"attacher":"csi-1","source":{"persistentVolumeName":"volume-1"},"nodeName":"node-1"`, `"drivers":[{"name":"csi-1","nodeID":""`,
		`"storage.alpha.kubernetes.io/migrated-plugins":"kubernetes.io/aws-ebs,value-`, `"kubernetes.io/metadata.name":"ns-1"`,
		`"class-1.deviceclass.resource.k8s.io/devices":"2"`, `"storageclass-1.storageclass.storage.k8s.io/requests.storage":"1Gi"`, `"requests.example.com/resource-2":"1"`,
		`"name":"claim:podclaim-1/request-1"`, `"hostIP":"0.0.0.0"`, `"containerRuntimeVersion":"containerd://1.7.2-value-`, `"status":{"phase":"Active"}`,
		`"minAvailable":"50%"`, `"disruptedPods":{"pod-1":"2026-01-01T00:00:00Z","pod-2":"2026-01-01T00:00:00Z"}`, // although a template has the name
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in the archive", want)
		}
	}
}

// expressionCluster has devices with some models, and a class with an expression.
func expressionCluster(expression string, models ...string) *inspect.Snapshot {
	var o inspect.Objects
	o.Classes = []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: expression}}}}}}
	slice := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Spec: resourcev1.ResourceSliceSpec{Driver: "gpu.acme.com"}}
	for i, model := range models {
		slice.Spec.Devices = append(slice.Spec.Devices, resourcev1.Device{Name: fmt.Sprint("d", i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"model": {StringValue: &models[i]}, "acme_kind": {StringValue: &model}}})
	}
	o.Slices = []*resourcev1.ResourceSlice{slice}
	return inspect.New(o, inspect.Config{Time: demo.Now()})
}

// TestTextsInExpressions: models are X9, Y1 and x9 mini. All texts are numbered in the order of their bytes.
func TestTextsInExpressions(t *testing.T) {
	tests := map[string]struct {
		in, want string
		inexact  int
	}{
		"comparison":        {`device.attributes["gpu.acme.com"].model == "X9"`, `device.attributes["driver-1"].model == "value-1"`, 0},
		"unknown attribute": {`device.attributes["gpu.acme.com"].acme_kind != 'Y1'`, `device.attributes["driver-1"].id_1 != "value-2"`, 0},
		"in brackets":       {`device.attributes['gpu.acme.com']["acme_kind"] in ["X9", r'x9 mini']`, `device.attributes["driver-1"]["id_1"] in ["value-1", "value-3"]`, 0},
		"presence":          {`"acme_kind" in device.attributes["gpu.acme.com"] && "gpu.acme.com" in device.attributes`, `"id_1" in device.attributes["driver-1"] && "driver-1" in device.attributes`, 0},
		"driver":            {`device.driver == "gpu.acme.com"`, `device.driver == "driver-1"`, 0},
		"another driver":    {`device.driver == "nic.acme.com" || "gpu.acme.com" == device.driver`, `device.driver == "driver-2" || "driver-1" == device.driver`, 0},
		"beginning":         {`!device.attributes["gpu.acme.com"].model.startsWith("X")`, `!device.attributes["driver-1"].model.matches("^(?i:value-1|nothing)$")`, 0},
		"without case": {`device.attributes["gpu.acme.com"].model.lowerAscii().matches('^x9.*')`,
			`device.attributes["driver-1"].model.lowerAscii().matches("^(?i:value-1|value-3|nothing)$")`, 0},
		"equal without case": {`device.attributes["gpu.acme.com"].model.lowerAscii() == "x9" || false`,
			`device.attributes["driver-1"].model.lowerAscii().matches("^(?i:value-1|nothing)$") || false`, 0},
		"of the driver":   {`device.driver.endsWith(".acme.com")`, `device.driver.matches("^(?i:driver-1|nothing)$")`, 0},
		"no pattern":      {`device.attributes["gpu.acme.com"].model.matches("(")`, `device.attributes["driver-1"].model.matches("(")`, 0},
		"amounts":         {`device.capacity["gpu.acme.com"].memory.compareTo(quantity("80Gi")) >= 0 && 1.5e3 > 0x1F`, `device.capacity["driver-1"].memory.compareTo(quantity("80Gi")) >= 0 && 1.5e3 > 0x1F`, 0},
		"versions":        {`semver("1.2.3").isLessThan(semver("2.0.0-acme"))`, `semver("1.2.3").isLessThan(semver("2.0.0-value-3"))`, 0},
		"comments, lines": {"// for Acme\ntrue && // X9\n  true", "true && \n  true", 0},
		"variables":       {`cel.bind(acme, device.attributes["gpu.acme.com"], acme.model == "X9")`, `cel.bind(id_1, device.attributes["driver-1"], id_1.model == "value-1")`, 0},
		"escapes":         {`device.attributes["gpu.acme.com"].model == "\x58\u0039"`, `device.attributes["driver-1"].model == "value-1"`, 0},
		"computed":        {`device.attributes["gpu.acme.com"].model.substring(0, 1) == "X"`, `device.attributes["driver-1"].model.substring(0, 1) == "value-1"`, 1},
		"put together":    {`device.attributes["gpu.acme.com"].model == "X" + "9"`, `device.attributes["driver-1"].model == "value-1" + "9"`, 1},
		"by order":        {`device.attributes["gpu.acme.com"].model >= "X9"`, `device.attributes["driver-1"].model >= "value-1"`, 1},
		"no end":          {`device.driver == "acme`, `invalid(`, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s := expressionCluster(tt.in, "X9", "x9 mini", "Y1")
			data := write(t, s, archive.Options{Anonymize: true})
			back := read(t, data)
			if got := back.Objects().Classes[0].Spec.Selectors[0].CEL.Expression; got != tt.want {
				t.Errorf("%s\nbecomes %s\nwant    %s", tt.in, got, tt.want)
			}
			header, _, err := archive.Read(t.Context(), bytes.NewReader(data), "test", manifest.Options{})
			if err != nil || header.InexactSelectors != tt.inexact {
				t.Errorf("%d inexact selectors, want %d: %v", header.InexactSelectors, tt.inexact, err)
			}
		})
	}
}

// FuzzAnonymizeExpression: whatever is written in an expression, nothing of a secret is left of it, and what
// is anonymized twice is anonymized once.
func FuzzAnonymizeExpression(f *testing.F) {
	f.Add(`device.attributes["gpu.acme.com"].model.startsWith("`, `") && 'a' in r"""b""" // `)
	f.Add("b'", `\x41\u0041\101' + .5`)
	f.Add(`"e.com"`, "\")  \xde\xde\xde\xde'\x89\x9a\x9a r\"\"\"b\"\x01\" // ") // strings side by side
	f.Add("'", "'A\t0")                                                         // a blank that is not kept
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "geheimnis"
		if strings.Contains(strings.ToLower(before+after), secret) {
			t.Skip()
		}
		once := write(t, expressionCluster(before+secret+after, "X9", secret), archive.Options{Anonymize: true})
		if text := unpacked(t, once); strings.Contains(text, secret) {
			t.Errorf("%q is left in %s", secret, text)
		}
		if twice := write(t, read(t, once), archive.Options{Anonymize: true}); unpacked(t, twice) != unpacked(t, once) {
			t.Errorf("once  %s\ntwice %s", unpacked(t, once), unpacked(t, twice))
		}
	})
}

// TestAnonymizedScheduler: names in a configuration of kube-scheduler are replaced as in the objects.
func TestAnonymizedScheduler(t *testing.T) {
	const text = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: /secret/file}
leaderElection: {leaderElect: true, resourceName: secret-lease}
profiles:
- schedulerName: secret-scheduler
  plugins: {filter: {enabled: [{name: SecretPlugin}], disabled: [{name: NodePorts}]}, score: {disabled: [{name: '*'}]}}
  pluginConfig:
  - {name: SecretPlugin, args: {secret: secret}}
  - {name: NodeAffinity, args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: secret.io/label, operator: In, values: [secret-value]}]}]}}}}
  - {name: NodeResourcesFit, args: {ignoredResources: [secret.io/one], ignoredResourceGroups: [secret.org], scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 2}, {name: secret.io/two, weight: 3}]}}}
  - {name: NodeResourcesBalancedAllocation, args: {resources: [{name: secret.io/two, weight: 1}]}}
  - {name: PodTopologySpread, args: {defaultingType: List, defaultConstraints: [{maxSkew: 1, topologyKey: secret.io/label, whenUnsatisfiable: DoNotSchedule}]}}
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 7}}
extenders:
- {urlPrefix: 'http://secret:1/a', filterVerb: secret, ignorable: true, managedResources: [{name: secret.io/two, ignoredByScheduler: true}]}
`
	config, err := schedulerconfig.Read([]byte(text), func(string) bool { return true })
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "secret-node", Labels: map[string]string{"secret.io/label": "secret-value"}}}
	node.Status.Allocatable = corev1.ResourceList{"secret.org/x": resource.MustParse("1"), "secret.io/two": resource.MustParse("1")}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "secret-pod"}, Spec: corev1.PodSpec{SchedulerName: "secret-scheduler"}}
	s := inspect.New(inspect.Objects{Nodes: []*corev1.Node{node}, Pods: []*corev1.Pod{pod}}, inspect.Config{Time: time.Unix(1_800_000_000, 0), Scheduler: config.From("ConfigMap kube-system/secret")})
	var saved bytes.Buffer
	header, err := archive.Write(&saved, s, archive.Options{Anonymize: true, Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(strings.ToLower(saved.String()), "secret"); at >= 0 {
		t.Errorf("it has …%.80s", saved.String()[max(0, at-20):])
	}
	_, read, err := archive.Read(t.Context(), &saved, "saved", manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	back, err := header.Config()
	if err != nil {
		t.Fatal(err)
	}
	profile, ok := back.Scheduler.Profile(read.Objects.Pods[0].Spec.SchedulerName)
	if !ok || profile.On("NodePorts", schedulerconfig.Filter) || !profile.On("NodeName", schedulerconfig.Filter) || len(profile.Foreign(schedulerconfig.Filter)) != 1 {
		t.Fatalf("the pod has scheduler %q, the profiles are %v", read.Objects.Pods[0].Spec.SchedulerName, back.Scheduler.Names())
	}
	labels := read.Objects.Nodes[0].Labels
	wanted := profile.AddedAffinity().NodeSelectorTerms[0].MatchExpressions[0]
	if labels[wanted.Key] != wanted.Values[0] {
		t.Errorf("addedAffinity wants %v, the node has labels %v", wanted, labels)
	}
	ignored := 0
	for name := range read.Objects.Nodes[0].Status.Allocatable {
		if profile.Ignores(name) { // one by its group, the other by the extender
			ignored++
		}
	}
	if weight, _ := profile.Neighbours(); ignored != 2 || weight != 7 || profile.Strategy().Resources[1].Weight != 3 {
		t.Errorf("of two resources %d are ignored, the weight is %d", ignored, weight)
	}
}

// TestAnonymizedKueue: names in a configuration of Kueue are replaced as in the objects, and it decides
// alike.
func TestAnonymizedKueue(t *testing.T) {
	const text = `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: secret-ns
metrics: {bindAddress: secret}
managedJobsNamespaceSelector: {matchLabels: {secret.io/label: secret-value}}
integrations: {frameworks: [batch/job, pod], externalFrameworks: [secret.v1.example.com], labelKeysToCopy: [secret]}
admissionFairSharing: {usageHalfLifeTime: 168h, resourceWeights: {secret.io/two: 2}}
featureGates: {SecretGate: true, "not a gate: secret": true}
resources:
  quotaCheckStrategy: IgnoreUndeclared
  excludeResourcePrefixes: [secret.org]
  transformations: [{input: secret.io/two, strategy: Replace, outputs: {secret.io/three: 4}}]
  deviceClassMappings:
  - {name: secret.io/gpu, deviceClassNames: [secret-class], sources: [{counter: {name: secretCounter, driver: secret.io, deviceSelector: {cel: {expression: 'device.driver == "secret.io"'}}}}]}
  secretField: secret
`
	config, err := kueueconfig.Read([]byte(text), "OtherGate=false")
	if err != nil {
		t.Fatal(err)
	}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "secret-node"}}
	node.Status.Allocatable = corev1.ResourceList{"secret.org/x": resource.MustParse("1"), "secret.io/two": resource.MustParse("1")}
	class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "secret-class"}}
	s := inspect.New(inspect.Objects{Nodes: []*corev1.Node{node}, Classes: []*resourcev1.DeviceClass{class}},
		inspect.Config{Time: time.Unix(1_800_000_000, 0), Kueue: config.From("ConfigMap secret/secret", "0.19.1")})
	if got := read(t, write(t, s, archive.Options{})).Kueue(); !got.Same(s.Kueue()) || got.Gates()["OtherGate"] {
		t.Errorf("kept as %+v", got)
	}
	saved := write(t, s, archive.Options{Anonymize: true, Plain: true})
	hidden := strings.NewReplacer("SecretGate", "").Replace(string(saved))
	if at := strings.Index(strings.ToLower(hidden), "secret"); at >= 0 {
		t.Errorf("it has …%.80s", hidden[max(0, at-20):])
	}
	back := read(t, saved)
	got, resources := back.Kueue(), back.Kueue().Settings().Resources
	allocatable := back.Nodes()[0].Status.Allocatable
	if _, ok := allocatable[corev1.ResourceName(resources.ExcludeResourcePrefixes[0])]; !ok || len(allocatable) != 2 {
		t.Errorf("%q is excluded, the node has %v", resources.ExcludeResourcePrefixes, allocatable)
	}
	if _, ok := allocatable[resources.Transformations[0].Input]; !ok || resources.Transformations[0].Strategy != "Replace" {
		t.Errorf("transformations %+v, the node has %v", resources.Transformations, allocatable)
	}
	if _, ok := back.Class(string(resources.DeviceClassMappings[0].DeviceClassNames[0])); !ok || len(got.Unknown()) != 1 || !got.Gates()["SecretGate"] || got.Version != "0.19.1" {
		t.Errorf("%+v, unknown %q, gates %v", resources.DeviceClassMappings, got.Unknown(), got.Gates())
	}
}
