package kueue

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	_ "unsafe" // for linkname

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	testingclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	configv1beta2 "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/dra"
	"sigs.k8s.io/kueue/pkg/features"
	"sigs.k8s.io/kueue/pkg/resources"
	"sigs.k8s.io/kueue/pkg/scheduler"
	preemptexpectations "sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
	"sigs.k8s.io/kueue/pkg/util/routine"
	"sigs.k8s.io/kueue/pkg/util/wait"
	"sigs.k8s.io/kueue/pkg/workload"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/randomqueue"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

//go:linkname schedule sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).schedule
func schedule(s *scheduler.Scheduler, ctx context.Context) wait.SpeedSignal

//go:linkname setAdmissionRoutineWrapper sigs.k8s.io/kueue/pkg/scheduler.(*Scheduler).setAdmissionRoutineWrapper
func setAdmissionRoutineWrapper(s *scheduler.Scheduler, wrapper routine.Wrapper)

// answer is what Kueue did about a workload.
type answer struct {
	outcome kueue.Outcome
	sets    string
	victims string
	// messages are those of all cycles.
	messages []string
	// refusal is why it did not come into a queue.
	refusal string
}

// message is the last one, and those that came more than once: a head that stays may begin its search at
// another flavor in each cycle, and so change between them for ever.
func (a *answer) message() string {
	times := map[string]int{}
	for _, m := range a.messages {
		times[m]++
	}
	var out []string
	for _, m := range slices.Sorted(maps.Keys(times)) {
		if times[m] > 1 || m == a.messages[len(a.messages)-1] {
			out = append(out, line(m))
		}
	}
	return strings.Join(out, " || ")
}

// oracle is Kueue itself.
type oracle struct {
	api      *api
	cache    *schdcache.Cache
	queues   *qcache.Manager
	ctx      context.Context
	mapper   *dra.ResourceMapper
	extended *dra.ExtendedResourceCache
	byUID    map[types.UID]string
	answers  map[string]*answer
}

func setGates(t *testing.T, gates map[string]bool) {
	t.Helper()
	for name, on := range gates {
		if err := utilfeature.DefaultMutableFeatureGate.Set(fmt.Sprintf("%s=%t", name, on)); err != nil {
			t.Fatal(err)
		}
	}
}

// askKueue lets Kueue's scheduler run on the objects until nothing changes any more.
func askKueue(t *testing.T, objects *inspect.Objects, config kueue.Config) map[string]*answer {
	defaults := map[string]bool{}
	for name := range config.Gates {
		defaults[name] = utilfeature.DefaultFeatureGate.Enabled(featuregateFeature(name))
	}
	setGates(t, config.Gates)
	defer setGates(t, defaults)
	o := &oracle{api: &api{objects: objects}, ctx: ctrl.LoggerInto(t.Context(), logr.Discard()), byUID: map[types.UID]string{}, answers: map[string]*answer{}}
	s, waiting := o.start(t, config)
	for _, w := range objects.KueueWorkloads {
		o.byUID[w.UID] = w.Name
		if w.Status.Admission == nil {
			o.submit(w.DeepCopy())
		}
	}
	seen := map[string]int{}
	for cycle := 0; cycle < 300 && o.anybody(); cycle++ {
		schedule(s, o.ctx)
		waiting.Wait()
		changed := o.after()
		now := fmt.Sprint(o.queues.Dump())
		if seen[now]++; changed {
			seen = map[string]int{}
		} else if seen[now] > 15 {
			break
		}
	}
	return o.answers
}

