package kueue

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/kueue/quota"
)

// State is the quota of a cluster and the workloads that hold it or wait for it, at one moment. It may be
// used by several goroutines at once, which wait for each other.
type State struct {
	config  Config
	now     time.Time
	objects inspect.Objects

	workloads   map[Ref]*kueuev1beta2.Workload
	localQueues map[Ref]*kueuev1beta2.LocalQueue
	queues      map[string]*queue
	cohorts     quota.Cohorts
	flavors     map[string]*kueuev1beta2.ResourceFlavor
	checks      map[string]*kueuev1beta2.AdmissionCheck
	topologies  map[string]bool
	namespaces  map[string]*corev1.Namespace
	// waiting are the workloads without quota, by ClusterQueue.
	waiting map[string][]*kueuev1beta2.Workload

	classes   map[string]*resourcev1.DeviceClass
	extended  map[corev1.ResourceName]*resourcev1.DeviceClass
	templates map[Ref]*resourcev1.ResourceClaimTemplate
	devices   []device
	complete  map[string][]device // of complete pools, by driver
	mappings  map[string]*mapping
	binary    map[corev1.ResourceName]bool
	cel       *selector.Cache

	known    *known
	mu       sync.Mutex
	prepared map[*queue]bool
	played   map[*quota.Node]map[Ref]*record
}

// known is what is known of workloads that wait, whatever the queues. States have it in common as long as
// nothing else has changed.
type known struct {
	mu     sync.Mutex
	claims map[Ref]*claim
	facts  map[*kueuev1beta2.Workload]*facts
}

// group is a resource group of a ClusterQueue.
type group struct {
	covered map[corev1.ResourceName]bool
	flavors []string
}

// queue is a ClusterQueue.
type queue struct {
	*quota.Node
	spec        *kueuev1beta2.ClusterQueueSpec
	groups      []group
	fungibility kueuev1beta2.FlavorFungibility
	strict      bool
	namespaces  labels.Selector
	// topologies says that all its flavors have a topology.
	topologies bool
	inactive   *Reason
	unknown    *Reason
	// pending are the workloads that wait, in order.
	pending []*waiting
}

// group is the resource group that covers a resource, or nil.
func (q *queue) group(name corev1.ResourceName) *group {
	for i := range q.groups {
		if q.groups[i].covered[name] {
			return &q.groups[i]
		}
	}
	return nil
}

// New makes the state of the objects. The time is when they were read: it ends back-offs.
func New(objects *inspect.Objects, config Config, now time.Time) *State {
	return build(objects, config, now, &State{})
}

// With is the state of other objects, in the same configuration and at the same time. It answers as a new one
// does, and takes over what workloads count for that are the very same, as far as nothing has changed that
// decides it. None of the objects of either state may be written to any more.
func (s *State) With(objects *inspect.Objects) *State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return build(objects, s.config, s.now, s)
}

