package selector

import (
	"context"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
)

func testDevice() *resourcev1.Device {
	return &resourcev1.Device{
		Name: "gpu-0",
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
			"model":             {StringValue: ptr.To("A100")},
			"example.org/numa":  {IntValue: ptr.To(int64(1))},
			"driverVersion":     {VersionValue: ptr.To("1.2.3")},
			"other.example/ids": {StringValues: []string{"a", "b"}},
		},
		Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
	}
}

func TestTerms(t *testing.T) {
	const d = "gpu.example.com"
	tests := []struct {
		name, expression string
		want             []string // "expression => result | reads"
	}{
		{"two terms", `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "H100"`, []string{
			`device.driver == "gpu.example.com" => true | device.driver="gpu.example.com"`,
			`device.attributes["gpu.example.com"].model == "H100" => false | device.attributes["gpu.example.com"].model="A100"`,
		}},
		{"quantity", `device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0`, []string{
			`device.capacity["gpu.example.com"].memory.compareTo(quantity("80Gi")) >= 0 => false | device.capacity["gpu.example.com"].memory=40Gi`,
		}},
		{"missing attribute fails", `true && device.attributes["gpu.example.com"].nope == 1`, []string{
			`true => true | `,
			`device.attributes["gpu.example.com"].nope == 1 => error | device.attributes["gpu.example.com"].nope=`,
		}},
		{"macros survive", `has(device.attributes["example.org"].numa) && ["a"].exists(x, x == "a")`, []string{
			`has(device.attributes["example.org"].numa) => true | device.attributes["example.org"].numa=1`,
			`["a"].exists(x, x == "a") => true | `,
		}},
		{"bound names", `device.driver != "x" && cel.bind(a, device.attributes["gpu.example.com"], a.model == "A100" && (has(a.gone) && a.gone == 1))`, []string{
			`device.driver != "x" => true | device.driver="gpu.example.com"`,
			`cel.bind(a, device.attributes["gpu.example.com"], a.model == "A100") => true | `,
			`cel.bind(a, device.attributes["gpu.example.com"], has(a.gone)) => false | `,
			`cel.bind(a, device.attributes["gpu.example.com"], a.gone == 1) => error | `,
		}},
		{"parentheses and or", `(device.driver == "x" || true) && (true && false)`, []string{
			`device.driver == "x" || true => true | device.driver="gpu.example.com"`,
			`true => true | `, `false => false | `,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := NewCache(Features{})
			terms := c.Terms(context.Background(), tt.expression, d, testDevice())
			var got []string
			for _, term := range terms {
				result := "false"
				if term.Match {
					result = "true"
				}
				if term.Err != nil {
					result = "error"
				}
				var reads []string
				for _, r := range term.Reads {
					reads = append(reads, r.Expression+"="+r.Value)
				}
				got = append(got, term.Expression+" => "+result+" | "+strings.Join(reads, ", "))
			}
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("terms\ngot:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
		})
	}
}

func TestQualifiedAttributeWinsOverBareOne(t *testing.T) {
	device := testDevice()
	device.Attributes["gpu.example.com/model"] = resourcev1.DeviceAttribute{StringValue: ptr.To("H100")}
	for range 50 { // a map decides the order in the scheduler
		p := NewCache(Features{}).Selector(`device.attributes["gpu.example.com"].model == "H100"`)
		if ok, err := p.Match(context.Background(), "gpu.example.com", device); !ok || err != nil {
			t.Fatalf("Match = %v, %v; want true", ok, err)
		}
	}
}

// CEL breaks long expressions into lines; a term is shown within a line.
func TestTermsAreOneLine(t *testing.T) {
	var names []string
	for _, name := range []string{"alpha", "beta", "gamma", "delta", "epsilon"} {
		names = append(names, `device.attributes["gpu.example.com"].model == "a\\n`+name+`"`)
	}
	terms := NewCache(Features{}).Terms(context.Background(), strings.Join(names, " || "), "gpu.example.com", testDevice())
	if len(terms) != 1 || strings.Contains(terms[0].Expression, "\n") || strings.Count(terms[0].Expression, `\n`) != 5 {
		t.Errorf("terms %+v", terms)
	}
}

func TestShadowedNames(t *testing.T) {
	one, two := resourcev1.DeviceAttribute{IntValue: ptr.To(int64(1))}, resourcev1.DeviceAttribute{IntValue: ptr.To(int64(2))}
	for name, m := range map[string]map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"both":          {"x": one, "d/x": two},
		"other domain":  {"d/x": two, "dd/x": one, "x/d": one},
		"empty name":    {"d/x": two, "d/": one},
		"bare and like": {"d/x": two, "y": one, "d": one},
	} {
		t.Run(name, func(t *testing.T) {
			got := withoutShadowed("d", m)
			if _, bare := got["x"]; bare || got["d/x"].IntValue != two.IntValue || name != "both" && len(got) != len(m) {
				t.Errorf("got %v", got)
			}
		})
	}
}
