package manifest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A claim, a slice or another object is given as the JSON of its spec; each test names one part of every
// warning that must come, and none other may.
func TestClaimWarnings(t *testing.T) {
	exactly := func(fields string) string {
		return `{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c",` + fields + `}}]}}`
	}
	requests := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"name":"r%d","exactly":{"deviceClassName":"c"}}`, i))
		}
		return `{"devices":{"requests":[` + strings.Join(list, ",") + `]}}`
	}
	with := func(rest string) string {
		return `{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}},` +
			`{"name":"s","firstAvailable":[{"name":"x","deviceClassName":"c"}]}],` + rest + `}}`
	}
	selectors := func(n int) string {
		return exactly(`"selectors":[` + strings.TrimSuffix(strings.Repeat(`{"cel":{"expression":"true"}},`, n), ",") + `]`)
	}
	for name, test := range map[string]struct {
		spec string
		want []string
	}{
		"fine":                   {exactly(`"count":3`), nil},
		"no requests":            {`{}`, []string{"spec.devices.requests: accepted, but there is no request"}},
		"32 requests":            {requests(32), nil},
		"33 requests":            {requests(33), []string{"spec.devices.requests: Too many: 33: must have at most 32 items"}},
		"request without name":   {`{"devices":{"requests":[{"exactly":{"deviceClassName":"c"}}]}}`, []string{"requests[0].name: Required"}},
		"bad request name":       {`{"devices":{"requests":[{"name":"R.1","exactly":{"deviceClassName":"c"}}]}}`, []string{`requests[0].name: Invalid value: "R.1"`}},
		"requests of one name":   {`{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}},{"name":"r","exactly":{"deviceClassName":"c"}}]}}`, []string{`requests[1].name: Duplicate value: "r"`}},
		"neither":                {`{"devices":{"requests":[{"name":"r"}]}}`, []string{"requests[0]: Required value: exactly one of exactly and firstAvailable"}},
		"both":                   {`{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"},"firstAvailable":[{"name":"s","deviceClassName":"c"}]}]}}`, []string{"requests[0]: Forbidden: exactly one of exactly and firstAvailable"}},
		"no class":               {`{"devices":{"requests":[{"name":"r","exactly":{}}]}}`, []string{"exactly.deviceClassName: Required"}},
		"count 0 is the default": {exactly(`"count":0`), nil},
		"negative count":         {exactly(`"count":-1`), []string{"exactly.count: Invalid value: -1: must be greater than zero"}},
		"count with All":         {exactly(`"allocationMode":"All","count":2`), []string{"exactly.count: Invalid value: 2: must not be set"}},
		"unknown mode":           {exactly(`"allocationMode":"Some"`), []string{`exactly.allocationMode: Unsupported value: "Some"`}},
		"32 selectors":           {selectors(32), nil},
		"33 selectors":           {selectors(33), []string{"exactly.selectors: Too many: 33"}},
		"selector without CEL":   {exactly(`"selectors":[{}]`), []string{"selectors[0].cel: Required"}},
		"empty expression":       {exactly(`"selectors":[{"cel":{"expression":" "}}]`), []string{"selectors[0].cel.expression: Required"}},
		"long expression":        {exactly(`"selectors":[{"cel":{"expression":"` + strings.Repeat("x", 10241) + `"}}]`), []string{"selectors[0].cel.expression: Too long: may not be more than 10240 bytes"}},
		"toleration operator":    {exactly(`"tolerations":[{"key":"k","operator":"In"}]`), []string{`tolerations[0].operator: Unsupported value: "In"`}},
		"toleration value":       {exactly(`"tolerations":[{"key":"k","operator":"Exists","value":"v"}]`), []string{"tolerations[0].value: Invalid"}},
		"toleration effect":      {exactly(`"tolerations":[{"key":"k","effect":"PreferNoSchedule"}]`), []string{`tolerations[0].effect: Unsupported value: "PreferNoSchedule"`}},
		"negative capacity":      {exactly(`"capacity":{"requests":{"memory":"-1"}}`), []string{"capacity.requests[memory]: Invalid value: \"-1\": must not be negative (from Kubernetes 1.38 on)", "capacity.requests[memory]: accepted, but a negative capacity (-1)"}},
		"9 alternatives": {`{"devices":{"requests":[{"name":"r","firstAvailable":[` +
			strings.TrimSuffix(strings.Repeat(`{"name":"s","deviceClassName":"c"},`, 9), ",") + `]}]}}`, []string{"firstAvailable: Too many: 9"}},
		"alternatives of one name": {`{"devices":{"requests":[{"name":"r","firstAvailable":[{"name":"s","deviceClassName":"c"},{"name":"s","deviceClassName":"c"}]}]}}`,
			[]string{`firstAvailable[1].name: Duplicate value: "s"`}},
		"derived, unused":        {exactly(`"derivedAttributes":[{"name":"d/x","expression":"1"}]`), []string{`derivedAttributes[0].name: Invalid value: "d/x": no constraint`}},
		"constraint, both kinds": {with(`"constraints":[{"matchAttribute":"a/b","distinctAttribute":"a/c"}]`), []string{"constraints[0]: accepted, but only one of"}},
		"constraint, no kind":    {with(`"constraints":[{"requests":["r"]}]`), []string{"constraints[0]: Required value: exactly one of matchAttribute"}},
		"constraint, no domain":  {with(`"constraints":[{"matchAttribute":"numa"}]`), []string{`constraints[0].matchAttribute: Invalid value: "numa": the domain is missing`}},
		"constraint, references": {with(`"constraints":[{"matchAttribute":"a/b","requests":["r","s/x","s","t","r/x","r"]}]`), []string{
			`constraints[0].requests[3]: Invalid value: "t": no such request`, `requests[4]: Invalid value: "r/x": no such request`, `requests[5]: Duplicate value: "r"`,
		}},
		"config, references": {with(`"config":[{"requests":["t"],"opaque":{"driver":"d","parameters":{}}}]`), []string{`config[0].requests[0]: Invalid value: "t": no such request`}},
		"config, not opaque": {with(`"config":[{}]`), []string{"config[0].opaque: Required"}},
		"config, parameters": {with(`"config":[{"opaque":{"driver":"-","parameters":[1]}}]`), []string{`opaque.driver: Invalid value: "-"`, "opaque.parameters: Invalid value: must be an object"}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadBytes("f", []byte(`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":`+test.spec+`}`), Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkWarnings(t, r.Warnings, test.want)
			if len(r.Objects.Claims) != 1 {
				t.Error("the claim is not kept")
			}
		})
	}
}

