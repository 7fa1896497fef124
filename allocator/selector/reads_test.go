package selector

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

func TestReads(t *testing.T) {
	tests := []struct{ expression, want string }{
		{`device.driver == "x"`, ""},
		{`device.attributes["d"].model == "A" && device.capacity["d"].memory.compareTo(quantity("1")) > 0`, "attributes d model, capacity d memory"},
		{`device.attributes["d"]["model"] == "A"`, "attributes d model"},
		{`"model" in device.attributes["d"]`, "attributes d model"},
		{`has(device.attributes["d"].model)`, "attributes d model"},
		{`device.attributes["d"].?model.orValue("") == ""`, "attributes d model"},
		{`cel.bind(a, device.attributes["d"], a.x == 1)`, "attributes d *"},
		{`device.attributes["d"].exists(k, k == "x")`, "attributes d *"},
		{`.device.attributes["d"].model == "A"`, "attributes d model"},
		{`[.device].exists(d, d.driver == "x")`, "everything"},
		{`"d" in device.attributes`, "everything"},
		{`[device].exists(d, d.driver == "x")`, "everything"},
		{`device.attributes[device.driver].x == 1`, "everything"},
	}
	for _, tt := range tests {
		r := NewCache(Features{}).Selector(tt.expression).Reads()
		var parts []string
		for _, f := range r.Fields {
			name := f.Name
			if name == "" {
				name = "*"
			}
			parts = append(parts, f.Kind+" "+f.Domain+" "+name)
		}
		if r.Everything {
			parts = append(parts, "everything")
		}
		if got := strings.Join(parts, ", "); got != tt.want {
			t.Errorf("%s reads %q, want %q", tt.expression, got, tt.want)
		}
	}
}

// TestEqualReadsGiveEqualResults evaluates random devices with and without the cache of projections.
func TestEqualReadsGiveEqualResults(t *testing.T) {
	const driver = "d"
	expressions := []string{
		`device.attributes["d"].a == 1`, `.device.attributes["d"].a == 1`, `has(device.attributes["d"].a)`, `"a" in device.attributes["d"] && device.attributes["d"].a == 1`,
		`device.attributes["d"].?b.orValue("x") == "x"`, `device.attributes["o"].a == "1"`, `device.attributes["d"].exists(k, k == "b")`,
		`"o" in device.attributes`, `device.capacity["d"].m.compareTo(quantity("2")) >= 0`, `device.allowMultipleAllocations`,
		`device.attributes["d"].v.isGreaterThan(semver("1.0.0"))`, `cel.bind(x, device.attributes["d"], has(x.a) && x.a == 1)`,
	}
	rng := rand.New(rand.NewPCG(1, 2))
	cached := NewCache(Features{ConsumableCapacity: true})
	for range effort.Of(4000, 1000) {
		device := randomDevice(rng)
		for _, e := range expressions {
			got, gotErr := cached.Selector(e).Match(context.Background(), driver, device)
			fresh := cached.Selector(e).result()
			input, _ := (&Program{}).input(driver, device)
			want, _, wantErr := fresh.DeviceMatches(context.Background(), input)
			if got != want || (gotErr == nil) != (wantErr == nil) {
				t.Fatalf("%s on %+v: cached %v %v, evaluated %v %v", e, device, got, gotErr, want, wantErr)
			}
		}
	}
}

func randomDevice(rng *rand.Rand) *resourcev1.Device {
	d := &resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}}
	for _, name := range []string{"a", "b", "v", "d/a", "d/b", "o/a", "o/b"} {
		if rng.IntN(2) == 0 {
			continue
		}
		a := resourcev1.DeviceAttribute{}
		switch rng.IntN(7) {
		case 0:
			a.IntValue = ptr.To(rng.Int64N(2))
		case 1:
			a.StringValue = ptr.To(fmt.Sprint(rng.IntN(2)))
		case 2:
			a.BoolValue = ptr.To(rng.IntN(2) == 0)
		case 3:
			a.VersionValue = ptr.To([]string{"1.0.0", "2.0.0", "x"}[rng.IntN(3)])
		case 4:
			a.IntValues = []int64{rng.Int64N(2)}
		case 5:
			a.StringValue = ptr.To("x")
		}
		d.Attributes[resourcev1.QualifiedName(name)] = a
	}
	if rng.IntN(2) == 0 {
		d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"m": {Value: resource.MustParse([]string{"1", "2", "2000m", "1500m"}[rng.IntN(4)])}}
	}
	if rng.IntN(2) == 0 {
		d.AllowMultipleAllocations = ptr.To(rng.IntN(2) == 0)
	}
	return d
}

// TestLazyAttributes: since 1.38 an attribute whose value cannot be read makes only those expressions fail
// that read it.
func TestLazyAttributes(t *testing.T) {
	version, one := "99999999999999999999999.0.0", int64(1)
	device := &resourcev1.Device{Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"v": {VersionValue: &version}, "n": {IntValue: &one}}}
	const unclear = "not decided: the expression reads an attribute whose value cannot be read"
	for expression, want := range map[string]string{
		`device.attributes["d"].n == 1`:                                                            "true",
		`device.attributes["d"].n == 2`:                                                            "false",
		`device.attributes["d"].v.isGreaterThan(semver("1.0.0"))`:                                  "error",
		`has(device.attributes["d"].v)`:                                                            unclear, // the scheduler fails
		`!("v" in device.attributes["d"])`:                                                         unclear, // true
		`device.attributes["d"].exists(k, k == "v")`:                                               unclear, // true
		`size(device.attributes["e"]) == 0`:                                                        "true",
		`device.attributes["d"].n == 1 || device.attributes["d"].v.isGreaterThan(semver("1.0.0"))`: unclear, // true
		`cidr("10.0.0.0/8").isMask()`:                                                              "not decided: the CEL of the release may know a function that this program does not: compilation failed: ERROR: <input>:1:26: undeclared reference to 'isMask' (in container '')",
		`device.serial == "x"`:                                                                     "error",
	} {
		for _, lazy := range []bool{false, true} {
			ok, err := NewCache(Features{ConsumableCapacity: true, Lazy: lazy}).Selector(expression).Match(context.Background(), "d", device)
			got := strconv.FormatBool(ok)
			if err != nil {
				got = "error"
			}
			if errors.As(err, new(*Unclear)) {
				got, _, _ = strings.Cut(err.Error(), "\n")
			}
			if lazy && got != want || !lazy && got != "error" {
				t.Errorf("%s, lazy %t: %s, want %s", expression, lazy, got, want)
			}
		}
		if _, err := NewCache(Features{Lazy: true}).Derived(`device.attributes["d"].n`).Attribute(context.Background(), "d", device); err != nil {
			t.Error(err)
		}
	}
}
