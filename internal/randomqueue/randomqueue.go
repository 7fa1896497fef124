// Package randomqueue makes random states of Kueue: queues in cohorts, flavors, workloads that hold quota or
// wait for it, and claims.
package randomqueue

import (
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue"
)

// Now is the time of all states.
var Now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// maker makes one state.
type maker struct {
	*rand.Rand

	objects   *inspect.Objects
	config    kueue.Config
	resources []corev1.ResourceName
	flavors   []string
	age       int
}

// State is the state of a seed. Equal seeds give equal states.
func State(seed uint64) (*inspect.Objects, kueue.Config) {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 33)), objects: &inspect.Objects{}, config: kueue.DefaultConfig()}
	m.config.Assumed, m.config.LimitRanges = false, []*corev1.LimitRange{}
	m.resources = []corev1.ResourceName{"cpu", "memory", "example.com/gpu", "gpus"}[:3]
	if m.chance(80) {
		m.resources = append(m.resources, "gpus")
	}
	if m.chance(20) {
		m.resources = append(m.resources, "pods")
	}
	m.settings()
	m.devices()
	m.namespaces()
	m.makeFlavors()
	m.makeCohorts()
	m.makeQueues()
	for range 4 + m.IntN(20) {
		m.workload()
	}
	return m.objects, m.config
}

func (m *maker) chance(percent int) bool { return m.IntN(100) < percent }

func pick[T any](m *maker, of ...T) T { return of[m.IntN(len(of))] }

func (m *maker) settings() {
	c := &m.config
	if m.chance(30) {
		c.FairSharing = &kueue.FairSharing{}
		switch m.IntN(4) {
		case 0:
			c.FairSharing.PreemptionStrategies = []string{"LessThanOrEqualToFinalShare"}
		case 1:
			c.FairSharing.PreemptionStrategies = []string{"LessThanInitialShare"}
		}
	}
	c.DeviceClassMappings = []kueue.DeviceClassMapping{{Resource: "gpus", DeviceClasses: []string{"gpu"}}}
	if m.chance(50) {
		c.DeviceClassMappings = append(c.DeviceClassMappings, kueue.DeviceClassMapping{Resource: "gpumemory", DeviceClasses: []string{"part"},
			Sources: []kueue.DeviceSource{{Driver: "gpu.example.com", Counter: "memory", Selector: `device.driver == "gpu.example.com"`}}})
		m.resources = append(m.resources, "gpumemory")
	}
	if m.chance(5) {
		c.ExcludeResourcePrefixes = []string{"mem"}
	}
	if m.chance(5) {
		c.Transformations = []kueue.Transformation{{Input: "example.com/gpu", Replace: m.chance(50), Outputs: map[corev1.ResourceName]resource.Quantity{
			"cpu": resource.MustParse("500m"), "gpus": resource.MustParse("2")}}}
	}
	c.IgnoreUndeclared = m.chance(10)
	c.Gates = map[string]bool{}
	if m.chance(5) {
		c.Gates["PrioritySortingWithinCohort"] = false
	}
	if m.chance(5) {
		c.Gates["PartialAdmission"] = false
	}
	if m.chance(3) {
		c.Gates["KueueDRAIntegration"] = false
	}
	if m.chance(5) {
		c.Gates["FairSharingPrioritizeNonBorrowing"] = false
	}
	if m.chance(5) {
		c.Gates["FairSharingPreemptWithinNominal"] = false
	}
	if m.chance(10) {
		c.Gates["KueueDRAIntegrationConsumableCapacity"] = true
		c.DeviceClassMappings[0].Sources = []kueue.DeviceSource{{Driver: "gpu.example.com", Capacity: "memory", Selector: "true"}}
	}
}

