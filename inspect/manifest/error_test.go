package manifest

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

func TestErrors(t *testing.T) {
	sliceOf := func(spec string) string {
		return `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":` + spec + `}`
	}
	tests := map[string]struct {
		text string
		code Code
		want string // the whole line
	}{
		"half-written JSON": {
			"\n" + classA[:len(classA)-2], Syntax,
			`reading f:2: broken JSON: an object or list is not closed: the text is incomplete; is the file complete?`,
		},
		"JSON cut between fields": {
			classA + "\n" + classB[:33], Syntax,
			`reading f:2: broken JSON: the text ends within a string; is the file complete?`,
		},
		"JSON without comma": {
			"{\"apiVersion\":\"v1\"\n\"kind\":\"Pod\"}", Syntax,
			`reading f:2: broken JSON: fields must be separated by commas; is the file complete?`,
		},
		"JSON broken within": {
			"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\n\"spec\":{\"a\":tru}}", Syntax,
			`reading f:2: broken JSON: invalid character '}' in literal true (expecting 'e'); is the file complete?`,
		},
		"half-written YAML": {
			yamlA + "---\n" + yamlB + "spec:\n  selectors: [", Syntax,
			`reading f:11: broken YAML: did not find expected node content; check the indentation there, and that the file is complete`,
		},
		"tabs": {
			yamlA + "spec:\n\tselectors: []\n", Syntax,
			`reading f:6: broken YAML: found character that cannot start any token; indent with spaces, not tabs`,
		},
		"template": {
			"apiVersion: v1\nkind: Pod\nmetadata:\n  name: {{ .Release.Name }}\n", Syntax,
			`reading f:4: broken YAML: {{ begins a template expression; render the template first, for example with helm template`,
		},
		"list": {
			"# values\n- a\n- b\n", NotObject,
			`reading f:2: expected a Kubernetes object, found a list; give objects one after the other, or as the items of a List`,
		},
		"text": {
			"hello\n", NotObject,
			`reading f:1: expected a Kubernetes object, found a string; give objects one after the other, or as the items of a List`,
		},
		"number": {"42", NotObject, `reading f:1: expected a Kubernetes object, found a single value; ` +
			`give objects one after the other, or as the items of a List`},
		"broken gzip": {
			gzipped(t, yamlA)[:20], Syntax, `reading f: broken gzip: unexpected EOF; is the file complete?`,
		},
		"binary": {
			"\x7fELF\x00\x00", Binary,
			`reading f:1: not a text file (it holds a NUL byte); expected YAML or JSON, possibly gzip`,
		},
		"string for a list": {
			sliceOf(`{"driver":"d","devices":"none"}`), WrongType,
			`reading f:1: ResourceSlice s: spec.devices: the string "none" is given where a list is expected`,
		},
		"list for a string": {
			sliceOf(`{"driver":["d"]}`), WrongType,
			`reading f:1: ResourceSlice s: spec.driver: a list is given where a string is expected`,
		},
		"fraction for a count": {
			sliceOf(`{"pool":{"generation":1.5}}`), WrongType,
			`reading f:1: ResourceSlice s: spec.pool.generation: the number 1.5 is given where a whole number (64 bits) is expected`,
		},
		"number for a string": {
			sliceOf(`{"driver":7}`), WrongType,
			`reading f:1: ResourceSlice s: spec.driver: the number 7 is given where a string is expected; put it in quotes`,
		},
		"boolean by accident": {
			"apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n", WrongType,
			`reading f:1: Node: metadata.name: the boolean false is given where a string is expected; ` +
				`put it in quotes: YAML takes y, n, yes, no, on and off for booleans`,
		},
		"plain capacity": {
			sliceOf(`{"devices":[{"name":"a"},{"name":"b","capacity":{"memory":"16Gi"}}]}`), WrongType,
			`reading f:1: ResourceSlice s: spec.devices[1].capacity.memory: the string "16Gi" is given where an object is expected; ` +
				`write it as {value: 16Gi}`,
		},
		"no quantity": {
			sliceOf(`{"devices":[{"capacity":{"a/b":{"value":"16 Gi"}}}]}`), WrongType,
			`reading f:1: ResourceSlice s: spec.devices[0].capacity[a/b].value: "16 Gi": quantities must match the regular expression ` +
				`'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`,
		},
		"List items no list": {
			`{"apiVersion":"v1","kind":"List","items":{}}`, WrongType, `reading f:1: List: items: items must be a list`,
		},
		"escape sequences": {
			"apiVersion: v1\nkind: Node\nmetadata:\n  name: \"\\e[31m\\u202e\\x07\"\nspec: [1]\n", WrongType,
			`reading f:1: Node \x1b[31m\u202e\a: spec: a list is given where an object is expected`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ReadBytes("f", []byte(test.text), Options{})
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e.Code != test.code || err.Error() != test.want {
				t.Errorf("got %s\n %v\nwant %s\n %s", e.Code, err, test.code, test.want)
			}
		})
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	large := write("large.yaml", strings.Repeat("# comment\n", 200))
	bomb := write("bomb.gz", gzipped(t, strings.Repeat(" ", 5000)))
	binary := write("binary", strings.Repeat("\x00", 900))
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		paths []string
		stdin string
		code  Code
		want  string
	}{
		"missing":      {paths: []string{filepath.Join(dir, "no")}, code: Unreadable, want: "/no: no such file or directory; check the path"},
		"no manifests": {paths: []string{empty}, code: Empty, want: "the directory holds no *.yaml, *.yml or *.json file"},
		"nothing":      {code: Empty, want: "no path given"},
		"too large":    {paths: []string{large}, code: TooLarge, want: "more than 1k of text, counting all files"},
		"large stdin":  {paths: []string{"-"}, stdin: strings.Repeat("#", 5000), code: TooLarge, want: "reading standard input: more than"},
		"gzip bomb":    {paths: []string{bomb}, code: TooLarge, want: "bomb.gz: more than"},
		"binary":       {paths: []string{binary}, code: Binary, want: "not a text file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(context.Background(), test.paths, Options{Stdin: strings.NewReader(test.stdin), MaxBytes: 1000})
			var e *Error
			if !errors.As(err, &e) || e.Code != test.code || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s %q", err, test.code, test.want)
			}
		})
	}
	if _, err := Read(context.Background(), []string{"-"}, Options{}); err == nil {
		t.Error("reading no standard input succeeded")
	}
	broken := errors.New("broken pipe")
	if _, err := Read(context.Background(), []string{"-"}, Options{Stdin: iotest.ErrReader(broken)}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// indented is YAML in which each key stands below the one before.
func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// Hostile input must neither hang nor eat the memory; what it gives does not matter otherwise.
func TestHostileInput(t *testing.T) {
	quantity := func(value string) string {
		return `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"devices":[{"capacity":{"x":{"value":` + value + `}}}]}}`
	}
	laughs := "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
	for c := 'b'; c < 'l'; c++ {
		laughs += string(c) + ": &" + string(c) + " [" + strings.Repeat("*"+string(c-1)+",", 9) + "*" + string(c-1) + "]\n"
	}
	type hostile struct {
		text string
		code Code // "" when it is read
		opts Options
	}
	inputs := map[string]hostile{
		"alias bomb":              {text: laughs, code: TooLarge},
		"long string, many times": {text: "a: &a " + strings.Repeat("x", 100000) + "\nb: [" + strings.Repeat("*a,", 100000) + "]\n", code: TooLarge},
		"deep YAML":               {text: strings.Repeat("[", 1000000), code: TooLarge},
		"deep YAML, flow maps":    {text: strings.Repeat("{a: ", 1000000), code: TooLarge},
		"deep YAML, closed":       {text: "a: " + strings.Repeat("[", 600) + strings.Repeat("]", 600), code: TooLarge},
		"deep block YAML":         {text: strings.Repeat("- ", 1000000), code: TooLarge},
		"deep YAML by indenting":  {text: indented(1000), code: TooLarge},
		"deep keys":               {text: strings.Repeat("? ", 1000000), code: TooLarge},
		"deep JSON":               {text: strings.Repeat(`{"a":`, 1000000) + "1" + strings.Repeat("}", 1000000), code: TooLarge},
		"deep JSON list":          {text: strings.Repeat("[", 16000000), code: TooLarge},
		"deep JSON in a pod":      {text: `{"apiVersion":"v1","kind":"Pod","spec":` + strings.Repeat(`{"a":`, 100000) + "1" + strings.Repeat("}", 100001), code: TooLarge},
		"as deep as may be": {
			text: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"x":` + strings.Repeat(`[`, maxDepth-1) + strings.Repeat("]", maxDepth-1) + "}",
		},
		"deeper than may be": {
			text: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"x":` + strings.Repeat(`[`, maxDepth) + strings.Repeat("]", maxDepth) + "}",
			code: TooLarge,
		},
		"deep JSON, vouched for": {text: strings.Repeat(`{"a":`, 1000000), code: TooLarge, opts: Options{MaxBytes: 1 << 30}},
		"mistake behind deep data": {
			text: `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c"},"spec":{"devices":{"config":[` +
				strings.TrimSuffix(strings.Repeat(`{"opaque":{"driver":"d","parameters":`+strings.Repeat(`{"a":`, 9000)+"1"+strings.Repeat("}", 9000)+`}},`, 20), ",") +
				`],"requests":7}}}`,
			code: WrongType, opts: Options{MaxBytes: 1 << 30},
		},
		"endless exponent":          {text: quantity(`"1e-2147483648"`), code: WrongType},
		"endless exponent, hidden":  {text: quantity(`"1\u0065-2147483648"`), code: WrongType},
		"endless exponent, bare":    {text: quantity(`1e-2147483648`), code: WrongType},
		"endless digits":            {text: quantity(`"` + strings.Repeat("9", 5000000) + `"`), code: WrongType},
		"huge exponent":             {text: quantity(`"1e2147483647"`), code: WrongType}, // parses, but takes gigabytes to compare
		"huge exponent with sign":   {text: quantity(`"1E+999999999"`), code: WrongType},
		"huge exponent of nothing":  {text: quantity(`"e2147483647"`), code: WrongType}, // is a quantity all the same
		"large exponent":            {text: quantity(`"1e18"`)},
		"harmless look-alike":       {text: `{"apiVersion":"v1","kind":"Node","metadata":{"name":"n","labels":{"x":"1e-2147483648"}}}`},
		"many problems":             {text: `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","spec":{"devices":[` + strings.Repeat(`{"x":1},`, 100000) + `{}]}}`},
		"many kinds of nothing":     {text: strings.Repeat("{}\n", 300000)},
		"many empty documents":      {text: strings.Repeat("---\n", 1000000)},
		"many documents of nothing": {text: strings.Repeat("--- ~\n", 1<<18+1), code: TooLarge},
		"more kinds of nothing":     {text: strings.Repeat("{}\n", 1<<20+1), code: TooLarge},
		"large list":                {text: `{"apiVersion":"v1","kind":"Pod","spec":{"containers":[` + strings.Repeat("{},", 1<<17+1) + `{}]}}`, code: TooLarge},
		"large, but not for us":     {text: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"` + strings.Repeat(",", 1<<20) + `"}}`},
		"large object":              {text: `{"apiVersion":"v1","kind":"Pod","a":"` + strings.Repeat("x", 16<<20) + `"}`, code: TooLarge},
	}
	for i, name := range slices.Sorted(maps.Keys(inputs)) {
		if i%effort.InFull(1, 6) > 0 {
			continue
		}
		test := inputs[name]
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, err := ReadBytes("f", []byte(test.text), test.opts)
			if took := time.Since(start); took > 2*time.Minute { // a hang, not a slow machine
				t.Errorf("took %v", took)
			}
			var e *Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("got %v", err)
			}
			if e == nil && test.code != "" || e != nil && (e.Code != test.code || len(err.Error()) > maxErrorLength+100) {
				t.Errorf("got %v, want %s", err, test.code)
			}
		})
	}
}

// largestSeed keeps seeds short, in bytes: a thousand small inputs find more than one large one.
const largestSeed = 4 << 10

func FuzzReadBytes(f *testing.F) {
	for _, seed := range []string{
		classA, yamlA + "---\n" + yamlB, `{"kind":"List","items":[` + classA + `]}`, "a: &a [*a]", "- - -", "\xff\xfe{\x00", "{{ x }}",
		`{"apiVersion":"resource.k8s.io/v1alpha3","kind":"ResourceSlice","spec":{"devices":[{"basic":{"capacity":{"x":"1"}}}]}}`,
		`{"apiVersion":"flowcontrol.apiserver.k8s.io/v1beta3","kind":"PriorityLevelConfiguration","spec":{"limited":{}}}`,
		`{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","spec":{"devices":{"requests":[{"exactly":{"count":-1}}]}}}`,
	} {
		f.Add([]byte(seed))
	}
	for _, pattern := range []string{"*/*.yaml"} {
		paths, err := filepath.Glob(filepath.Join(driversDir, pattern))
		if err != nil {
			f.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) <= largestSeed {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := ReadBytes("f", data, Options{MaxBytes: 1 << 20, Workloads: true})
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || r != nil {
				t.Fatalf("got %v, %v", r, err)
			}
			checkPrintable(t, err.Error())
			return
		}
		for _, w := range r.Warnings {
			checkPrintable(t, w.String())
		}
		for _, claim := range r.Objects.Claims {
			if claim.Namespace == "" || claim.Kind != "ResourceClaim" {
				t.Errorf("incomplete claim %+v", claim.ObjectMeta)
			}
		}
	})
}

func checkPrintable(t *testing.T, line string) {
	t.Helper()
	for _, r := range line {
		if r != ' ' && !unicode.IsPrint(r) {
			t.Errorf("%q holds %q", line, r)
		}
	}
}

// TestLastOneCounts: of an object that is given several times the last one counts, as when files are applied
// in turn, and there is a warning where they differ.
func TestLastOneCounts(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := write("one.yaml", yamlA)
	same := write("same.yaml", yamlA)
	other := write("two.yaml", yamlA+"spec: {selectors: [{cel: {expression: 'true'}}]}\n---\n"+yamlA+"  labels: {x: z}\n")
	result, err := Read(context.Background(), []string{one, same, other}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	classes := result.Objects.Classes
	if len(classes) != 1 || classes[0].Labels["x"] != "z" || len(classes[0].Spec.Selectors) != 0 {
		t.Errorf("classes %v", classes)
	}
	var got []string
	for _, w := range result.Warnings {
		got = append(got, w.Source+": "+w.Object+": "+w.Message)
	}
	want := []string{
		other + ":1: DeviceClass a: given before at " + one + ":1 with different content; this one counts",
		other + ":7: DeviceClass a: given before at " + other + ":1 with different content; this one counts",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
