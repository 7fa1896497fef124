package kueue_test

import (
	"bufio"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/internal/randomqueue"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

var answers = flag.String("answers", "testdata/decided.tsv", "what Kueue decided, as written by e2e/kueue")

// answer is what Kueue did about a workload of a random state.
type answer struct {
	seed                                                      uint64
	namespace, name, outcome, sets, victims, message, refusal string
}

func readAnswers(t *testing.T) []answer {
	t.Helper()
	file, err := os.Open(*answers)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }() // nothing was written
	var out []answer
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		f := strings.Split(lines.Text(), "\t")
		seed, err := strconv.ParseUint(f[0], 10, 64)
		if err != nil || len(f) != 8 {
			t.Fatalf("not an answer: %q", lines.Text())
		}
		out = append(out, answer{seed, f[1], f[2], f[3], f[4], f[5], f[6], f[7]})
	}
	return out
}

// TestDecided compares decisions about workloads of random states with those of Kueue 0.19.1.
func TestDecided(t *testing.T) {
	counts, unknown := map[string]int{}, map[kueue.Code]int{}
	wrong, all := 0, 0
	var seed uint64
	var state *kueue.State
	var evicting map[kueue.Ref]bool
	read := readAnswers(t)
	for i, a := range read {
		if state == nil || a.seed != seed {
			seed = a.seed
			objects, config := randomqueue.State(seed)
			state = kueue.New(objects, config, randomqueue.Now)
			evicting = map[kueue.Ref]bool{}
			for _, w := range objects.KueueWorkloads {
				evicting[kueue.Ref{Namespace: w.Namespace, Name: w.Name}] = meta.IsStatusConditionTrue(w.Status.Conditions, kueuev1beta2.WorkloadEvicted)
			}
		}
		others := map[string]bool{} // whom Kueue evicts for somebody else
		for j := i; j < len(read) && read[j].seed == seed; j++ {
			others = evictedFor(read[j], a.name, others)
		}
		for j := i - 1; j >= 0 && read[j].seed == seed; j-- {
			others = evictedFor(read[j], a.name, others)
		}
		d := state.Decide(a.namespace, a.name)
		all++
		if d.Outcome == kueue.Unknown {
			counts["Unknown"]++
			unknown[d.Reasons[0].Code]++
			continue
		}
		if why := differ(d, a, evicting, others); why != "" {
			if wrong++; wrong <= 30 {
				t.Errorf("seed %d, workload %s: %s\nours:  %s %s %s %q %v\nkueue: %s %s %s %q %s", seed, a.name, why,
					d.Outcome, setsOf(d), victimsOf(d, evicting, others), d.Message, d.Reasons, a.outcome, a.sets, a.victims, a.message, a.refusal)
			}
			continue
		}
		counts[kind(d)]++
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%7d %s", counts[name], name)
	}
	for code, n := range unknown {
		t.Logf("%7d Unknown: %s", n, code)
	}
	t.Logf("%d workloads, %d decided otherwise, %.2f %% Unknown", all, wrong, 100*float64(counts["Unknown"])/float64(max(1, all)))
	if 100*counts["Unknown"] > 3*all {
		t.Errorf("%d of %d are Unknown", counts["Unknown"], all)
	}
}

// kind counts decisions by what they are about.
func kind(d kueue.Decision) string {
	out := string(d.Outcome)
	switch {
	case d.Outcome == kueue.Fits && d.Borrows:
		out += ", borrowing"
	case d.Outcome == kueue.Preempts:
		why := map[string]bool{}
		for _, v := range d.Victims {
			why[v.Why] = true
		}
		out += ": " + strings.Join(slices.Sorted(maps.Keys(why)), " ")
	case len(d.Reasons) > 0:
		out += ": " + string(d.Reasons[len(d.Reasons)-1].Code)
	}
	for _, set := range d.PodSets {
		if set.Count < set.Asked && d.Outcome == kueue.Fits {
			return out + ", fewer pods"
		}
	}
	return out
}

// differ says in what a decision is not what Kueue did, or returns "".
func differ(d kueue.Decision, a answer, evicting map[kueue.Ref]bool, others map[string]bool) string {
	switch {
	case a.refusal != "":
		if d.Outcome != kueue.Refused {
			return "outcome"
		}
	case a.outcome == string(kueue.Waits) && d.Outcome == kueue.Refused:
		if about(d.Message) != about(a.message) {
			return "message"
		}
	case string(d.Outcome) != a.outcome:
		return "outcome"
	case d.Outcome == kueue.Fits && setsOf(d) != a.sets:
		return "flavors"
	case d.Outcome == kueue.Preempts && victimsOf(d, evicting, others) != a.victims:
		return "victims"
	case d.Outcome == kueue.Waits && a.message != "" && !slices.Contains(strings.Split(a.message, " || "), d.Message):
		return "message"
	case d.Outcome == kueue.Waits && a.message == "" && d.Reasons[0].Code != kueue.BehindHead && d.Message == "":
		return "never considered"
	}
	return ""
}

func setsOf(d kueue.Decision) string {
	var parts []string
	for _, set := range d.PodSets {
		var flavors []string
		for name, flavor := range set.Flavors {
			flavors = append(flavors, fmt.Sprintf("%s=%s", name, flavor))
		}
		slices.Sort(flavors)
		parts = append(parts, fmt.Sprintf("%s×%d[%s]", set.Name, set.Count, strings.Join(flavors, " ")))
	}
	return strings.Join(parts, " ")
}

// victimsOf are the victims that are not on their way out already: Kueue says nothing anew about those.
func victimsOf(d kueue.Decision, evicting map[kueue.Ref]bool, others map[string]bool) string {
	var parts []string
	for _, v := range d.Victims {
		if evicting[v.Workload] || others[v.Workload.Name] {
			continue
		}
		parts = append(parts, v.Workload.Name+":"+v.Why)
	}
	slices.Sort(parts)
	return strings.Join(parts, " ")
}

// evictedFor adds whom Kueue evicts for a workload of another name.
func evictedFor(a answer, except string, to map[string]bool) map[string]bool {
	if a.name != except {
		for _, v := range strings.Fields(a.victims) {
			name, _, _ := strings.Cut(v, ":")
			to[name] = true
		}
	}
	return to
}

// about is the part of a message that has no path to a field in it.
func about(message string) string {
	if begin, _, ok := strings.Cut(message, ": "); ok && strings.HasPrefix(begin, "resources") {
		return begin
	}
	return message
}
