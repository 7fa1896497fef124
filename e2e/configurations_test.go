package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// configured is a configuration that kube-scheduler is started with.
type configured struct {
	name     string
	profiles string
	// open says that what it does cannot be known from the file: the plan must not be certain.
	open bool
	// differs says that in some scene the default configuration makes another plan, which is wrong.
	differs bool
}

// oneProfile is a configuration with a single profile.
func oneProfile(text string) string { return "profiles:\n- schedulerName: default-scheduler\n" + text }

func profilesToTry(refusing, down string) []configured {
	strategy := func(text string) string {
		return "  pluginConfig:\n  - name: NodeResourcesFit\n    args: {scoringStrategy: " + text + "}\n"
	}
	asked := func(url, more string) string {
		return fmt.Sprintf("extenders:\n- {urlPrefix: %q, filterVerb: filter, nodeCacheCapable: true, httpTimeout: 2s%s}\n", url, more)
	}
	packs := strategy("{type: MostAllocated, resources: [{name: cpu}]}") + "  plugins: {multiPoint: {disabled: [{name: NodeResourcesBalancedAllocation}]}}\n"
	return []configured{
		{name: "two profiles, of which one packs", profiles: oneProfile("") + "- schedulerName: packing\n" + packs},
		{name: "MostAllocated", profiles: oneProfile(packs), differs: true},
		{name: "RequestedToCapacityRatio", profiles: oneProfile(strategy(
			"{type: RequestedToCapacityRatio, resources: [{name: cpu}], requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 60, score: 10}, {utilization: 100, score: 0}]}}")), differs: true},
		{name: "filters off", profiles: oneProfile("  plugins: {filter: {disabled: [{name: NodeResourcesFit}]}, multiPoint: {disabled: [{name: InterPodAffinity}]}}\n"), differs: true},
		{name: "addedAffinity", profiles: oneProfile("  pluginConfig:\n  - name: NodeAffinity\n    args: {addedAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: " +
			"[{matchExpressions: [{key: kubernetes.io/hostname, operator: NotIn, values: [n0]}]}]}}}\n"), differs: true},
		{name: "ignoredResources", profiles: oneProfile("  pluginConfig:\n  - name: NodeResourcesFit\n    args: {ignoredResources: [example.com/licence]}\n"), differs: true},
		{name: "weights", profiles: oneProfile("  plugins:\n    multiPoint:\n      enabled: [{name: NodeResourcesBalancedAllocation, weight: 20}]\n      disabled: [{name: DefaultPreemption}, {name: ImageLocality}]\n")},
		{name: "extender that refuses", profiles: oneProfile("") + asked(refusing, ""), open: true},
		{name: "extender that is down", profiles: oneProfile("") + asked(down, ""), open: true},
		{name: "extender that is down and may be", profiles: oneProfile("") + asked(down, ", ignorable: true"), open: true},
		{name: "extender for another resource", profiles: oneProfile("") + asked(refusing, ", managedResources: [{name: example.com/none}]")},
		{name: "preemption and balance off, few nodes scored", profiles: "percentageOfNodesToScore: 100\n" + oneProfile(
			"  plugins: {multiPoint: {disabled: [{name: DefaultPreemption}, {name: NodeResourcesBalancedAllocation}, {name: PodTopologySpread}]}}\n")},
	}
}

