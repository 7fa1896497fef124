package editor

import (
	"fmt"
	"os"
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
)

var roleNames = map[Role]string{
	Space: "", Name: "name", Member: "member", Function: "function", Constant: "constant", Keyword: "keyword", Text: "text",
	Number: "number", Operator: "operator", Punctuation: "", Comment: "comment", Unknown: "unknown",
}

func TestHighlight(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"a path", `device.attributes["d"].model == 'x'`, `name:device member:attributes text:"d" member:model operator:== text:'x'`},
		{"calls and numbers", `has(device.x) && f(1.5e-3, 0xffu)`, `function:has name:device member:x operator:&& function:f number:1.5e-3 number:0xffu`},
		{"words", `!true || "a" in b // why`, `operator:! constant:true operator:|| text:"a" keyword:in name:b comment:// why`},
		{"not closed", "\"ab\nc", `text:"ab name:c`},
		{"escapes and raw", `"\"" r"\" b'x' """a
"b"""`, `text:"\"" text:r"\" text:b'x' text:"""a
"b"""`},
		{"optional", `d.?x.orValue("")`, `name:d member:x function:orValue text:""`},
		{"no CEL", "a = #é", `name:a unknown:= unknown:# unknown:é`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, s := range Highlight(tt.text) {
				if name := roleNames[s.Role]; name != "" {
					got = append(got, name+":"+tt.text[s.Start:s.End])
				}
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, " "), tt.want)
			}
		})
	}
}

// Text that is published as selectors has nothing in it that is unknown, and every byte has a role.
func TestHighlightPublished(t *testing.T) {
	data, err := os.ReadFile("../../../testdata/cel/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.SplitSeq(string(data), "\n") {
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "=>") || strings.HasPrefix(line, "[") {
			continue
		}
		n++
		covers(t, line)
		for _, s := range Highlight(line) {
			if s.Role == Unknown && line[s.Start:s.End] != "=" && selector.NewCache(selector.Features{}).Check(line).Scheduler == nil {
				t.Errorf("%s: %q is unknown", line, line[s.Start:s.End])
			}
		}
	}
	if n < 40 {
		t.Errorf("there are only %d selectors", n)
	}
}

func covers(t *testing.T, text string) {
	t.Helper()
	at := 0
	for _, s := range Highlight(text) {
		if s.Start != at || s.End <= s.Start {
			t.Fatalf("%q: span %+v after %d", text, s, at)
		}
		at = s.End
	}
	if at != len(text) {
		t.Fatalf("%q: the spans end at %d", text, at)
	}
}

// fleet makes devices of two drivers.
func fleet(n int) []bench.Subject {
	var out []bench.Subject
	str := func(s string) resourcev1.DeviceAttribute { return resourcev1.DeviceAttribute{StringValue: &s} }
	for i := range n {
		driver, model := "gpu.example.com", "A100"
		if i%4 == 3 {
			driver, model = "nic.example.com", "CX-7"
		}
		if i%4 == 2 {
			model = "H100"
		}
		out = append(out, bench.Subject{Driver: driver, Device: &resourcev1.Device{
			Name: fmt.Sprintf("dev-%d", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": str(model), "serial": str(fmt.Sprintf("S%06d", i)), "index": {IntValue: ptr.To(int64(i % 2))},
				"version": {VersionValue: ptr.To("1.2.3")}, "tags": {StringValues: []string{"a", "b"}}, "odd-name": {BoolValue: ptr.To(true)},
				"resource.kubernetes.io/pcieRoot": str("pci0000:00"),
			},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse([]string{"40Gi", "80Gi"}[i/2%2])}},
		}})
	}
	return out
}

func completer(n int) *Completer {
	features := selector.Features{ListTypeAttributes: true}
	return NewCompleter(bench.New(selector.NewCache(features), fleet(n)).Inventory(), features)
}