func (m *maker) devices() {
	for _, name := range []string{"gpu", "part", "other"} {
		class := &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
		class.Spec.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: `device.driver == "gpu.example.com"`}}}
		if name == "gpu" && m.chance(50) {
			class.Spec.ExtendedResourceName = new("example.com/gpu")
		}
		m.objects.Classes = append(m.objects.Classes, class)
	}
	for i := range 1 + m.IntN(2) {
		s := &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("slice", i)}}
		s.Spec.Driver, s.Spec.Pool = "gpu.example.com", resourcev1.ResourcePool{Name: fmt.Sprint("pool", i), ResourceSliceCount: 1}
		if m.chance(10) {
			s.Spec.Pool.ResourceSliceCount = 2
		}
		for j := range 1 + m.IntN(5) {
			d := resourcev1.Device{Name: fmt.Sprint("gpu", j), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: new(pick(m, "a100", "h100"))},
			}}
			d.Capacity = map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse(pick(m, "4", "8", "10"))}}
			if m.chance(50) {
				d.Capacity["memory"] = resourcev1.DeviceCapacity{Value: resource.MustParse("10"), RequestPolicy: &resourcev1.CapacityRequestPolicy{
					Default: new(resource.MustParse("2")), ValidRange: &resourcev1.CapacityRequestPolicyRange{
						Min: new(resource.MustParse("2")), Max: new(resource.MustParse("10")), Step: new(resource.MustParse("4"))}}}
			}
			if m.chance(80) {
				d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{
					"memory": {Value: resource.MustParse(pick(m, "1", "2", "4"))},
				}}}
			}
			s.Spec.Devices = append(s.Spec.Devices, d)
		}
		m.objects.Slices = append(m.objects.Slices, s)
	}
	for i := range 4 {
		t := &resourcev1.ResourceClaimTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: fmt.Sprint("template", i)}}
		for j := range 1 + m.IntN(2) {
			t.Spec.Spec.Devices.Requests = append(t.Spec.Spec.Devices.Requests, m.request(fmt.Sprint("r", j)))
		}
		m.objects.Templates = append(m.objects.Templates, t)
	}
}

func (m *maker) request(name string) resourcev1.DeviceRequest {
	r := resourcev1.DeviceRequest{Name: name, Exactly: &resourcev1.ExactDeviceRequest{
		DeviceClassName: pick(m, "gpu", "gpu", "gpu", "part", "part"), AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: int64(1 + m.IntN(2)),
	}}
	switch m.IntN(25) {
	case 0:
		return resourcev1.DeviceRequest{Name: name, FirstAvailable: []resourcev1.DeviceSubRequest{{Name: "a", DeviceClassName: "gpu", AllocationMode: "ExactCount", Count: 1}}}
	case 1:
		r.Exactly.AdminAccess = new(true)
	case 2:
		r.Exactly.AllocationMode, r.Exactly.Count = resourcev1.DeviceAllocationModeAll, 0
	case 3:
		r.Exactly.DeviceClassName = "other"
	case 4:
		r.Exactly.DeviceClassName = "absent"
	case 5, 6, 7, 8:
		r.Exactly.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{
			Expression: fmt.Sprintf(`device.attributes["gpu.example.com"].model == %q`, pick(m, "a100", "h100"))}}}
	case 9:
		r.Exactly.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: pick(m, "device.", `device.attributes["gpu.example.com"].absent == 1`)}}}
	case 10, 11:
		r.Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(pick(m, "1", "3", "7", "20"))}}
	}
	return r
}

func (m *maker) namespaces() {
	for _, name := range []string{"ml", "web"} {
		m.objects.Namespaces = append(m.objects.Namespaces, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name}}})
	}
}

func (m *maker) makeFlavors() {
	for i := range 1 + m.IntN(4) {
		name := fmt.Sprint("flavor", i)
		f := &kueuev1beta2.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if m.chance(50) {
			f.Spec.NodeLabels = map[string]string{"zone": pick(m, "a", "b")}
		}
		if m.chance(20) {
			f.Spec.NodeTaints = []corev1.Taint{{Key: "spot", Value: "true", Effect: pick(m, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)}}
			if m.chance(30) {
				f.Spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpExists}}
			}
		}
		m.flavors = append(m.flavors, name)
		m.objects.ResourceFlavors = append(m.objects.ResourceFlavors, f)
	}
}

// groups are resource groups with quotas. Limits make sense only below a cohort.
func (m *maker) groups(limits bool) []kueuev1beta2.ResourceGroup {
	covered := append([]corev1.ResourceName(nil), m.resources...)
	flavors := append([]string(nil), m.flavors...)
	m.Shuffle(len(covered), func(i, j int) { covered[i], covered[j] = covered[j], covered[i] })
	if m.chance(4) {
		covered = covered[1:]
	}
	groups := 1
	if len(flavors) > 1 && len(covered) > 1 && m.chance(30) {
		groups = 2
	}
	var out []kueuev1beta2.ResourceGroup
	for i := range groups {
		g := kueuev1beta2.ResourceGroup{CoveredResources: covered[i*len(covered)/groups : (i+1)*len(covered)/groups]}
		for _, flavor := range flavors[i*len(flavors)/groups : (i+1)*len(flavors)/groups] {
			if m.chance(20) && len(g.Flavors) > 0 {
				continue
			}
			q := kueuev1beta2.FlavorQuotas{Name: kueuev1beta2.ResourceFlavorReference(flavor)}
			for _, name := range g.CoveredResources {
				r := kueuev1beta2.ResourceQuota{Name: name, NominalQuota: *resource.NewQuantity(int64(max(0, m.IntN(16)-2)), resource.DecimalSI)}
				if m.chance(1) {
					r.NominalQuota = resource.MustParse("1e30")
				}
				if limits && m.chance(30) {
					r.BorrowingLimit = resource.NewQuantity(int64(m.IntN(6)), resource.DecimalSI)
				}
				if limits && m.chance(30) {
					r.LendingLimit = resource.NewQuantity(int64(m.IntN(6)), resource.DecimalSI)
				}
				q.Resources = append(q.Resources, r)
			}
			g.Flavors = append(g.Flavors, q)
		}
		out = append(out, g)
	}
	return out
}

