package filters

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1alpha3 "k8s.io/api/scheduling/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// otherKube is a running kube-scheduler of another release.
type otherKube struct {
	// of makes a problem what a server of the release has.
	of         func(*problem) (*problem, error)
	in         *json.Encoder
	out        *json.Decoder
	complaints *strings.Builder
	// rules counts the pods that a rule of the release decides otherwise than the rule before it.
	rules map[filters.Plugin]int
	// unscored are the plugins that hardly give nodes points.
	unscored []filters.Plugin
}

func startKube(t *testing.T, program string, of func(*problem) (*problem, error)) *otherKube {
	t.Helper()
	command := exec.CommandContext(context.Background(), program, "-test.run", "^TestServe$", "-test.timeout", "0")
	var complaints strings.Builder
	command.Stderr = &complaints
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := command.Wait(); err != nil && !t.Failed() {
			t.Errorf("the scheduler ended with %v: %s", err, complaints.String())
		}
	})
	return &otherKube{of: of, in: json.NewEncoder(in), out: json.NewDecoder(out), complaints: &complaints, rules: map[filters.Plugin]int{}, unscored: []filters.Plugin{filters.VolumeBinding}}
}

// ask returns the problem as the server has it, and what the scheduler says of it. The question is what it is
// asked besides the filters.
func (s *otherKube) ask(p *problem, question kubeProblem) (*problem, []kubePod, error) {
	asked, err := s.of(p)
	if err != nil {
		return nil, nil, err
	}
	question.Gates, question.Asked = map[string]bool{}, asked.asked
	features := asked.features()
	for _, gate := range inspect.Gates() {
		if features.Knows(gate) {
			question.Gates[string(gate)] = features.Enabled(gate)
		}
	}
	for _, object := range append(seen(&asked.objects), asked.controllers.objects()...) {
		raw, err := encoded(object, asked.minor)
		if err != nil {
			return nil, nil, err
		}
		question.Objects = append(question.Objects, raw)
	}
	var reply kubeReply
	for range 30 { // it takes volumes, and in 1.34 the pools of a node, in an order by chance, and may contradict itself
		if err := s.in.Encode(question); err != nil {
			return nil, nil, fmt.Errorf("asking the scheduler: %w: %s", err, s.complaints)
		}
		reply = kubeReply{}
		if err := s.out.Decode(&reply); err != nil {
			return nil, nil, fmt.Errorf("reading from the scheduler: %w: %s", err, s.complaints)
		}
		if !strings.Contains(reply.Failure, "the framework says") {
			break
		}
	}
	if reply.Failure != "" {
		return nil, nil, fmt.Errorf("the scheduler: %s", reply.Failure)
	}
	return asked, reply.Pods, asked.keepOnly(reply)
}

// ruleVersions are those in which releases read DeviceTaintRules, where it is not the newest one.
var ruleVersions = map[int]string{34: "v1alpha3", 35: "v1alpha3", 36: "v1beta2"}

// keepOnly leaves of the objects what the release knows of them.
func (p *problem) keepOnly(reply kubeReply) error {
	if p.minor >= inspect.NewestMinor {
		return nil
	}
	var kept inspect.Objects
	for _, raw := range reply.Objects {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(withRuleVersion(raw, ruleVersions[p.minor], "v1"), nil, nil)
		if err != nil {
			return fmt.Errorf("reading %s: %w", raw, err)
		}
		if object, ok := object.(metav1.Object); ok {
			kept.Add(object)
		}
	}
	for _, pod := range p.objects.Pods { // those that have ended, which the scheduler does not see
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			kept.Pods = append(kept.Pods, pod)
		}
	}
	p.objects, p.asked = kept, reply.Asked
	return nil
}

// withRuleVersion replaces the version of a DeviceTaintRule.
func withRuleVersion(raw json.RawMessage, from, to string) json.RawMessage {
	if from == "" || to == "" || !strings.Contains(string(raw), `"kind":"DeviceTaintRule"`) {
		return raw
	}
	const group = `"apiVersion":"resource.k8s.io/`
	return json.RawMessage(strings.Replace(string(raw), group+from+`"`, group+to+`"`, 1))
}

// encoded is an object in JSON, with its kind, for a release.
func encoded(object runtime.Object, minor int) (json.RawMessage, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(object)
	if err != nil {
		return nil, fmt.Errorf("encoding %T: %w", object, err)
	}
	object = object.DeepCopyObject()
	object.GetObjectKind().SetGroupVersionKind(kinds[0])
	if _, ok := object.(*schedulingv1alpha3.CompositePodGroup); ok {
		object.GetObjectKind().SetGroupVersionKind(inspect.KindOf(inspect.CompositePodGroups).GroupVersionKind())
	}
	raw, err := json.Marshal(object)
	return withRuleVersion(raw, "v1", ruleVersions[minor]), err
}