func (o *oracle) start(t *testing.T, config kueue.Config) (*scheduler.Scheduler, *sync.WaitGroup) {
	clock := testingclock.NewFakeClock(randomqueue.Now)
	var transformations []configv1beta2.ResourceTransformation
	for _, x := range config.Transformations {
		strategy := configv1beta2.Retain
		if x.Replace {
			strategy = configv1beta2.Replace
		}
		transformations = append(transformations, configv1beta2.ResourceTransformation{Input: x.Input, Strategy: &strategy, MultiplyBy: x.MultiplyBy, Outputs: x.Outputs})
	}
	formatter := resources.NewResourceFormatter()
	o.mapper = dra.NewResourceMapper()
	if err := o.mapper.PopulateFromConfiguration(mappings(config)); err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Concat(o.mapper.CounterBasedResourceNames(), o.mapper.CapacityBasedResourceNames()) {
		formatter.RegisterBinaryFormattedResource(name)
	}
	o.extended = dra.NewExtendedResourceCache()
	for _, c := range o.api.objects.Classes {
		if c.Spec.ExtendedResourceName != nil {
			o.extended.Add(corev1.ResourceName(*c.Spec.ExtendedResourceName), c.Name)
		}
	}
	var sharing *configv1beta2.FairSharing
	if config.FairSharing != nil {
		sharing = &configv1beta2.FairSharing{}
		for _, name := range config.FairSharing.PreemptionStrategies {
			sharing.PreemptionStrategies = append(sharing.PreemptionStrategies, configv1beta2.PreemptionStrategy(name))
		}
	}
	strategy := configv1beta2.QuotaCheckStrategy("")
	if config.IgnoreUndeclared {
		strategy = configv1beta2.QuotaCheckIgnoreUndeclared
	}
	o.cache = schdcache.New(o.api, schdcache.WithExcludedResourcePrefixes(config.ExcludeResourcePrefixes), schdcache.WithResourceTransformations(transformations),
		schdcache.WithFairSharing(sharing != nil), schdcache.WithResourceFormatter(formatter))
	o.queues = qcache.NewManagerForUnitTests(o.api, o.cache, qcache.WithExcludedResourcePrefixes(config.ExcludeResourcePrefixes),
		qcache.WithResourceTransformations(transformations), qcache.WithResourceFormatter(formatter), qcache.WithPreemptionExpectations(preemptexpectations.New()),
		qcache.WithDRABackedResources(o.extended))
	log := logr.Discard()
	for _, q := range o.api.objects.LocalQueues {
		if q.Spec.StopPolicy == nil || *q.Spec.StopPolicy == kueuev1beta2.None {
			if err := o.queues.AddLocalQueue(o.ctx, q); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, f := range o.api.objects.ResourceFlavors {
		o.cache.AddOrUpdateResourceFlavor(log, f)
	}
	for _, c := range o.api.objects.AdmissionChecks {
		o.cache.AddOrUpdateAdmissionCheck(log, c)
	}
	for _, c := range o.api.objects.Cohorts {
		_ = o.cache.AddOrUpdateCohort(c) // an error says that there is a circle
		o.queues.AddOrUpdateCohort(o.ctx, c)
	}
	for _, c := range o.api.objects.ClusterQueues {
		_ = o.cache.AddClusterQueue(o.ctx, c)
		_ = o.queues.AddClusterQueue(o.ctx, c)
	}
	s := scheduler.New(o.queues, o.cache, o.api, silent{}, scheduler.WithFairSharing(sharing), scheduler.WithClock(t, clock),
		scheduler.WithPreemptionExpectations(preemptexpectations.New()), scheduler.WithQuotaCheckStrategy(strategy), scheduler.WithResourceFormatter(formatter))
	waiting := &sync.WaitGroup{}
	setAdmissionRoutineWrapper(s, routine.NewWrapper(func() { waiting.Add(1) }, waiting.Done))
	return s, waiting
}

func mappings(config kueue.Config) []configv1beta2.DeviceClassMapping {
	var out []configv1beta2.DeviceClassMapping
	for _, m := range config.DeviceClassMappings {
		to := configv1beta2.DeviceClassMapping{Name: m.Resource}
		for _, class := range m.DeviceClasses {
			to.DeviceClassNames = append(to.DeviceClassNames, corev1.ResourceName(class))
		}
		for _, from := range m.Sources {
			selector := resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{Expression: from.Selector}}
			source := configv1beta2.DeviceClassSourceConfig{}
			if from.Counter != "" {
				source.Counter = &configv1beta2.DeviceClassCounterSource{Driver: from.Driver, Name: from.Counter, DeviceSelector: selector}
			} else {
				source.Capacity = &configv1beta2.DeviceClassCapacitySource{Driver: from.Driver, Name: resourcev1.QualifiedName(from.Capacity), DeviceSelector: selector}
			}
			to.Sources = append(to.Sources, source)
		}
		out = append(out, to)
	}
	return out
}

// submit does what Kueue's controller of workloads does with one that is new.
func (o *oracle) submit(w *kueuev1beta2.Workload) {
	a := &answer{outcome: kueue.Waits}
	o.answers[w.Name] = a
	refuse := func(why string) { a.outcome, a.refusal = kueue.Refused, why }
	var options []workload.InfoOption
	if workload.Status(w) == workload.StatusPending && !features.Enabled(features.KueueDRAIntegration) &&
		features.Enabled(features.KueueDRARejectWorkloadsWhenDRADisabled) && workload.HasDRA(w) {
		refuse("Workload uses DRA resources but the KueueDRAIntegration feature gate is not enabled")
		return
	}
	needs := dra.NeedsDRAReconcile(w, o.extended)
	workload.AdjustResources(o.ctx, o.api, w)
	if needs {
		requests, replaced, why := o.devices(w)
		if why != "" {
			refuse(why)
			return
		}
		if len(requests) > 0 || len(replaced) > 0 {
			options = append(options, workload.WithPreprocessedDRAResources(requests, replaced))
		}
	}
	if err := o.queues.AddOrUpdateWorkload(logr.Discard(), w, options...); err != nil {
		refuse(err.Error())
		return
	}
	queue, _ := o.queues.ClusterQueueForWorkload(w)
	if !o.cache.ClusterQueueActive(queue) {
		refuse("inactive")
	} else if at := w.Status.RequeueState; at != nil && at.RequeueAt.After(randomqueue.Now) {
		refuse("back-off")
	}
}

func (o *oracle) after() (changed bool) {
	o.api.mu.Lock()
	written := o.api.written
	o.api.written = nil
	o.api.mu.Unlock()
	for _, w := range written {
		if c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadPreempted); c != nil && o.answers[w.Name] == nil || evictedNow(w) {
			o.evicted(w)
			continue
		}
		a := o.answers[w.Name]
		if a == nil {
			continue
		}
		reserved := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadQuotaReserved)
		switch {
		case reserved == nil:
		case reserved.Status == metav1.ConditionTrue:
			a.outcome, a.sets, a.messages, changed = kueue.Fits, setsText(w.Status.Admission), nil, true
		default:
			if strings.Contains(reserved.Message, "Pending the preemption of") {
				a.outcome = kueue.Preempts // of workloads that were evicted already, perhaps
			}
			a.messages = append(a.messages, reserved.Message)
		}
	}
	return changed
}

