package bench

import (
	"context"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/internal/randomselector"
)

// FuzzTry runs any text as a selector on random devices: nothing panics or hangs, what the terms give
// explains the whole, and the whole is what the scheduler decides. The seed chooses the devices, and with
// text "" a random selector.
func FuzzTry(f *testing.F) {
	for _, expression := range []string{
		"", `device.driver == "gpu.example.com"`, `device.attributes["gpu.example.com"].model == "A100" && device.attributes["x.org"].index > 1`,
		`device.attributes.all(d, device.attributes[d].size() < 5)`, `cel.bind(a, device.attributes["x.org"], a.?model.orValue("") == "A100")`,
		`[1,2,3].map(x, x * 2).exists(y, y == 4) && device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("1"))`,
		"device.driver ==\n\t\"x\" ||\n// why\nfalse", `"\u202e" == device.driver`, `device.attributes["a/b"].c.bool`, `has(device.attributes["x.org"].tags)`,
		`device.attributes["gpu.example.com"].tags.includes("a")`, "1 ? 2", "(", `device["driver"] == "x"`, `device.attributes["gpu.example.com"].model.matches("(a+)+$")`,
	} {
		f.Add(expression, uint64(1))
		f.Add(expression, uint64(2))
	}
	f.Fuzz(func(t *testing.T, expression string, seed uint64) {
		g := randomselector.New(seed, 0, seed%3 == 0)
		if expression == "" && seed%2 == 0 {
			expression = g.Boolean(3)
		}
		var subjects []Subject
		for i := range g.IntN(6) {
			subjects = append(subjects, subject(g, i))
		}
		features := selector.Features{ConsumableCapacity: seed&4 == 0, ListTypeAttributes: seed&8 == 0}
		b := New(selector.NewCache(features), subjects)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		trial, err := b.Try(ctx, expression)
		if err != nil {
			t.Fatalf("it hangs: %v", err)
		}
		verify(t, b, features, trial)
		findings := b.Findings(trial)
		if trial.Check.Scheduler != nil && len(findings) == 0 {
			t.Errorf("it does not compile (%v), and there is nothing to say about it", trial.Check.Scheduler)
		}
		for _, finding := range findings {
			if finding.Message == "" {
				t.Errorf("%s without a message", finding.Code)
			}
		}
	})
}