func (m *maker) sharing() *kueuev1beta2.FairSharing {
	if m.chance(60) {
		return nil
	}
	return &kueuev1beta2.FairSharing{Weight: new(resource.MustParse(pick(m, "0", "1", "2", "500m")))}
}

func (m *maker) makeCohorts() {
	for i := range m.IntN(6) {
		c := &kueuev1beta2.Cohort{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("cohort", i)}}
		if i > 0 && m.chance(80) {
			c.Spec.ParentName = kueuev1beta2.CohortReference(fmt.Sprint("cohort", m.IntN(i)))
		}
		if i == 0 && m.chance(3) {
			c.Spec.ParentName = "cohort1" // perhaps a circle
		}
		if m.chance(40) {
			c.Spec.ResourceGroups = m.groups(c.Spec.ParentName != "")
		}
		c.Spec.FairSharing = m.sharing()
		m.objects.Cohorts = append(m.objects.Cohorts, c)
	}
}

func (m *maker) policy() kueuev1beta2.PreemptionPolicy {
	return pick(m, kueuev1beta2.PreemptionPolicyNever, kueuev1beta2.PreemptionPolicyLowerPriority, kueuev1beta2.PreemptionPolicyLowerPriority,
		kueuev1beta2.PreemptionPolicyLowerOrNewerEqualPriority, kueuev1beta2.PreemptionPolicyAny)
}

func (m *maker) makeQueues() {
	for i := range 1 + m.IntN(6) {
		name := fmt.Sprint("cq", i)
		c := &kueuev1beta2.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}}
		c.Status.Conditions = []metav1.Condition{{Type: kueuev1beta2.ClusterQueueActive, Status: metav1.ConditionTrue}}
		if m.chance(90) {
			c.Spec.CohortName = kueuev1beta2.CohortReference(fmt.Sprint("cohort", m.IntN(len(m.objects.Cohorts)+1)))
		}
		c.Spec.ResourceGroups = m.groups(c.Spec.CohortName != "")
		c.Spec.QueueingStrategy = pick(m, kueuev1beta2.BestEffortFIFO, kueuev1beta2.StrictFIFO)
		c.Spec.NamespaceSelector = &metav1.LabelSelector{}
		if m.chance(5) {
			c.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": "ml"}
		}
		c.Spec.FairSharing = m.sharing()
		within := m.policy()
		if within == kueuev1beta2.PreemptionPolicyAny {
			within = kueuev1beta2.PreemptionPolicyNever
		}
		c.Spec.Preemption = &kueuev1beta2.ClusterQueuePreemption{WithinClusterQueue: within, ReclaimWithinCohort: m.policy()}
		if m.chance(40) {
			c.Spec.Preemption.BorrowWithinCohort = &kueuev1beta2.BorrowWithinCohort{Policy: kueuev1beta2.BorrowWithinCohortPolicyLowerPriority}
			if m.chance(50) {
				c.Spec.Preemption.BorrowWithinCohort.MaxPriorityThreshold = new(int32(m.IntN(3)))
			}
		}
		if m.chance(50) {
			c.Spec.FlavorFungibility = &kueuev1beta2.FlavorFungibility{
				WhenCanBorrow:  pick(m, kueuev1beta2.MayStopSearch, kueuev1beta2.TryNextFlavor),
				WhenCanPreempt: pick(m, kueuev1beta2.MayStopSearch, kueuev1beta2.TryNextFlavor),
			}
			if m.chance(40) {
				c.Spec.FlavorFungibility.Preference = new(pick(m, kueuev1beta2.BorrowingOverPreemption, kueuev1beta2.PreemptionOverBorrowing))
			}
		}
		if m.chance(3) {
			c.Spec.StopPolicy = new(kueuev1beta2.Hold)
		}
		if m.chance(3) {
			c.Spec.ResourceGroups[0].Flavors[0].Name = "absent"
		}
		if m.chance(10) {
			m.check(c)
		}
		m.objects.ClusterQueues = append(m.objects.ClusterQueues, c)
		for _, ns := range []string{"ml", "web"} {
			q := &kueuev1beta2.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: fmt.Sprint("lq", i)}}
			q.Spec.ClusterQueue = kueuev1beta2.ClusterQueueReference(name)
			if m.chance(1) {
				q.Spec.StopPolicy = new(kueuev1beta2.Hold)
			}
			m.objects.LocalQueues = append(m.objects.LocalQueues, q)
		}
	}
}