func TestComplete(t *testing.T) {
	c := completer(40)
	tests := []struct {
		name, text string   // | is the cursor
		want       []string // the first items
		applied    string   // with the first item
	}{
		{"a start", `dev|`, []string{"device"}, `device.`},
		{"the device", `device.|`, []string{"attributes", "capacity", "driver"}, `device.attributes["`},
		{"part of a member", `device.cap|`, []string{"capacity"}, `device.capacity["`},
		{"domains", `device.attributes["|`, []string{"resource.kubernetes.io", "gpu.example.com", "nic.example.com"}, `device.attributes["resource.kubernetes.io"]`},
		{"a word of a domain", `device.attributes["kube|`, []string{"resource.kubernetes.io"}, `device.attributes["resource.kubernetes.io"]`},
		{"in a closed string", `device.attributes["g|x"].model`, []string{"gpu.example.com"}, `device.attributes["gpu.example.com"].model`},
		{"in single quotes", `device.attributes['n|`, []string{"nic.example.com"}, `device.attributes['nic.example.com']`},
		{"before a string", `device.capacity[|`, []string{"gpu.example.com", "nic.example.com"}, `device.capacity["gpu.example.com"]`},
		{"names", `device.attributes["gpu.example.com"].mo|`, []string{"model"}, `device.attributes["gpu.example.com"].model`},
		{"names that may be missing", `device.attributes["gpu.example.com"].?s|`, []string{"serial"}, `device.attributes["gpu.example.com"].?serial`},
		{"names in brackets", `device.attributes["gpu.example.com"]["odd|`, []string{"odd-name"}, `device.attributes["gpu.example.com"]["odd-name"]`},
		{"values", `device.attributes["gpu.example.com"].model == |`, []string{`"A100"`, `"H100"`}, `device.attributes["gpu.example.com"].model == "A100"`},
		{"values in a string", `device.attributes["gpu.example.com"].model == "H|`, []string{"H100"}, `device.attributes["gpu.example.com"].model == "H100"`},
		{"values behind a call", `device.attributes["gpu.example.com"].?model.orValue("") == "|`, []string{"A100", "H100"}, `device.attributes["gpu.example.com"].?model.orValue("") == "A100"`},
		{"numbers", `device.attributes["gpu.example.com"].index >= |`, []string{"0", "1"}, `device.attributes["gpu.example.com"].index >= 0`},
		{"drivers", `device.driver == "|`, []string{"gpu.example.com", "nic.example.com"}, `device.driver == "gpu.example.com"`},
		{"quantities", `device.capacity["gpu.example.com"].memory.compareTo(quantity("|`, []string{"40Gi", "80Gi"}, `device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi"`},
		{"quantities with their call", `device.capacity["gpu.example.com"].memory.compareTo(|`, []string{"40Gi", "80Gi"}, `device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")`},
		{"versions", `device.attributes["gpu.example.com"].version.isLessThan(semver("|`, []string{"1.2.3"}, `device.attributes["gpu.example.com"].version.isLessThan(semver("1.2.3"`},
		{"methods of a quantity", `device.capacity["gpu.example.com"].memory.|`, []string{"add", "asApproximateFloat", "asInteger", "compareTo"}, `device.capacity["gpu.example.com"].memory.add(quantity("`},
		{"part of a method of a quantity", `device.capacity["gpu.example.com"].memory.isG|`, []string{"isGreaterThan"}, `device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("`},
		{"methods of a version", `device.attributes["gpu.example.com"].version.|`, []string{"compareTo", "isGreaterThan", "isLessThan", "major"}, `device.attributes["gpu.example.com"].version.compareTo(semver("`},
		{"methods of what a call gives", `device.driver.lowerAscii().con|`, []string{"contains"}, `device.driver.lowerAscii().contains(`},
		{"functions of a namespace", `cel.|`, []string{"bind"}, `cel.bind(`},
		{"methods of a string", `device.driver.sta|`, []string{"startsWith"}, `device.driver.startsWith(`},
		{"methods of a list", `device.attributes["gpu.example.com"].tags.inc|`, []string{"includes"}, `device.attributes["gpu.example.com"].tags.includes(`},
		{"methods of an optional", `device.attributes["gpu.example.com"].?model.|`, []string{"hasValue", "or", "orValue", "value"}, `device.attributes["gpu.example.com"].?model.hasValue()`},
		{"operators", `device.driver |`, []string{"==", "!=", "&&"}, `device.driver == `},
		{"operators of a number", `device.attributes["gpu.example.com"].index |`, []string{">=", "<="}, `device.attributes["gpu.example.com"].index >= `},
		{"operators behind a comparison", `device.driver == "x" |`, []string{"&&", "||"}, `device.driver == "x" && `},
		{"a field by its name", `device.driver == "x" && mem|`, []string{"memory", "memory"}, `device.driver == "x" && device.capacity["gpu.example.com"].memory`},
		{"in a comment", `true // dev|`, nil, ""},
		{"in a number", `1|`, nil, ""},
		{"nothing goes", `device.attributes["gpu.example.com"].zzz|`, nil, ""},
		{"broken text", `((((]|`, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cursor := strings.IndexByte(tt.text, '|')
			if strings.Contains(tt.text, "||") {
				t.Fatal("bad test")
			}
			text := tt.text[:cursor] + tt.text[cursor+1:]
			got := c.Complete(text, cursor)
			var labels []string
			for _, item := range got.Items {
				labels = append(labels, item.Label)
				if item.Help == "" || strings.Contains(item.Help, "\n") {
					t.Errorf("%s: help %q", item.Label, item.Help)
				}
			}
			if len(tt.want) > 0 && !strings.HasPrefix(strings.Join(labels, " ")+" ", strings.Join(tt.want, " ")+" ") || len(tt.want) == 0 && tt.applied == "" && tt.name != "broken text" && len(labels) > 0 {
				t.Errorf("got %v, want %v", labels, tt.want)
			}
			if len(labels) == 0 || tt.applied == "" {
				return
			}
			if applied, at := got.Apply(text, 0); applied != tt.applied || at > len(applied) {
				t.Errorf("applied: %s\nwant     %s", applied, tt.applied)
			}
		})
	}
}