func TestSliceWarnings(t *testing.T) {
	slice := func(rest string) string {
		return `{"driver":"d.example.com","pool":{"name":"p","resourceSliceCount":1},"nodeName":"n",` + rest + `}`
	}
	device := func(rest string) string { return slice(`"devices":[{"name":"d","` + rest + `}]`) }
	devices := func(n int, rest string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(`{"name":"d%d"%s}`, i, rest))
		}
		return slice(`"devices":[` + strings.Join(list, ",") + `]`)
	}
	attribute := func(value string) string { return device(`attributes":{"x":` + value + `}`) }
	policy := func(value, p string) string {
		return device(`allowMultipleAllocations":true,"capacity":{"x":{"value":"` + value + `","requestPolicy":` + p + `}}`)
	}
	for name, test := range map[string]struct {
		spec string
		want []string
	}{
		"fine": {slice(`"devices":[{"name":"d"}]`), nil},
		"nothing": {`{}`, []string{
			"spec.driver: Required", "spec.pool.name: Required", "spec.pool.resourceSliceCount: Invalid", "spec: Required value: exactly one of nodeName, nodeSelector, allNodes and perDeviceNodeSelection",
		}},
		"names": {`{"driver":"` + strings.Repeat("d", 64) + `","pool":{"name":"a//B","generation":-1,"resourceSliceCount":1},"allNodes":true}`, []string{
			"spec.driver: Too long", `spec.pool.name: Invalid value: ""`, `spec.pool.name: Invalid value: "B"`, "spec.pool.generation: Invalid value: -1",
		}},
		"two kinds of nodes":  {slice(`"allNodes":true`), []string{"spec: Forbidden: exactly one of nodeName, nodeSelector"}},
		"allNodes false":      {`{"driver":"d","pool":{"name":"p","resourceSliceCount":1},"allNodes":false}`, []string{"spec.allNodes: Invalid value: false", "spec: Required"}},
		"two selector terms":  {`{"driver":"d","pool":{"name":"p","resourceSliceCount":1},"nodeSelector":{"nodeSelectorTerms":[{},{}]}}`, []string{"nodeSelectorTerms: Invalid value: 2: must have exactly one term"}},
		"bad selector":        {`{"driver":"d","pool":{"name":"p","resourceSliceCount":1},"nodeSelector":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Like"}]}]}}`, []string{"spec.nodeSelector: Invalid value"}},
		"128 devices":         {devices(128, ""), nil},
		"129 devices":         {devices(129, ""), []string{"spec.devices: Too many: 129: must have at most 128"}},
		"64 with taints":      {devices(64, `,"taints":[{"key":"k","effect":"NoSchedule"}]`), nil},
		"65 with taints":      {devices(65, `,"taints":[{"key":"k","effect":"NoSchedule"}]`), []string{"spec.devices: Too many: 65: must have at most 64"}},
		"65 with lists":       {devices(65, `,"attributes":{"x":{"ints":[1]}}`), []string{"spec.devices: Too many: 65"}},
		"devices of one name": {slice(`"devices":[{"name":"d"},{"name":"d"}]`), []string{`spec.devices[1].name: Duplicate value: "d"`}},
		"bad device name":     {slice(`"devices":[{"name":"GPU_0"}]`), []string{`spec.devices[0].name: Invalid value: "GPU_0"`}},
		"counters and devices": {slice(`"devices":[{"name":"d"}],"sharedCounters":[{"name":"s","counters":{"c":{"value":"1"}}}]`), []string{
			"spec: Forbidden: devices and sharedCounters must be in separate slices",
		}},
		"counter sets": {slice(`"sharedCounters":[{"name":"s"},{"name":"s","counters":{"C":{"value":"-1"}}}]`), []string{
			"sharedCounters[0].counters: Required", `sharedCounters[1].name: Duplicate value: "s"`, `sharedCounters[1].counters[C]: Invalid value: "C"`, "counters[C]: accepted, but a negative counter",
		}},
		"consumption": {device(`consumesCounters":[{"counterSet":"s","counters":{"c":{"value":"1"}},"compatibilityGroups":["a","a"]},{"counterSet":"s"}]`), []string{
			`compatibilityGroups[1]: Duplicate value: "a"`, `consumesCounters[1].counterSet: Duplicate value: "s"`, "consumesCounters[1].counters: Required",
		}},
		"three consumptions":  {device(`consumesCounters":[{},{},{}]`), []string{"consumesCounters: Too many: 3: must have at most 2"}},
		"node of a device":    {device(`nodeName":"n"`), []string{"spec.devices[0]: Forbidden: [nodeName] may only be set"}},
		"device without node": {`{"driver":"d","pool":{"name":"p","resourceSliceCount":1},"perDeviceNodeSelection":true,"devices":[{"name":"d"}]}`, []string{"spec.devices[0]: Required value: exactly one of nodeName, nodeSelector and allNodes"}},
		"taints":              {device(`taints":[{},{"key":"k","effect":"PreferNoSchedule"}]`), []string{"taints[0].key: Required", "taints[0].effect: Required", `taints[1].effect: Unsupported value: "PreferNoSchedule"`}},
		"binding conditions":  {device(`bindingConditions":["a","a"]`), []string{`bindingConditions[1]: Duplicate value: "a"`, "need each other"}},
		"attribute names":     {device(`attributes":{"a-b":{"int":1},"/x":{"int":1},"a/b/c":{"int":1}}`), []string{`attributes[a-b]: Invalid value: "a-b": a valid C identifier`, "attributes[/x]: Invalid value: \"/x\": the domain before the slash is empty", "there is more than one slash"}},
		"attribute, no value": {attribute(`{}`), []string{"attributes[x]: Required value: exactly one of int, bool"}},
		"attribute, two":      {attribute(`{"int":1,"string":"a"}`), []string{"attributes[x]: Forbidden: exactly one of int, bool"}},
		"attribute, empty":    {attribute(`{"strings":[]}`), []string{"attributes[x].strings: Invalid value: \"[]\": must not be empty"}},
		"attribute, long":     {attribute(`{"string":"` + strings.Repeat("x", 65) + `"}`), []string{"attributes[x].string: Too long"}},
		"version":             {attribute(`{"version":"1.02.3"}`), []string{`attributes[x].version: Invalid value: "1.02.3"`}},
		"version, fine":       {attribute(`{"version":"1.2.3-alpha.1+build.5"}`), nil},
		"49 values":           {attribute(`{"ints":[` + strings.Repeat("1,", 48) + `1]}`), []string{"spec.devices[0]: Invalid value: 49: attribute values together may be at most 48"}},
		"negative capacity":   {device(`capacity":{"x":{"value":"-1"}}`), []string{"capacity[x].value: accepted, but a negative capacity"}},
		"policy, not shared":  {device(`capacity":{"x":{"value":"1","requestPolicy":{}}}`), []string{"capacity[x].requestPolicy: Forbidden: the device must have allowMultipleAllocations"}},
		"policy, values": {policy("4", `{"default":"3","validValues":["2","1","1","5"]}`), []string{
			`validValues[1]: Invalid value: "1": values must ascend`, `validValues[2]: Duplicate value: "1"`, `validValues[3]: Invalid value: "5": must not be more than the capacity 4`, "the default must be one of the valid values",
		}},
		"policy, no default": {policy("4", `{"validRange":{"min":"1"}}`), []string{"requestPolicy.default: Required"}},
		"policy, no minimum": {policy("4", `{"default":"1","validRange":{}}`), []string{"validRange.min: Required"}},
		"policy, both":       {policy("4", `{"default":"1","validRange":{"min":"1"},"validValues":["1"]}`), []string{"requestPolicy: Forbidden: validValues and validRange"}},
		"policy, range": {policy("4", `{"default":"6","validRange":{"min":"1","max":"5"}}`), []string{
			`validRange.max: Invalid value: "5": must not be more than the capacity 4`, `validRange.default: Invalid value: "6": must not be more than the maximum 5`,
		}},
		"policy, on step":            {policy("10", `{"default":"3","validRange":{"min":"1","max":"9","step":"2"}}`), nil},
		"policy, off step":           {policy("10", `{"default":"4","validRange":{"min":"1","max":"8","step":"2"}}`), []string{`step: Invalid value: "4": must be a whole number of steps`, `step: Invalid value: "8": must be`}},
		"policy, fractions on step":  {policy("1", `{"default":"300m","validRange":{"min":"100m","step":"100m"}}`), nil},
		"policy, fractions off step": {policy("1", `{"default":"250m","validRange":{"min":"100m","step":"100m"}}`), []string{`step: Invalid value: "250m"`}},
		"policy, no step":            {policy("10", `{"default":"1","validRange":{"min":"1","step":"0"}}`), []string{"step: Invalid value: \"0\": must be greater than zero"}},
		"policy, step of 2^64":       {policy("1e30", `{"default":"1","validRange":{"min":"1","step":"18446744073709551616"}}`), []string{"too large, negative or too fine"}},
		"prepare only":               {slice(`"skipNodeOperations":["NodePrepareResources"]`), []string{"skipNodeOperations: Invalid"}},
		"node resources": {device(`nodeAllocatableResources":{"cpu":{},"memory":{"mapping":{"capacityKey":"y"}}}`), []string{
			"nodeAllocatableResources[cpu]: Required", "memory].mapping: Required", "memory].mapping.capacityKey: Not found",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadBytes("f", []byte(`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":`+test.spec+`}`), Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkWarnings(t, r.Warnings, test.want)
		})
	}
}