func (m *maker) check(c *kueuev1beta2.ClusterQueue) {
	check := &kueuev1beta2.AdmissionCheck{ObjectMeta: metav1.ObjectMeta{Name: "check-" + c.Name}}
	check.Spec.ControllerName = "example.com/check"
	if m.chance(80) {
		check.Status.Conditions = []metav1.Condition{{Type: kueuev1beta2.AdmissionCheckActive, Status: metav1.ConditionTrue}}
	}
	rule := kueuev1beta2.AdmissionCheckStrategyRule{Name: kueuev1beta2.AdmissionCheckReference(check.Name)}
	if m.chance(30) {
		rule.OnFlavors = []kueuev1beta2.ResourceFlavorReference{c.Spec.ResourceGroups[0].Flavors[0].Name}
	}
	c.Spec.AdmissionChecksStrategy = &kueuev1beta2.AdmissionChecksStrategy{AdmissionChecks: []kueuev1beta2.AdmissionCheckStrategyRule{rule}}
	if m.chance(90) {
		m.objects.AdmissionChecks = append(m.objects.AdmissionChecks, check)
	}
}

func (m *maker) podSet(name string) kueuev1beta2.PodSet {
	set := kueuev1beta2.PodSet{Name: kueuev1beta2.PodSetReference(name), Count: int32(1 + m.IntN(3))}
	if m.chance(15) && set.Count > 1 {
		set.MinCount = new(int32(1 + m.IntN(int(set.Count))))
	}
	spec := &set.Template.Spec
	c := corev1.Container{Name: "c", Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{}}}
	for _, r := range []corev1.ResourceName{"cpu", "memory", "example.com/gpu"} {
		if m.chance(60) && (r != "example.com/gpu" || m.chance(50)) {
			c.Resources.Requests[r] = *resource.NewQuantity(int64(m.IntN(4)), resource.DecimalSI)
		}
	}
	if m.chance(10) {
		c.Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse(pick(m, "1", "4")), "memory": resource.MustParse("4")}
	}
	spec.Containers = []corev1.Container{c}
	if m.chance(25) {
		spec.NodeSelector = map[string]string{pick(m, "zone", "zone", "kind"): pick(m, "a", "b")}
	}
	if m.chance(15) {
		var terms []corev1.NodeSelectorTerm
		for range 1 + m.IntN(2) {
			terms = append(terms, corev1.NodeSelectorTerm{MatchExpressions: []corev1.NodeSelectorRequirement{{
				Key: pick(m, "zone", "kind"), Operator: pick(m, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), Values: []string{pick(m, "a", "b")}}}})
		}
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
	}
	if m.chance(40) {
		spec.Tolerations = []corev1.Toleration{{Key: "spot", Operator: corev1.TolerationOpEqual, Value: pick(m, "true", "true", "no")}}
	}
	return set
}

