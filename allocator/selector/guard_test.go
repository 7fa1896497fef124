package selector

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/randomselector"
)

// doubled is an expression that builds 2^n elements in n steps and then does something with all of them in a
// single call.
func doubled(first, step, last string, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "cel.bind(v0, %s, ", first)
	for i := range n {
		fmt.Fprintf(&b, "cel.bind(v%d, %s, ", i+1, strings.ReplaceAll(step, "x", fmt.Sprintf("v%d", i)))
	}
	b.WriteString(strings.ReplaceAll(last, "x", fmt.Sprintf("v%d", n)))
	return b.String() + strings.Repeat(")", n+1)
}

func hostileExpressions() map[string]string {
	long := strings.Repeat("a", 3000)
	return map[string]string{
		"literal":             `quantity("1e-2000000000").isGreaterThan(quantity("1"))`,
		"put together":        `quantity("1e-" + "2000000000").isGreaterThan(quantity("1"))`,
		"asked about":         `isQuantity("1e-2000000000")`,
		"attribute":           `quantity(device.attributes["d.example.com"].text).isGreaterThan(quantity("1"))`,
		"in a comprehension":  `["1e-2000000000"].exists(q, quantity(q).isGreaterThan(quantity("1")))`,
		"hidden by ||":        `quantity("1e-2000000000").isGreaterThan(quantity("1")) || true`,
		"hidden by ? :":       `(isQuantity("1e-2000000000") ? 1 : 2) > 0`,
		"million digits":      `quantity("` + strings.Repeat("9", 90000) + `").isGreaterThan(quantity("1"))`,
		"replace":             `"` + long + `".replace("", "` + long + `").replace("", "` + long + `").size() > 0`,
		"join":                `lists.range(10000).map(i, "").join("` + long + `").size() > 0`,
		"sets":                `sets.contains(lists.range(300000), lists.range(300000))`,
		"distinct":            `lists.range(900000).distinct().size() > 0`,
		"nested lists":        doubled("[1, 1]", "[x, x]", "x == x", 40),
		"nested lists !=":     doubled("[1, 1]", "[x, x]", "x != x", 40),
		"nested lists in":     doubled("[1, 1]", "[x, x]", "x in [x]", 40),
		"nested maps":         doubled(`{"a": 1}`, `{"a": x, "b": x}`, "x == x", 40),
		"joined lists":        doubled("[1, 1]", "x + x", "x.size() > 0", 40),
		"joined lists summed": doubled("[1, 1]", "x + x", "x.sum() > 0", 40),
		"doubled text":        doubled(`"`+long+`"`, "x + x", "x.size() > 0", 40),
	}
}

func TestHostileExpressions(t *testing.T) {
	device := &resourcev1.Device{Name: "a", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
		"text": {StringValue: ptr.To("1e-2000000000")},
	}}
	all := hostileExpressions()
	for i, name := range slices.Sorted(maps.Keys(all)) {
		if i%effort.Of(1, 10) > 0 {
			continue
		}
		expression := all[name]
		t.Run(name, func(t *testing.T) {
			program := NewCache(Features{}).Selector(expression)
			if err := program.CompileError(); err != nil {
				t.Fatal(err)
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			ok, err := program.Match(context.Background(), "d.example.com", device)
			if ok || err == nil {
				t.Fatalf("got %v, %v", ok, err)
			}
			if !errors.As(err, new(*Exhausted)) && !strings.Contains(err.Error(), "cost limit exceeded") {
				t.Errorf("got %v", err)
			}
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 600<<20 {
				t.Errorf("%d MiB were allocated", used>>20)
			}
		})
	}
}

// TestSchedulerHangs holds what Exhausted says of kube-scheduler: its own library neither ends nor heeds the
// context. It runs in a process of its own, because nothing else stops it.
func TestSchedulerHangs(t *testing.T) {
	if expression := os.Getenv("HOSTILE_EXPRESSION"); expression != "" {
		debug.SetMemoryLimit(1 << 30)
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		compiled := cel.GetCompiler(cel.Features{}).CompileCELExpression(expression, cel.Options{})
		if compiled.Error != nil || compiled.MaxCost > resourcev1.CELSelectorExpressionMaxCost {
			fmt.Println("refused", compiled.Error, compiled.MaxCost)
			return
		}
		fmt.Println("compiled")
		_, _, err := compiled.DeviceMatches(ctx, cel.Device{})
		fmt.Println("ended", err)
		return
	}
	if effort.Usual() {
		t.Skip("a core is busy for seconds until it is clear that the search goes on; the run of a change does")
	}
	for _, name := range []string{"literal", "asked about", "nested lists"}[:effort.Of(3, 1)] {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSchedulerHangs$")
			cmd.Env = append(os.Environ(), "HOSTILE_EXPRESSION="+hostileExpressions()[name])
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			out := bufio.NewReader(stdout)
			first, err := out.ReadString('\n')
			if err != nil || !strings.HasPrefix(first, "compiled") {
				t.Errorf("it says %q: %v", first, err)
			}
			timer := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Kill() }) // of hours; it may have ended
			defer timer.Stop()
			rest, _ := io.ReadAll(out) // until it is killed
			if err := cmd.Wait(); err == nil || strings.Contains(string(rest), "ended") {
				t.Errorf("it ended: %v\n%s", err, rest)
			}
		})
	}
}