func TestOtherWarnings(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"class": {`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"A_b"},"spec":{"selectors":[{}],"extendedResourceName":"requests.x/y","config":[{}]}}`, []string{
			`metadata.name: Invalid value: "A_b"`, "spec.selectors[0].cel: Required", "spec.extendedResourceName: Invalid", "spec.config[0].opaque: Required",
		}},
		"template metadata": {`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaimTemplate","metadata":{"name":"t"},"spec":{"metadata":{"name":"x","labels":{"a":"b"}},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}}}}`,
			[]string{"spec.metadata.name: Forbidden"}},
		"taint rule": {`{"apiVersion":"resource.k8s.io/v1alpha3","kind":"DeviceTaintRule","metadata":{"name":"t"},"spec":{"deviceSelector":{"deviceClassName":"c","pool":""},"taint":{"key":"k","effect":"X"}}}`, []string{
			"deviceSelector.deviceClassName: unknown field; it is ignored (removed in Kubernetes 1.35: the rule now hits every device", "deviceSelector.pool: Required", "taint.effect: Unsupported",
		}},
		"taint rule without selector": {`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceTaintRule","metadata":{"name":"t"},"spec":{"taint":{"key":"k","effect":"NoExecute"}}}`,
			[]string{"spec.deviceSelector: accepted, but without it the rule taints no device"}},
		"pod": {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"resourceClaims":[{"name":"a"},{"name":"a","resourceClaimName":"x","resourceClaimTemplateName":"y"}],"containers":[{"name":"c","resources":{"claims":[{"name":"b"}]}}]}}`, []string{
			"resourceClaims[0]: Required value: exactly one of resourceClaimName", `resourceClaims[1].name: Duplicate value: "a"`, "resourceClaims[1]: Forbidden: exactly one of", `containers[0].resources.claims[0].name: Not found: "b"`,
		}},
		"status": {`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}},
			"status":{"allocation":{"devices":{"results":[{"request":"q","driver":"d","pool":"p","device":"x"}]}},"devices":[{"driver":"d","pool":"p","device":"y"}],"reservedFor":[{"resource":"pods","name":"p","uid":"1"},{"resource":"pods","name":"q","uid":"1"}]}}`, []string{
			`results[0].request: Invalid value: "q": no such request`, `status.devices[0]: Invalid value: "d/p/y": is not among the devices`, `reservedFor[1].uid: Duplicate value: "1"`,
		}},
		"reserved, not allocated": {`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"c"}}]}},"status":{"reservedFor":[{"resource":"pods","name":"p","uid":"1"}]}}`,
			[]string{"status.reservedFor: Forbidden"}},
		"paths of v1beta1": {`{"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","deviceClassName":"C","count":-1}]}}}`, []string{
			`spec.devices.requests[0].deviceClassName: Invalid value: "C"`, "spec.devices.requests[0].count: Invalid value: -1",
		}},
		"paths of v1beta1 slices": {`{"apiVersion":"resource.k8s.io/v1beta1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"driver":"d","nodeName":"n","pool":{"name":"p","resourceSliceCount":1},"devices":[{"name":"D","basic":{"attributes":{"x":{}}}}]}}`, []string{
			`spec.devices[0].name: Invalid value: "D"`, "spec.devices[0].basic.attributes[x]: Required",
		}},
		"repeated fields": {`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c"},"spec":{"selectors":[],"selectors":[]}}`,
			[]string{"spec.selectors: the field is given twice; the last value counts"}},
		"repeated keys in YAML": {"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata:\n  name: a\n  name: c\n", []string{`f:5: key "name" already set in map (the last value counts)`}},
		"case of a field":       {`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"c"},"Spec":{}}`, []string{`DeviceClass c: Spec: unknown field`}},
		"flat request in v1": {`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"requests":[{"name":"r","deviceClassName":"c"}]}}}`, []string{
			"requests[0].deviceClassName: unknown field; it is ignored (since v1beta2 it belongs under exactly; only v1beta1 has it here)", "requests[0]: Required",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := ReadBytes("f", []byte(test.text), Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkWarnings(t, r.Warnings, test.want)
		})
	}
}