// compare compares all that the scheduler is asked. check says whether the comparison of filters has tried
// enough, and preempting which outcomes of preemption one of so many refused pods has to have.
func (s *otherKube) compare(t *testing.T, preempting map[string]int, check func(t *testing.T, c counts)) {
	t.Helper()
	t.Run("Filters", func(t *testing.T) {
		c := compareMany(t, s.compareFilters, effort.Of(20_000, 3_000))
		t.Log(c)
		check(t, c)
	})
	t.Run("Scores", func(t *testing.T) {
		c := scoreCounts{varied: map[filters.Plugin]int{}, doubts: map[string]int{}}
		for i := uint64(0); c.pods < effort.Of(20_000, 2_000) && !t.Failed(); i++ {
			s.compareScores(t, &c, generateScored(rand.New(rand.NewPCG(*seed, i))))
		}
		t.Log(c)
		c.check(t, s.unscored...)
	})
	t.Run("Preemption", func(t *testing.T) { s.comparePreemptions(t, preempting) })
	for name, aspects := range map[string][]aspect{"Verdicts": aspects, "Claims": {claimLife}} {
		t.Run(name, func(t *testing.T) {
			t.Log(compareProblems(t, verdicts(s.answers), effort.Of(5_000, 500), func(r *rand.Rand) *problem { return generateOf(r, aspects) }))
		})
	}
}

func (s *otherKube) answers(_ *testing.T, p *problem) (*problem, []kubeAnswer, error) {
	asked, theirs, err := s.ask(p, kubeProblem{})
	var out []kubeAnswer
	for i := range theirs {
		out = append(out, theirs[i].Answer)
	}
	return asked, out, err
}

func (s *otherKube) compareFilters(t *testing.T, p *problem) (comparison, error) {
	t.Helper()
	asked, theirs, err := s.ask(p, kubeProblem{})
	if err != nil {
		return comparison{}, err
	}
	snapshot := asked.snapshot()
	index := filters.NewIndex(snapshot, filters.NewIndex(earlier(snapshot), nil))
	asked.minor = inspect.NewestMinor
	before := filters.NewIndex(asked.snapshot(), nil)
	var out comparison
	for i, pod := range asked.asked {
		now, then := ours(index, pod, snapshot.Nodes()), ours(before, pod, snapshot.Nodes())
		for _, plugin := range filters.Plugins() {
			for node := range now.nodes {
				if (now.nodes[node][plugin] == "") != (then.nodes[node][plugin] == "") {
					s.rules[plugin]++
					break
				}
			}
		}
		theirs := read(theirs[i].Answer)
		out.ours, out.theirs = append(out.ours, now), append(out.theirs, theirs)
		out.disagreements = append(out.disagreements, differences(pod, theirs, now)...)
	}
	return out, nil
}

func (s *otherKube) compareScores(t *testing.T, c *scoreCounts, p *problem) {
	t.Helper()
	asked, theirs, err := s.ask(p, kubeProblem{Score: true})
	if err != nil {
		t.Fatal(err)
	}
	ours := newOurScores(asked)
	for i, pod := range asked.asked {
		if fitting := theirs[i].Scores.Fitting; pod.Spec.NodeName == "" && len(fitting) > 1 {
			c.pods++
			if diff := c.differences(theirs[i].Scores, ours.choose(pod, fitting), pod); diff != "" {
				t.Errorf("pod %s: %s\n%s", pod.Name, diff, asked.about(pod).manifest())
				return
			}
		}
	}
}

// comparePreemptions compares whom the scheduler would end. For each outcome one of so many refused pods has
// to have it.
func (s *otherKube) comparePreemptions(t *testing.T, one map[string]int) {
	counts := map[string]int{}
	for i := uint64(0); counts[refusedPod] < effort.Of(10_000, 800) && !t.Failed(); i++ {
		r := rand.New(rand.NewPCG(*seed+1, i))
		p := generateOf(r, crowding)
		prioritize(r, p)
		budgets := randomBudgets(r)
		asked, theirs, err := s.ask(p, kubeProblem{Preempt: true, Budgets: budgets})
		if err != nil {
			t.Fatal(err)
		}
		clusters, _ := asked.withBudgets(budgets)
		for i, pod := range asked.asked {
			if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil || waitsForController(pod) {
				continue
			}
			for k := range clusters {
				for _, outcome := range comparePreemption(t, theirs[i].Preemption[k], clusters[k], pod) {
					counts[outcome]++
				}
			}
		}
		if t.Failed() {
			t.Logf("problem %d\n%s", i, asked.manifest())
		}
	}
	t.Log(counts)
	for outcome, one := range one {
		if counts[outcome] < counts[refusedPod]/one {
			t.Errorf("%s: %d of %d pods", outcome, counts[outcome], counts[refusedPod])
		}
	}
	if unknown := counts["Unknown"]; unknown > counts[refusedPod]/100 {
		t.Errorf("of %d of %d pods it is not known", unknown, counts[refusedPod])
	}
}