// build makes a state, with what it can take over from another one.
func build(objects *inspect.Objects, config Config, now time.Time, like *State) *State {
	s := &State{
		config: config, now: now, objects: *objects,
		workloads: map[Ref]*kueuev1beta2.Workload{}, localQueues: map[Ref]*kueuev1beta2.LocalQueue{}, queues: map[string]*queue{}, cohorts: quota.CohortsOf(objects.Cohorts),
		flavors: map[string]*kueuev1beta2.ResourceFlavor{}, checks: map[string]*kueuev1beta2.AdmissionCheck{}, topologies: map[string]bool{},
		namespaces: map[string]*corev1.Namespace{}, waiting: map[string][]*kueuev1beta2.Workload{},
		prepared: map[*queue]bool{}, played: map[*quota.Node]map[Ref]*record{},
	}
	s.indexTemplates(objects, like)
	for _, n := range objects.Namespaces {
		s.namespaces[n.Name] = n
	}
	for _, f := range objects.ResourceFlavors {
		s.flavors[f.Name] = f
	}
	for _, c := range objects.AdmissionChecks {
		s.checks[c.Name] = c
	}
	for _, t := range objects.Topologies {
		s.topologies[t.Name] = true
	}
	for _, q := range objects.LocalQueues {
		s.localQueues[Ref{q.Namespace, q.Name}] = q
	}
	s.indexQueues(objects)
	for _, w := range objects.KueueWorkloads {
		s.workloads[Ref{w.Namespace, w.Name}] = w
		if holdsQuota(w) {
			if n := s.queues[string(w.Status.Admission.ClusterQueue)]; n != nil {
				held := s.newWorkload(w, n.Node)
				held.Sets = s.admittedSets(w)
				held.Used = quota.UsedBy(held.Sets)
				n.Held[held] = true
				for fr, a := range held.Used {
					n.Usage[fr] = n.Usage[fr].Add(a)
				}
			}
		} else if name := s.QueueOf(w); name != "" {
			s.waiting[name] = append(s.waiting[name], w)
		}
	}
	for _, c := range s.cohorts {
		if c.Parent == nil {
			c.Sum()
		}
	}
	for _, n := range s.queues {
		if n.inactive != nil && n.Parent != nil { // its quota counts, but nobody takes anything from it
			n.Parent.Queues = slices.DeleteFunc(n.Parent.Queues, func(child *quota.Node) bool { return child == n.Node })
		}
	}
	return s
}

