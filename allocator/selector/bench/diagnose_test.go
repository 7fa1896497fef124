package bench

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

var update = flag.Bool("update", false, "write the golden file anew; read it before committing it")

// someDevices are two GPUs, one of them without NVLink, and a NIC.
func someDevices() []Subject {
	str := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	gpu := func(name, model string) Subject {
		return Subject{"gpu.example.com", &resourcev1.Device{
			Name: name,
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": str(model), "driverVersion": {VersionValue: ptr.To("550.1.0")}, "index": {IntValue: ptr.To(int64(1))},
				"nics": {StringValues: []string{"a", "b"}}, "mig": {BoolValue: ptr.To(true)}, "resource.kubernetes.io/pcieRoot": str("pci0000:01"),
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("80Gi")}},
		}}
	}
	linked := gpu("gpu-0", "A100")
	linked.Device.Attributes["nvlink"] = resourcev1.DeviceAttribute{IntValue: ptr.To(int64(4))}
	nic := Subject{"nic.example.com", &resourcev1.Device{Name: "nic-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"speed": {IntValue: ptr.To(int64(100))}, "resource.kubernetes.io/pcieRoot": str("pci0000:01"),
	}}}
	return []Subject{linked, gpu("gpu-1", "H100"), nic}
}

// Each block of testdata/diagnose.txt is an expression, up to a line "---", and what is said of it on
// someDevices, up to an empty line. What is said follows from the devices above by reading.
func TestDiagnose(t *testing.T) {
	const name = "testdata/diagnose.txt"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b := New(selector.NewCache(selector.Features{ConsumableCapacity: true}), someDevices())
	var out strings.Builder
	seen := map[Code]bool{}
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		expression, want, _ := strings.Cut(block+"\n", "\n---\n")
		got := diagnose(t, b, expression, seen)
		if got != want {
			t.Errorf("%s\n---\ngot:\n%s\nwant:\n%s", expression, got, want)
		}
		fmt.Fprintf(&out, "%s\n---\n%s\n", expression, got)
	}
	if *update {
		if err := os.WriteFile(name, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, code := range []Code{CodeSyntax, CodeUnknownName, CodeUnqualifiedName, CodeUnknownField, CodeUnknownFunction, CodeQuantity, CodeVersion, CodeType,
		CodeNotBoolean, CodeCompile, CodeUnknownDomain, CodeUnknownAttribute, CodeUnknownCapacity, CodeIsCapacity, CodeIsAttribute, CodeSuffix, CodeList,
		CodeMissingKey, CodeRuntime, CodeOtherDrivers, CodeEverything, CodeNothing, CodeServerRefuses} {
		if !seen[code] {
			t.Errorf("%s has no example", code)
		}
	}
}

func diagnose(t *testing.T, b *Bench, expression string, seen map[Code]bool) string {
	t.Helper()
	trial, err := b.Try(context.Background(), expression)
	if err != nil {
		t.Fatal(err)
	}
	findings, err := b.Diagnose(context.Background(), trial)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	switch {
	case trial.Check.Scheduler != nil:
		out.WriteString("does not compile\n")
	default:
		fmt.Fprintf(&out, "%d of %d match, %d fail\n", trial.Matched, trial.Total(), trial.Failed)
	}
	for _, f := range findings {
		seen[f.Code] = true
		fmt.Fprintf(&out, "%s %s %d:%d %s\n", f.Severity, f.Code, f.Line, f.Column, f.Message)
		for _, s := range f.Suggestions {
			fmt.Fprintf(&out, "  > %s\n    (%s; matches %d)\n", s.Expression, s.Effect, s.Matched)
		}
	}
	return out.String()
}

// A device with a value that is no version makes every selector fail, also one that does not read it.
func TestDiagnoseDeviceThatBreaksEverySelector(t *testing.T) {
	subjects := append(someDevices(), Subject{"bad.example.com", &resourcev1.Device{Name: "bad-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"firmware": {VersionValue: ptr.To("v1.2")},
	}}})
	b := New(selector.NewCache(selector.Features{}), subjects)
	seen := map[Code]bool{}
	got := diagnose(t, b, `device.driver == "gpu.example.com"`, seen)
	if !seen[CodeBadDevice] || !strings.Contains(got, `Every selector fails on 1 device, as device "bad-0" of bad.example.com`) {
		t.Errorf("got %s", got)
	}
}

func TestInventory(t *testing.T) {
	inv := New(selector.NewCache(selector.Features{}), someDevices()).Inventory()
	if got, want := inv.Domains("attributes"), []string{"gpu.example.com", "nic.example.com", "resource.kubernetes.io"}; !slices.Equal(got, want) {
		t.Errorf("domains %v, want %v", got, want)
	}
	if got, want := inv.Names("capacity", "gpu.example.com"), []string{"memory"}; !slices.Equal(got, want) {
		t.Errorf("capacities %v, want %v", got, want)
	}
	model := inv.Field(selector.Field{Kind: "attributes", Domain: "gpu.example.com", Name: "model"})
	if model == nil || model.Total() != 2 || model.Type() != "string" || !slices.Equal(model.Common(5), []string{`"A100"`, `"H100"`}) {
		t.Errorf("model: %+v", model)
	}
	if root := inv.Field(selector.Field{Kind: "attributes", Domain: "resource.kubernetes.io", Name: "pcieRoot"}); root == nil || root.Total() != 3 || len(root.Devices) != 2 {
		t.Errorf("pcieRoot: %+v", root)
	}
	if got := (selector.Field{Kind: "attributes", Domain: "d", Name: "a-b"}).Expression(); got != `device.attributes["d"]["a-b"]` {
		t.Errorf("expression %s", got)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"model", "productName", "driverVersion", "memory"}
	for word, want := range map[string]string{"mdoel": "model", "Model": "model", "product_name": "productName", "driver": "driverVersion", "zzz": "", "x": "", "": ""} {
		if got := nearest(word, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