func (m *maker) workload() {
	m.age++
	queue := m.objects.LocalQueues[m.IntN(len(m.objects.LocalQueues))]
	w := &kueuev1beta2.Workload{ObjectMeta: metav1.ObjectMeta{Namespace: queue.Namespace, Name: fmt.Sprintf("w%02d", m.age)}}
	w.UID = types.UID(fmt.Sprintf("uid-%08x", m.Uint32()))
	w.CreationTimestamp = metav1.NewTime(Now.Add(-time.Duration(m.IntN(1000)*100+m.age) * time.Second))
	if m.chance(2) {
		w.CreationTimestamp = metav1.NewTime(Now.Add(-time.Hour)) // as old as others
	}
	w.Generation = 1
	w.Spec.QueueName = kueuev1beta2.LocalQueueName(queue.Name)
	w.Spec.Priority = new(int32(m.IntN(4)))
	w.Spec.PodSets = []kueuev1beta2.PodSet{m.podSet("main")}
	if m.chance(25) {
		w.Spec.PodSets = append(w.Spec.PodSets, m.podSet("more"))
		if m.chance(15) {
			for i := range w.Spec.PodSets {
				w.Spec.PodSets[i].TopologyRequest = &kueuev1beta2.PodSetTopologyRequest{PodSetGroupName: new("group")}
			}
		}
	}
	if m.chance(10) {
		w.Status.ReclaimablePods = []kueuev1beta2.ReclaimablePod{{Name: "main", Count: 1}}
	}
	m.objects.KueueWorkloads = append(m.objects.KueueWorkloads, w)
	if m.chance(50) && m.hold(w, queue) {
		return
	}
	if queue.Namespace == "ml" && m.chance(35) {
		c := corev1.PodResourceClaim{Name: "c", ResourceClaimTemplateName: new(fmt.Sprint("template", m.IntN(4)))}
		if m.chance(5) {
			c = corev1.PodResourceClaim{Name: "c", ResourceClaimName: new("claim")}
		}
		w.Spec.PodSets[0].Template.Spec.ResourceClaims = []corev1.PodResourceClaim{c}
	}
	switch m.IntN(60) {
	case 0:
		w.Spec.Active = new(false)
	case 1:
		w.Annotations = map[string]string{"kueue.x-k8s.io/admission-gated-by": "example.com/gate"}
	case 2:
		w.Status.RequeueState = &kueuev1beta2.RequeueState{RequeueAt: new(metav1.NewTime(Now.AddDate(100*(m.IntN(3)-1), 0, 0)))}
	case 3:
		w.Spec.QueueName = "absent"
	case 4:
		w.Status.AdmissionChecks = []kueuev1beta2.AdmissionCheckState{{Name: "check", State: pick(m, kueuev1beta2.CheckStateRetry, kueuev1beta2.CheckStateRejected)}}
	case 5:
		w.Status.Conditions = []metav1.Condition{{Type: kueuev1beta2.WorkloadEvicted, Status: metav1.ConditionTrue,
			Reason: pick(m, kueuev1beta2.WorkloadEvictedByAdmissionCheck, kueuev1beta2.WorkloadEvictedByPodsReadyTimeout), LastTransitionTime: metav1.NewTime(Now.Add(-time.Duration(m.age) * time.Second))}}
	}
}

// hold gives quota to a workload. It reports false if its queue has none to give.
func (m *maker) hold(w *kueuev1beta2.Workload, queue *kueuev1beta2.LocalQueue) bool {
	var spec *kueuev1beta2.ClusterQueueSpec
	for _, c := range m.objects.ClusterQueues {
		if c.Name == string(queue.Spec.ClusterQueue) {
			spec = &c.Spec
		}
	}
	a := &kueuev1beta2.Admission{ClusterQueue: queue.Spec.ClusterQueue}
	for i := range w.Spec.PodSets {
		set := &w.Spec.PodSets[i]
		assigned := kueuev1beta2.PodSetAssignment{Name: set.Name, Count: new(set.Count), Flavors: map[corev1.ResourceName]kueuev1beta2.ResourceFlavorReference{},
			ResourceUsage: corev1.ResourceList{}}
		for j := range spec.ResourceGroups {
			g := &spec.ResourceGroups[j]
			flavor := g.Flavors[m.IntN(len(g.Flavors))].Name
			for _, name := range g.CoveredResources {
				if m.chance(70) {
					assigned.Flavors[name] = flavor
					assigned.ResourceUsage[name] = *resource.NewQuantity(int64(set.Count)*int64(m.IntN(4)), resource.DecimalSI)
				}
			}
		}
		if len(assigned.Flavors) == 0 {
			return false
		}
		a.PodSetAssignments = append(a.PodSetAssignments, assigned)
	}
	w.Status.Admission = a
	at := metav1.NewTime(Now.Add(-time.Duration(m.IntN(50)*100+m.age) * time.Second))
	w.Status.Conditions = []metav1.Condition{{Type: kueuev1beta2.WorkloadQuotaReserved, Status: metav1.ConditionTrue, LastTransitionTime: at, Reason: "QuotaReserved"}}
	if m.chance(80) {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueuev1beta2.WorkloadAdmitted, Status: metav1.ConditionTrue, LastTransitionTime: at, Reason: "Admitted"})
	}
	if m.chance(10) {
		w.Status.Conditions = append(w.Status.Conditions, metav1.Condition{Type: kueuev1beta2.WorkloadEvicted, Status: metav1.ConditionTrue, LastTransitionTime: at, Reason: "Preempted"})
	}
	return true
}