// One object with thousands of mistakes must not bury the others' warnings.
func TestWarningsAreBounded(t *testing.T) {
	bad := `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c%d"},"spec":{"devices":{"requests":[`
	for i := range 32 {
		bad += fmt.Sprintf(`{"name":"-%d"},`, i) // each with a message of its own
	}
	bad = strings.TrimSuffix(bad, ",") + `]}}}`
	var text strings.Builder
	for i := range 500 {
		fmt.Fprintf(&text, bad+"\n", i)
	}
	r, err := ReadBytes("f", []byte(text.String()), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Warnings) != maxAllWarnings+1 {
		t.Errorf("got %d warnings", len(r.Warnings))
	}
	if got := r.Warnings[maxObjectWarnings].String(); got != "f:1: ResourceClaim default/c0: 8 more problems" {
		t.Errorf("got %q", got)
	}
	if got := r.Warnings[maxAllWarnings].String(); got != "manifests: 3000 more warnings" {
		t.Errorf("got %q", got)
	}
}

// TestTheSameMistakeInManyItems: the same mistake is said once if it is made in many items of a list.
func TestTheSameMistakeInManyItems(t *testing.T) {
	device := func(name string, more string) string { return `{"name":"` + name + `"` + more + `}` }
	wrong := `,"attributes":{"kind":{"string":"x","int":1}}`
	for n, want := range map[int][]string{
		3: {
			"f:1: ResourceSlice s: spec.devices[1].attributes[kind]: Forbidden", "f:1: ResourceSlice s: spec.devices[2].attributes[kind]: Forbidden",
			"f:1: ResourceSlice s: spec.devices[3].attributes[kind]: Forbidden",
		},
		8: {"(and in 7 more devices)"},
	} {
		devices := []string{device("good", "")}
		for i := range n {
			devices = append(devices, device(itoa(i), wrong))
		}
		r, err := ReadBytes("f", []byte(`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"driver":"d.example.com","nodeName":"n",`+
			`"pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[`+strings.Join(devices, ",")+`]}}`), Options{})
		if err != nil || len(r.Warnings) != len(want) {
			t.Fatalf("%d devices: %v, %v", n, err, r.Warnings)
		}
		for i, w := range r.Warnings {
			if !strings.Contains(w.String(), want[i]) || !strings.Contains(w.Path, "devices["+itoa(i+1)+"]") {
				t.Errorf("got %q, want %q", w, want[i])
			}
		}
	}
}