// same reports whether two lists are the very same.
func same[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// indexTemplates indexes devices and templates, and takes over what does not depend on others than before.
func (s *State) indexTemplates(objects *inspect.Objects, like *State) {
	kept := like.cel != nil && same(objects.Classes, like.objects.Classes) && same(objects.Slices, like.objects.Slices)
	if kept {
		s.classes, s.extended, s.devices, s.complete = like.classes, like.extended, like.devices, like.complete
		s.mappings, s.binary, s.cel = like.mappings, like.binary, like.cel
	} else {
		s.indexDevices(objects)
	}
	if kept && same(objects.Templates, like.objects.Templates) {
		s.templates, s.known = like.templates, like.known
		return
	}
	s.templates = map[Ref]*resourcev1.ResourceClaimTemplate{}
	for _, t := range objects.Templates {
		s.templates[Ref{t.Namespace, t.Name}] = t
	}
	s.known = &known{claims: map[Ref]*claim{}, facts: map[*kueuev1beta2.Workload]*facts{}}
	if !kept {
		return
	}
	like.known.mu.Lock()
	defer like.known.mu.Unlock()
	changed := func(ref Ref) bool { return s.templates[ref] != like.templates[ref] }
	for ref, c := range like.known.claims {
		if !changed(ref) {
			s.known.claims[ref] = c
		}
	}
	for w, f := range like.known.facts {
		if slices.ContainsFunc(templatesOf(w), changed) {
			f = &facts{exceeds: f.exceeds, looks: f.looks}
		}
		s.known.facts[w] = f
	}
}

func (s *State) indexDevices(objects *inspect.Objects) {
	s.classes, s.extended = map[string]*resourcev1.DeviceClass{}, map[corev1.ResourceName]*resourcev1.DeviceClass{}
	s.mappings, s.binary, s.complete = mappingsOf(s.config.DeviceClassMappings), map[corev1.ResourceName]bool{}, map[string][]device{}
	s.cel = selector.NewCache(selector.Features{HideSharing: true})
	for _, m := range s.config.DeviceClassMappings {
		s.binary[m.Resource] = s.binary[m.Resource] || len(m.Sources) > 0
	}
	for _, c := range objects.Classes {
		s.classes[c.Name] = c
		if c.Spec.ExtendedResourceName == nil {
			continue
		}
		name := corev1.ResourceName(*c.Spec.ExtendedResourceName)
		if known := s.extended[name]; known == nil || known.CreationTimestamp.Before(&c.CreationTimestamp) ||
			known.CreationTimestamp.Equal(&c.CreationTimestamp) && c.Name < known.Name {
			s.extended[name] = c
		}
	}
	type pool struct{ driver, name string }
	newest := map[pool][]*resourcev1.ResourceSlice{}
	var pools []pool
	for _, slice := range objects.Slices {
		for i := range slice.Spec.Devices {
			s.devices = append(s.devices, device{slice.Spec.Driver, &slice.Spec.Devices[i]})
		}
		p := pool{slice.Spec.Driver, slice.Spec.Pool.Name}
		switch known := newest[p]; {
		case len(known) == 0:
			newest[p], pools = []*resourcev1.ResourceSlice{slice}, append(pools, p)
		case slice.Spec.Pool.Generation > known[0].Spec.Pool.Generation:
			newest[p] = []*resourcev1.ResourceSlice{slice}
		case slice.Spec.Pool.Generation == known[0].Spec.Pool.Generation:
			newest[p] = append(known, slice)
		}
	}
	for _, p := range pools {
		if int64(len(newest[p])) != newest[p][0].Spec.Pool.ResourceSliceCount {
			continue
		}
		for _, slice := range newest[p] {
			for i := range slice.Spec.Devices {
				s.complete[p.driver] = append(s.complete[p.driver], device{p.driver, &slice.Spec.Devices[i]})
			}
		}
	}
}

func (s *State) indexQueues(objects *inspect.Objects) {
	for _, c := range objects.ClusterQueues {
		q := &queue{Node: quota.NewQueue(c), spec: &c.Spec, strict: c.Spec.QueueingStrategy == kueuev1beta2.StrictFIFO,
			fungibility: kueuev1beta2.FlavorFungibility{WhenCanBorrow: kueuev1beta2.MayStopSearch, WhenCanPreempt: kueuev1beta2.TryNextFlavor}}
		for i := range c.Spec.ResourceGroups {
			g := group{covered: map[corev1.ResourceName]bool{}}
			for _, name := range c.Spec.ResourceGroups[i].CoveredResources {
				g.covered[name] = true
			}
			for j := range c.Spec.ResourceGroups[i].Flavors {
				g.flavors = append(g.flavors, string(c.Spec.ResourceGroups[i].Flavors[j].Name))
			}
			q.groups = append(q.groups, g)
		}
		if f := c.Spec.FlavorFungibility; f != nil {
			q.fungibility.Preference = f.Preference
			if f.WhenCanBorrow != "" {
				q.fungibility.WhenCanBorrow = f.WhenCanBorrow
			}
			if f.WhenCanPreempt != "" {
				q.fungibility.WhenCanPreempt = f.WhenCanPreempt
			}
		}
		var err error
		if q.namespaces, err = metav1.LabelSelectorAsSelector(c.Spec.NamespaceSelector); err != nil {
			q.inactive = &Reason{Code: ClusterQueueInactive, ClusterQueue: c.Name, Message: err.Error()}
		}
		s.queues[c.Name] = q
		if c.Spec.CohortName != "" {
			if parent := s.cohorts.Named(string(c.Spec.CohortName)); !parent.Circular {
				q.Parent = parent
				parent.Queues = append(parent.Queues, q.Node)
			} else {
				q.inactive = &Reason{Code: CohortCycle, ClusterQueue: c.Name, Name: parent.Name, Message: "cohort " + parent.Name + " has a cycle"}
			}
		}
		if q.inactive == nil {
			q.inactive = s.inactive(c, q)
		}
		if scope := c.Spec.AdmissionScope; s.config.AdmissionFairSharing && scope != nil && scope.AdmissionMode == kueuev1beta2.UsageBasedAdmissionFairSharing {
			q.unknown = &Reason{Code: AdmissionFairSharingUndecided, ClusterQueue: c.Name,
				Message: "ClusterQueue " + c.Name + " prefers LocalQueues that used little in the past"}
		}
	}
}

// faults are why a ClusterQueue admits nothing, in Kueue's words; the code is that of the first.
type faults struct {
	code     Code
	messages []string
}

func (f *faults) add(code Code, format string, names []string) {
	if len(names) > 0 {
		f.code = cmp.Or(f.code, code)
		f.messages = append(f.messages, strings.ReplaceAll(format, "%s", strings.Join(names, ",")))
	}
}

// inactive says why a ClusterQueue admits nothing, or returns nil.
func (s *State) inactive(c *kueuev1beta2.ClusterQueue, q *queue) *Reason {
	var f faults
	if p := c.Spec.StopPolicy; p != nil && *p != kueuev1beta2.None {
		f.add(ClusterQueueStopped, "is stopped", []string{""})
	}
	var missing, noTopology []string
	q.topologies = true
	for _, g := range q.groups {
		for _, name := range g.flavors {
			flavor := s.flavors[name]
			switch {
			case flavor == nil:
				missing, q.topologies = append(missing, name), false
			case flavor.Spec.TopologyName == nil:
				q.topologies = false
			case !s.topologies[string(*flavor.Spec.TopologyName)]:
				noTopology = append(noTopology, fmt.Sprintf("%q for TAS flavor %q", *flavor.Spec.TopologyName, name))
			}
		}
	}
	f.add(ClusterQueueInactive, "references missing ResourceFlavor(s): %s", missing)
	s.checkFaults(c, q, &f)
	if s.config.gate("TopologyAwareScheduling") {
		f.add(ClusterQueueInactive, "there is no Topology %s", noTopology)
	}
	message := "Can't admit new workloads: " + strings.Join(f.messages, ", ") + "."
	if !c.DeletionTimestamp.IsZero() {
		f.code, message = ClusterQueueInactive, "Can't admit new workloads; clusterQueue is terminating"
	}
	if f.code == "" {
		return nil
	}
	return &Reason{Code: f.code, ClusterQueue: c.Name, Message: message}
}

// checkFaults adds what is wrong with the admission checks of a ClusterQueue.
func (s *State) checkFaults(c *kueuev1beta2.ClusterQueue, q *queue, f *faults) {
	if c.Spec.AdmissionChecksStrategy == nil {
		return
	}
	flavors := map[string]bool{}
	for _, g := range q.groups {
		for _, name := range g.flavors {
			flavors[name] = true
		}
	}
	var absent, idle, multi, perFlavor []string
	provisioning := false
	for _, rule := range c.Spec.AdmissionChecksStrategy.AdmissionChecks {
		name := string(rule.Name)
		check := s.checks[name]
		if check == nil {
			absent = append(absent, name)
			continue
		}
		if !meta.IsStatusConditionTrue(check.Status.Conditions, kueuev1beta2.AdmissionCheckActive) {
			idle = append(idle, name)
		}
		provisioning = provisioning || check.Spec.ControllerName == kueuev1beta2.ProvisioningRequestControllerName
		if check.Spec.ControllerName == kueuev1beta2.MultiKueueControllerName {
			multi = append(multi, name)
			if len(rule.OnFlavors) > 0 && len(rule.OnFlavors) < len(flavors) {
				perFlavor = append(perFlavor, name)
			}
		}
	}
	for _, names := range [][]string{absent, idle, multi, perFlavor} {
		slices.Sort(names)
	}
	f.add(ClusterQueueInactive, "references missing AdmissionCheck(s): %s", absent)
	f.add(ClusterQueueInactive, "references inactive AdmissionCheck(s): %s", idle)
	if len(multi) > 1 {
		f.add(ClusterQueueInactive, "Cannot use multiple MultiKueue AdmissionChecks on the same ClusterQueue, found: %s", multi)
	}
	f.add(ClusterQueueInactive, "Cannot specify MultiKueue AdmissionCheck per flavor, found: %s", perFlavor)
	if provisioning {
		f.add(ClusterQueueInactive, "Cannot use both MultiKueue and ProvisioningRequest AdmissionChecks together, found: %s", multi)
	}
}
