package e2e

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// drainScenes is the number of scenes of TestDrains.
const drainScenes = 20

// TestDrains has kubectl dra plan say what draining a node does in 20 scenes with PodDisruptionBudgets, and
// then has kubectl drain do it: who is evicted at once, after others and never, and where those run that
// controllers make again.
func TestDrains(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"deployment-controller", "replicaset-controller", "job-controller", "daemonset-controller", "disruption-controller"}})
	makePriorities(t, c, 1)
	r := startRunner(t, c, 3*time.Second)
	scenes, pods := make([]*drain, drainScenes), 0
	for i := range scenes {
		scenes[i] = &drain{Cluster: c, rand: rand.New(rand.NewPCG(uint64(i), 53)), name: fmt.Sprint("drain-", i)}
		pods += scenes[i].fill(t)
	}
	r.settled(t, pods)
	before := r.rest(t, 0)
	var drains sync.WaitGroup
	for _, s := range scenes {
		result := s.Plugin(t, cluster.Admin, "plan", "drain", s.name+"-n0", "-o", "json")
		result.JSON(t, &s.answer)
		s.text, s.code = result.Stdout, result.Code
		cmd := s.Command(t, cluster.Admin)
		cmd.Args = append(cmd.Args[:1], "drain", s.name+"-n0", "--ignore-daemonsets", "--force", "--timeout=60s")
		drains.Go(func() { s.drain(cmd) })
	}
	drains.Wait()
	all := r.rest(t, cluster.DecidingTime)
	seen := map[string]int{}
	for _, s := range scenes {
		s.compare(t, before, all, r.ended, seen)
	}
	for _, what := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%3d %s", seen[what], what)
	}
	for what, least := range map[string]int{"certain": 5, "certain, and the node too": 1, "evicted at once": drainScenes, "evicted after others": 3, "never evicted, not known: false": 3, "then Placed": drainScenes, "then Pending": 1} {
		if seen[what] < least {
			t.Errorf("%q came up %d times, want %d", what, seen[what], least)
		}
	}
}

// drain is a scene: three nodes with pods, of which the first is drained.
type drain struct {
	*cluster.Cluster
	rand   *rand.Rand
	name   string
	answer struct {
		Gone []goneAnswer
		Held []struct {
			Pod, Message string
			Open         bool
		}
		Replay struct {
			Certain bool
			Doubts  []string
		}
	}
	text string
	code int
	// output is what kubectl drain printed, and failed whether it gave up.
	output string
	failed bool
}

// fill makes nodes, pods and budgets, and returns the number of pods.
func (s *drain) fill(t *testing.T) (pods int) {
	t.Helper()
	for n, cpu := range []int{4, 3, 3} {
		addNarrowNode(t, s.Cluster, s.name, fmt.Sprintf("%s-n%d", s.name, n), cpu)
	}
	text := "{apiVersion: v1, kind: Namespace, metadata: {name: " + s.name + "}}\n---\n"
	daemons := workload{kind: "DaemonSet", name: "daemon", labels: "tier: d"}
	text += daemons.yaml(s.name)
	for left := 4 + s.rand.IntN(5); left > 0; {
		w := workload{kind: []string{"Deployment", "Deployment", "ReplicaSet", "Job", "Pod"}[s.rand.IntN(5)], pods: 1, cpu: 1, sick: s.rand.IntN(10) == 0}
		if w.kind != "Pod" {
			w.pods += s.rand.IntN(min(4, left))
		}
		w.name, w.labels = fmt.Sprintf("w%d", pods), fmt.Sprint("tier: t", s.rand.IntN(2))
		text += w.yaml(s.name)
		if s.rand.IntN(3) > 0 {
			says := []string{"minAvailable: 1", "maxUnavailable: 1", "maxUnavailable: 1", "maxUnavailable: 2", "maxUnavailable: 0", "minAvailable: 60%", "maxUnavailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow"}
			text += budgetYAML(s.name, w.name, "app: "+w.name, says[s.rand.IntN(len(says))])
		}
		left, pods = left-w.pods, pods+w.pods
	}
	if s.rand.IntN(4) == 0 {
		text += budgetYAML(s.name, "tier", "tier: t0", "minAvailable: 1")
	}
	s.ApplyText(t, text)
	return pods + 3 // of the daemon set
}

// drain runs kubectl drain.
func (s *drain) drain(cmd *exec.Cmd) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	s.failed = cmd.Run() != nil
	s.output = out.String()
}

// refusedAtFirst is what kubectl prints of an eviction that a budget does not allow now.
var refusedAtFirst = regexp.MustCompile(`error when evicting pods/"([^"]+)" -n "[^"]+" \(will retry`)