// TestGuardsChangeNothing evaluates many expressions with and without guards.
func TestGuardsChangeNothing(t *testing.T) {
	expressions := []string{
		`[1, 2, 3].exists(i, i == 2)`, `[1, 2].map(i, i * 2) == [2, 4]`, `["b", "a"].sort().join("-") == "a-b"`,
		`"a,b".split(",").exists(p, p == "b")`, `"aXa".replace("X", "y") == "aya"`, `([1] + [2] + [3]).size() == 3`,
		`([1] + ["a"]).exists(i, i == "a")`, `{"a": 1}.all(k, k == "a")`, `sets.contains([1, 2], [1])`, `[1, 1].distinct() == [1]`,
		`cel.bind(q, quantity("1e3"), q.add(quantity("1")).compareTo(quantity("1001")) == 0)`, `quantity("x").sign() == 0`,
		`isQuantity("1e999") && !isQuantity("?")`, `[[1], [2]].flatten() == [1, 2]`, `lists.range(300).map(i, i).sum() == 44850`,
		`[1, 2, 3].filter(i, i > 1).size() == 2`, `1 in [1, 2] && !(3 in [1])`, `"a" in {"a": 1}`, `[1][5] == 1`, `{}["a"] == 1`,
		`"abc".matches("^a.*") && "abc".find("b") == "b"`, `"x".format(["y"]) == "x"`, `optional.of(1).orValue(2) == 1`,
		`[1, 2, 3].exists_one(i, i > 2)`, `lists.range(400).all(i, lists.range(400).all(j, i + j >= 0))`, `1 / 0 == 1 || true`,
		`dyn([1]) == dyn("a")`, `dyn("a") != dyn(1)`, `[1, 2].indexOf(2) == 1`, `"abc".substring(1) == "bc"`,
	}
	g := randomselector.New(7, 7, true)
	n := effort.Of(1000, 40)
	for range n {
		expressions = append(expressions, g.Boolean(3))
	}
	evaluated := 0
	for _, expression := range expressions {
		s := &source{expression: expression, features: cel.Features{}}
		plain := s.result()
		if plain.Error != nil {
			continue
		}
		program, err := guardedProgram(expression, plain.Environment)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		safe := *plain
		safe.Program = program
		devices := 4
		if !strings.Contains(expression, "device") {
			devices = 1 // all devices are alike to it
		}
		for i := range devices {
			driver, published := g.Device(i)
			device, _ := (&Program{}).input(driver, published)
			want, wantDetails, wantErr := plain.DeviceMatches(t.Context(), device)
			got, gotDetails, gotErr := safe.DeviceMatches(t.Context(), device)
			if got != want || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%s: %v, %v; without guards %v, %v", expression, got, gotErr, want, wantErr)
			}
			// How soon exists() finds a key depends on the order of a Go map.
			if wantDetails != nil && *gotDetails.ActualCost() != *wantDetails.ActualCost() && !strings.Contains(expression, "exists(k, ") {
				t.Errorf("%s: cost %d, without guards %d", expression, *gotDetails.ActualCost(), *wantDetails.ActualCost())
			}
			evaluated++
		}
	}
	if evaluated < n {
		t.Errorf("only %d evaluations", evaluated)
	}
}

// Ordinary selectors are evaluated by the scheduler's own program.
func TestOrdinarySelectorsNeedNoGuard(t *testing.T) {
	for expression, want := range map[string]bool{
		`device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model in ["A", "B"]`:      true,
		`device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0`:                          true,
		`has(device.attributes["a.b"].c) && device.attributes["a.b"].?c.orValue("") != ""`:                    true,
		`device.attributes["a.b"].version.isGreaterThan(semver("1.0.0"))`:                                     true,
		`device.capacity["gpu.example.com"].memory.compareTo(quantity("1e-2000000000")) >= 0`:                 false,
		`device.attributes["a.b"].tags.exists(t, t == "x")`:                                                   false,
		`device.capacity["gpu.example.com"].memory.compareTo(quantity(device.attributes["a.b"].wanted)) >= 0`: false,
	} {
		s := &source{expression: expression}
		if s.CompileError() != nil {
			t.Fatalf("%s: %v", expression, s.CompileError())
		}
		if plain := s.guarded() == s.result(); plain != want {
			t.Errorf("%s: evaluated without guards: %v, want %v", expression, plain, want)
		}
	}
}