func TestYAML(t *testing.T) {
	for _, expression := range []string{`device.driver == "x"`, "a &&\n\n  b: #c", "'\t\x1b[0m'", "\"\u2028\u0085\"", "'''a\n  \nb'''", "'\u202e\u3164\U000e0041'"} {
		var got struct{ Selectors []resourcev1.DeviceSelector }
		if err := yaml.Unmarshal([]byte(YAML(expression)), &got); err != nil {
			t.Fatalf("%q: %v\n%s", expression, err, YAML(expression))
		}
		if len(got.Selectors) != 1 || got.Selectors[0].CEL.Expression != expression {
			t.Errorf("%q became %+v:\n%s", expression, got, YAML(expression))
		}
	}
}

// FuzzComplete types any text: nothing panics, every byte has a role, and what is proposed can be applied.
func FuzzComplete(f *testing.F) {
	c := completer(12)
	for _, text := range []string{``, `device.attributes["gpu.example.com"].model == "`, `a.?b[?"c"]`, `"""`, `)].?`, "r'\\", `é.`, "// x\n", `has(device.capacity["nic.example.com"].`} {
		f.Add(text, len(text))
	}
	f.Fuzz(func(t *testing.T, text string, cursor int) {
		covers(t, text)
		got := c.Complete(text, cursor)
		for i := range got.Items {
			if out, at := got.Apply(text, i); at < 0 || at > len(out) {
				t.Errorf("%q at %d: item %+v", text, cursor, got.Items[i])
			}
		}
		if got.From < 0 || got.From > got.To || got.To > len(text) {
			t.Errorf("%q at %d: %+v", text, cursor, got)
		}
	})
}

// BenchmarkComplete completes in selectors on the devices of a large cluster.
func BenchmarkComplete(b *testing.B) {
	c := completer(40_000)
	for name, text := range map[string]string{
		"domain": `device.attributes["`, "name": `device.attributes["gpu.example.com"].`, "value": `device.attributes["gpu.example.com"].serial == "S`, "bare": `mem`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if len(c.Complete(text, len(text)).Items) == 0 {
					b.Fatal("nothing")
				}
			}
		})
	}
}