// compare compares what has happened with what was said.
func (s *drain) compare(t *testing.T, before, all, ended map[string]*corev1.Pod, seen map[string]int) {
	t.Helper()
	evicted, stay, places := map[string]int{}, map[string]int{}, map[string][]string{}
	waiting := 0
	for name, pod := range before {
		switch {
		case pod.Namespace != s.name || pod.Spec.NodeName != s.name+"-n0" || strings.HasPrefix(pod.Name, "daemon"):
		case ended[name] != nil:
			evicted[whose(pod)]++
		default:
			stay[whose(pod)]++
		}
	}
	for name, pod := range ended {
		if pod.Namespace == s.name && (before[name] == nil || before[name].Spec.NodeName != s.name+"-n0" || strings.HasPrefix(pod.Name, "daemon")) {
			t.Errorf("%s: %s was ended", s.name, name)
		}
	}
	for name, pod := range all {
		if pod.Namespace == s.name && before[name] == nil {
			places[whose(pod)] = append(places[whose(pod)], pod.Spec.NodeName)
			if pod.Spec.NodeName == "" {
				waiting++
			}
		}
	}
	refused := map[string]bool{}
	for _, line := range refusedAtFirst.FindAllStringSubmatch(s.output, -1) {
		refused[line[1]] = true
	}
	if wrong := s.wrong(before, evicted, stay, places, len(refused), waiting); wrong != "" {
		t.Errorf("%s: %s; evicted %v, staying %v, again on %v\n%s\n%s", s.name, wrong, evicted, stay, places, s.text, s.output)
	}
	s.count(len(refused), seen)
}

// wrong says what was not true, or nothing.
func (s *drain) wrong(before map[string]*corev1.Pod, evicted, stay map[string]int, places map[string][]string, refused, waiting int) string {
	gone, held, again, waits, open := map[string]int{}, map[string]int{}, map[string][]string{}, 0, false
	several := s.comeAgain() > 1
	for i := range s.answer.Gone {
		g := &s.answer.Gone[i]
		gone[whose(before[g.Pod])]++
		if g.Again != nil && several { // where each is depends on which of them is made first
			g.Again.AnyOf = max(2, g.Again.AnyOf)
		}
		g.comesBack(again, s.name)
		if g.Eviction != nil {
			waits++
			open = open || !strings.HasPrefix(g.Eviction.Message, "waits until")
		}
	}
	for _, h := range s.answer.Held {
		if !strings.Contains(h.Message, "more than one protects") {
			waits++
		}
		if !h.Open {
			held[whose(before[h.Pod])]++
		}
	}
	for who, n := range held {
		if stay[who] < n {
			return fmt.Sprintf("%d of %s were to stay", n, who)
		}
	}
	switch {
	case !open && waits != refused:
		return fmt.Sprintf("%d evictions were to be refused at first or always, and %d were", waits, refused)
	case s.code == 0 && (s.failed || waiting > 0):
		return "all were to be evicted and to find nodes"
	case s.code == 3 && !s.failed && waiting == 0:
		return "some were to stay or to be left waiting"
	case s.answer.Replay.Certain && (!maps.Equal(gone, evicted) || !maps.EqualFunc(again, places, sameNodes)):
		return fmt.Sprintf("%v were to be evicted, and to be again on %v", gone, again)
	}
	return ""
}

// comeAgain is how many pods were said to come again and find a node.
func (s *drain) comeAgain() (n int) {
	for i := range s.answer.Gone {
		if s.answer.Gone[i].Again != nil {
			n++
		}
	}
	return n
}

// count counts what was said and came true.
func (s *drain) count(refused int, seen map[string]int) {
	seen[fmt.Sprintf("exit code %d, and kubectl drain gave up: %t", s.code, s.failed)]++
	seen["refused at first or always"] += refused
	if s.answer.Replay.Certain {
		seen["certain"]++
		if s.comeAgain() == 1 {
			seen["certain, and the node too"]++
		}
	} else {
		seen["not certain: "+strings.ReplaceAll(strings.Join(s.answer.Replay.Doubts[:min(1, len(s.answer.Replay.Doubts))], ""), s.name, "SCENE")]++
	}
	for i := range s.answer.Gone {
		g := &s.answer.Gone[i]
		if g.Eviction != nil {
			seen["evicted after others"]++
		} else {
			seen["evicted at once"]++
		}
		seen["then "+g.Then]++
	}
	for _, h := range s.answer.Held {
		seen[fmt.Sprint("never evicted, not known: ", h.Open)]++
	}
}
