package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// published is a selector of testdata/cel/expressions.txt with its answer.
type published struct {
	line       int
	expression string
	answer     string
}

var answerLine = regexp.MustCompile(`^=> (?:(does not compile)|(\d+) match, (\d+) fail(, refused)?(?:: (.*))?)$`)

// TestPublishedSelectors compares what is found with what testdata/cel/expressions.txt says, which was
// worked out by reading, and with the scheduler's own program on every device.
func TestPublishedSelectors(t *testing.T) {
	folders := readPublished(t)
	total := 0
	for header, selectors := range folders {
		folder, count, _ := strings.Cut(header, " ")
		t.Run(folder, func(t *testing.T) {
			bench, features := driverBench(t, filepath.Join("../../../testdata/drivers", folder))
			if n := strconv.Itoa(len(bench.subjects)); n != count {
				t.Fatalf("%s devices, want %s", n, count)
			}
			for _, s := range selectors {
				check(t, bench, features, s)
			}
		})
		total += len(selectors)
	}
	if total < 40 {
		t.Errorf("there are only %d selectors", total)
	}
}

func readPublished(t *testing.T) map[string][]published {
	t.Helper()
	data, err := os.ReadFile("../../../testdata/cel/expressions.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]published{}
	folder := ""
	var expression []string
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]"):
			folder = strings.Trim(line, "[]")
		case strings.HasPrefix(line, "=>"):
			out[folder] = append(out[folder], published{i + 1, strings.Join(expression, "\n"), line})
			expression = nil
		default:
			expression = append(expression, line)
		}
	}
	return out
}

func driverBench(t *testing.T, folder string) (*Bench, selector.Features) {
	t.Helper()
	read, err := manifest.Read(context.Background(), []string{folder}, manifest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	gates := map[inspect.Gate]bool{}
	for _, gate := range inspect.FeaturesUsedBy(read.Objects) {
		gates[gate] = true
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(gates)
	var subjects []Subject
	for _, d := range inspect.New(read.Objects, inspect.Config{Revision: 1, Features: features}).Devices() {
		subjects = append(subjects, Subject{d.ID.Driver, d.Device})
	}
	compiled := selector.Features{
		ConsumableCapacity: features.Enabled(inspect.GateConsumableCapacity), ListTypeAttributes: features.Enabled(inspect.GateListTypeAttributes),
	}
	return New(selector.NewCache(compiled), subjects), compiled
}

func check(t *testing.T, bench *Bench, features selector.Features, s published) {
	t.Helper()
	trial, err := bench.Try(context.Background(), s.expression)
	if err != nil {
		t.Fatal(err)
	}
	verify(t, bench, features, trial)
	m := answerLine.FindStringSubmatch(s.answer)
	if m == nil {
		t.Fatalf("line %d: %q is no answer", s.line, s.answer)
	}
	accepted, _ := trial.Check.Accepted()
	got := "=> does not compile"
	if trial.Check.Scheduler == nil {
		got = fmt.Sprintf("=> %d match, %d fail", trial.Matched, trial.Failed)
		if !accepted {
			got += ", refused"
		}
	}
	if names := m[5]; names != "" {
		var matched []string
		for i, subject := range bench.subjects {
			if trial.OutcomeOf(i).Result == Match {
				matched = append(matched, subject.Device.Name)
			}
		}
		slices.Sort(matched)
		got += ": " + strings.Join(matched, " ")
	}
	if got != s.answer {
		t.Errorf("line %d: %s\ngot  %s\nwant %s", s.line, s.expression, got, s.answer)
	}
	if findings := bench.Findings(trial); (trial.Check.Scheduler != nil || trial.Failed > 0 || trial.Matched == 0) && len(findings) == 0 {
		t.Errorf("line %d: %s: nothing is said about it", s.line, s.expression)
	}
}