func evictedNow(w *kueuev1beta2.Workload) bool {
	c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadEvicted)
	return c != nil && c.Status == metav1.ConditionTrue && c.Reason == kueuev1beta2.WorkloadEvictedByPreemption
}

var preemptor = regexp.MustCompile(`\(UID: ([^,]*),`)

// evicted notes who is evicted for whom, and tells Kueue's cache, as its controller does.
func (o *oracle) evicted(w *kueuev1beta2.Workload) {
	c := meta.FindStatusCondition(w.Status.Conditions, kueuev1beta2.WorkloadPreempted)
	if found := preemptor.FindStringSubmatch(c.Message); found != nil {
		if a := o.answers[o.byUID[types.UID(found[1])]]; a != nil {
			a.outcome = kueue.Preempts
			a.victims += fmt.Sprintf(" %s:%s", w.Name, c.Reason)
			parts := strings.Fields(a.victims)
			slices.Sort(parts)
			a.victims = strings.Join(parts, " ")
		}
	}
	for i, known := range o.api.objects.KueueWorkloads {
		if known.Name != w.Name {
			continue
		}
		next := known.DeepCopy()
		for _, condition := range w.Status.Conditions {
			meta.SetStatusCondition(&next.Status.Conditions, condition)
		}
		if next.Status.Admission == nil {
			next.Status.Admission = w.Status.Admission
		}
		o.api.objects.KueueWorkloads[i] = next
		o.cache.AddOrUpdateWorkload(logr.Discard(), next.DeepCopy())
	}
}

// anybody reports whether there is a head for the next cycle, for which Kueue would wait otherwise.
func (o *oracle) anybody() bool {
	for name, refs := range o.queues.Dump() {
		if len(refs) > 0 && o.cache.ClusterQueueActive(name) {
			return true
		}
	}
	return false
}

func setsText(a *kueuev1beta2.Admission) string {
	var parts []string
	for _, set := range a.PodSetAssignments {
		var flavors []string
		for name, flavor := range set.Flavors {
			flavors = append(flavors, fmt.Sprintf("%s=%s", name, flavor))
		}
		slices.Sort(flavors)
		parts = append(parts, fmt.Sprintf("%s×%d[%s]", set.Name, *set.Count, strings.Join(flavors, " ")))
	}
	return strings.Join(parts, " ")
}
