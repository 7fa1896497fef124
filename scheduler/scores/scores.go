package scores

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Options are what decides about a choice and is not in a snapshot. The zero value says that none of it is
// known.
type Options struct {
	// Claims are the claims of the pod in the order of its spec, as far as they have to do with devices:
	// those that are allocated already with their allocation. The last one may be that for the pod's extended
	// resources.
	Claims []*resourcev1.ResourceClaim
	// Images says which images are on nodes. If it is nil, that is taken from the nodes of the snapshot if
	// one of them has images. Snapshots of a server do not have them.
	Images *Images
	// Whole is the pod with its images, if it has lost them (inspect.ReducePod). Nothing else is read of it.
	Whole *corev1.Pod
	// Workloads are the objects by whose selectors pods are spread that do not say how. If it is nil, those
	// of the snapshot are.
	Workloads *inspect.Selecting
	// Devices counts the devices of a node that a class selects, and those of them that claims hold. If it is
	// nil, they are not known.
	Devices func(class *resourcev1.DeviceClass, node *corev1.Node) (all, held int64)
}

// Candidate is a node that fits a pod.
type Candidate struct {
	Node inspect.NodeName
	// Allocations are what the claims of the pod would get there that are not allocated yet, in the order of
	// Options.Claims. There are none on a node where a device plugin provides all that the pod asks for.
	Allocations []resourcev1.AllocationResult
}

// Scorer compares nodes for a pod, in one index. It may be used by several goroutines at once.
type Scorer struct {
	index   *filters.Index
	pod     *corev1.Pod
	options Options
	parts   []part  // of each plugin; nil for those that make no difference
	weights []int64 // of each plugin
	profile *schedulerconfig.Profile
	doubts  [][]filters.Doubt // of each plugin
	failure string            // why the scheduler fails to compare nodes, or ""
	other   *filters.Doubt    // why nothing is known of how nodes are compared, or nil
	nodes   []filters.Node    // of the index
	silent  bool              // a node does not say how much it has
	like    *Scorer           // while the scorer is prepared
	changed []int             // numbers of nodes that are not as they were for like
	now     int               // the plugin that is being prepared
}

// Prepare makes a pod ready to be compared nodes for. The pod need not be in the snapshot of the index.
//
// What another scorer has found out is taken over as far as nodes and pods are the same: that of a pod like
// this one, in an index that was made from the index of the other one or the other way round. It may be nil,
// and the answers do not depend on it.
func Prepare(x *filters.Index, pod *corev1.Pod, o Options, like *Scorer) *Scorer {
	s := &Scorer{index: x, pod: pod, options: o, parts: make([]part, len(plugins)), weights: make([]int64, len(plugins)), doubts: make([][]filters.Doubt, len(plugins))}
	var known bool
	s.profile, known = x.Snapshot().Scheduler().Profile(pod.Spec.SchedulerName)
	if !known {
		s.other = &filters.Doubt{Key: "scheduler", Message: "the pod is for scheduler " + pod.Spec.SchedulerName + ", of which is not known how it compares nodes"}
		return s
	}
	s.nodes = make([]filters.Node, x.Len())
	for i := range s.nodes {
		s.nodes[i] = x.At(i)
	}
	s.compare(like)
	s.silent = s.anySilent()
	for i := range plugins {
		name := string(plugins[i].name)
		if s.weights[i] = s.profile.Weight(name); s.weights[i] == 0 {
			if s.now = i; s.profile.On(name, schedulerconfig.PreScore) {
				plugins[i].prepare(s) // for it may fail
			}
			continue
		}
		s.now = i
		s.parts[i], s.doubts[i] = plugins[i].prepare(s)
		if s.snapshot().NodesAssumed() && len(s.doubts[i]) == 0 {
			s.doubts[i] = []filters.Doubt{{Plugin: plugins[i].name, Resource: inspect.Nodes, Key: "nodes", Message: "nodes were not read"}}
		}
	}
	s.like, s.changed = nil, nil
	apart := s.profile.Apart()
	if s.profile != nil {
		_, prefer := s.profile.Extenders(filters.ResourcesOf(pod))
		apart = append(apart, prefer...)
	}
	if len(apart) > 0 && s.failure == "" {
		s.other = &filters.Doubt{Key: "profile", Message: "the profile of kube-scheduler compares nodes in a way that is not computed: " + strings.Join(apart, ", ")}
	}
	return s
}

// compare finds out what can be taken over from another scorer.
func (s *Scorer) compare(like *Scorer) {
	if like == nil || len(like.nodes) != len(s.nodes) || rulesOf(like.index) != rulesOf(s.index) {
		return
	}
	s.like = like
	for i := range s.nodes {
		if s.nodes[i] != like.nodes[i] {
			s.changed = append(s.changed, i)
		}
	}
}

// rules are what decides about scores besides the objects.
type rules struct {
	release                                 inspect.Release
	comparisons, labelKeys, storageCapacity bool
	namespacesRead                          bool
	scheduler                               *schedulerconfig.Config
}

func rulesOf(x *filters.Index) rules {
	f, namespaces := x.Snapshot().Features(), x.Snapshot().Health(inspect.Namespaces)
	return rules{
		release:         x.Snapshot().Release().Modelled(),
		comparisons:     f.Enabled(inspect.GateTaintTolerationComparisonOperators),
		labelKeys:       f.Enabled(inspect.GateMatchLabelKeysInPodTopologySpread),
		storageCapacity: f.Enabled(inspect.GateStorageCapacityScoring),
		namespacesRead:  !namespaces.Partial() && namespaces.State != inspect.NotRead,
		scheduler:       x.Snapshot().Scheduler(),
	}
}

func (s *Scorer) snapshot() *inspect.Snapshot { return s.index.Snapshot() }

// partLike returns what another scorer knows of the plugin that is being prepared. It is the zero value if
// there is none.
func partLike[P part](s *Scorer) P {
	var out P
	if s.like != nil {
		out, _ = s.like.parts[s.now].(P)
	}
	return out
}