// TestConfigurations has kubectl dra plan say what kube-scheduler will do with the pods that wait when it
// runs with each of twelve configurations, and then starts it with that. Where the plan is certain, exactly
// the pods of the plan are bound, to the nodes that it names. The plan by the default configuration is made
// for each scene too, and must be wrong where the configuration makes a difference.
func TestConfigurations(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{Controllers: []string{"resourceclaim-controller"}})
	for value := range int32(planPriorities) {
		class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("p%d", value)}, Value: 10 * value, PreemptionPolicy: ptr.To(corev1.PreemptNever)}
		if _, err := c.Client().SchedulingV1().PriorityClasses().Create(t.Context(), class, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	refusing := httptest.NewServer(http.HandlerFunc(refuseFirst))
	defer refusing.Close()
	down := "http://127.0.0.1:" + cluster.FreePorts(t, 1)[0]
	for i, config := range profilesToTry(refusing.URL, down) {
		seen := map[string]int{}
		// Many plans depend on chance, or are those of the default configuration too: others are played then.
		shown := func() bool {
			return config.open || seen["certain"] > 0 && (!config.differs || seen["wrong by default"] > 0)
		}
		for scene := 0; scene < 12 && (scene < effort.InFull(6, 1) || !shown()); scene++ {
			playConfigured(t, c, config, 100*i+scene, seen)
		}
		t.Log(config.name, seen)
		if !shown() {
			t.Errorf("%s: no plan is certain, or none is another by the default configuration", config.name)
		}
		if config.open && seen["certain"] > 0 {
			t.Errorf("%s: a plan is certain", config.name)
		}
	}
}

// refuseFirst is an extender that refuses the first node.
func refuseFirst(w http.ResponseWriter, r *http.Request) {
	var args extender.ExtenderArgs
	if err := json.NewDecoder(r.Body).Decode(&args); err != nil || args.NodeNames == nil {
		http.Error(w, "no names of nodes", http.StatusBadRequest)
		return
	}
	left := slices.DeleteFunc(slices.Clone(*args.NodeNames), func(name string) bool { return name == "n0" })
	_ = json.NewEncoder(w).Encode(&extender.ExtenderFilterResult{NodeNames: &left, FailedNodes: extender.FailedNodesMap{"n0": "refused"}})
}

// playConfigured plays a scene with a configuration, again if the scheduler decides otherwise: see playPlan.
func playConfigured(t *testing.T, c *cluster.Cluster, config configured, seed int, seen map[string]int) {
	t.Helper()
	var wrong error
	for range 6 {
		s := &planScene{Cluster: c, rng: rand.New(rand.NewPCG(uint64(seed), 43)), seen: map[string]int{}}
		if wrong = s.playWith(t, config); wrong == nil {
			for what, n := range s.seen {
				seen[what] += n
			}
			return
		}
		t.Logf("%s, seed %d: %v", config.name, seed, wrong)
	}
	t.Errorf("%s, seed %d: %v", config.name, seed, wrong)
}

func (s *planScene) playWith(t *testing.T, config configured) error {
	t.Helper()
	file := s.Configure(t, config.profiles)
	s.Clear(t)
	s.altered = s.vary(config)
	pods := s.setUp(t)
	s.awaitClaims(t, pods)
	var before, plan plannedAnswer
	s.Plugin(t, cluster.Admin, "plan", "pending", "-o", "json").JSON(t, &before)
	result := s.Plugin(t, cluster.Admin, "plan", "pending", "-o", "json", "--scheduler-config", file)
	result.JSON(t, &plan)
	s.Resume(t, "kube-scheduler")
	bound := s.settled(t, pods, plan)
	s.seen["bound"] += len(bound)
	if want, _ := before.wanted(bound); !maps.Equal(want, bound) && before.Replay.Certain {
		s.seen["wrong by default"]++
	}
	return s.asPlanned(plan, bound, result.Stdout)
}

// vary returns how the pods of a scene are other than those of plans, so that the configuration decides about
// some of them.
func (s *planScene) vary(config configured) func(i int, pod *corev1.Pod) {
	return func(i int, pod *corev1.Pod) {
		if strings.Contains(config.profiles, "packing") && i%2 == 0 {
			pod.Spec.SchedulerName = "packing"
		}
		if strings.Contains(config.profiles, "licence") {
			licence := corev1.ResourceList{"example.com/licence": resource.MustParse("1")}
			pod.Spec.Containers[0].Resources.Limits = licence
			pod.Spec.Containers[0].Resources.Requests["example.com/licence"] = licence["example.com/licence"]
		}
	}
}