// TestUnfilledVariables: a variable for which nothing was filled in is named, wherever in the metadata it
// stands.
func TestUnfilledVariables(t *testing.T) {
	r, err := ReadBytes("f", []byte("apiVersion: v1\nkind: Pod\nmetadata: {name: '${NAME}', namespace: '${NAMESPACE}', labels: {app: '$(APP)', 'b c': x}}\n"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range r.Warnings {
		got = append(got, w.Path+": "+w.Message)
	}
	want := []string{
		`metadata.name: Invalid value: "${NAME}": nothing was filled in for the variable`,
		`metadata.namespace: Invalid value: "${NAMESPACE}": nothing was filled in for the variable`,
		`metadata.labels[app]: Invalid value: "$(APP)": nothing was filled in for the variable`,
		`metadata.labels[b c]: Invalid value: "b c": `,
	}
	for i := range want {
		if len(got) != len(want) || !strings.HasPrefix(got[i], want[i]) {
			t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// The mistakes that were found in published manifests get a message that helps.
func TestPublishedMistakes(t *testing.T) {
	for name, want := range map[string][]string{
		"resourceclaim-cel-misindented.yaml": {
			"selectors[0].expression: unknown field; it is ignored (expression belongs one level deeper, under cel",
			"selectors[0].cel: Required",
		},
		"pod-inline-aligned-gpus.yaml": {`the field must be written "apiVersion", not "apiversion"`},
		"resourceclaim.v1alpha3-unknown-field-device.yaml": {
			"requests[0].device: unknown field; it is ignored (write deviceClassName under exactly, in resource.k8s.io/v1)",
			"requests[0]: Required",
		},
		"pod-inline-multiple.v1alpha1-classic.yaml": {
			"ResourceClaimTemplate default/pause-template: apiVersion: resource.k8s.io/v1alpha1 is the first API",
			"resourceClaims[0].source: unknown field; it is ignored (since Kubernetes 1.31 resourceClaimName",
			"resourceClaims[1].source: unknown field", "resourceClaims[0]: Required", "resourceClaims[1]: Required",
		},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata/mistakes", name))
			if err != nil {
				t.Fatal(err)
			}
			r, err := ReadBytes(name, data, Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkWarnings(t, r.Warnings, want)
		})
	}
}
