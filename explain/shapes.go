package explain

import "github.com/kubectl-dra/kubectl-dra/allocator"

// ShapePlan says which nodes, and how many of them, make pods fit.
type ShapePlan struct {
	// Pods is the number of pods that were asked about, and Waiting are those of them that kube-scheduler
	// leaves waiting as things are, in the order of its queue.
	Pods    int
	Waiting []Subject
	// Stuck are those that wait for something that none of the nodes brings. The answers of Shapes are about
	// the others. Fits says that nothing is left to do for these, and MayFit that nothing is as far as is
	// known.
	Stuck  []PendingPod
	Fits   bool
	MayFit bool
	// Unseen says what is not known of the pods, in sentences. If there is any, no answer is a certain yes.
	Unseen []string
	// Shapes are the answers for each kind of node, the best first.
	Shapes []ShapeAnswer
	// Untried says what was not tried, in sentences.
	Untried []string
	Partial []string
	Basis   Basis
}

// ShapeVerdict says whether nodes of a kind make pods fit.
type ShapeVerdict string

// The verdicts.
const (
	// ShapeFits means that kube-scheduler places all, whatever nodes it chooses of those that it may choose.
	ShapeFits ShapeVerdict = "Fits"
	// ShapeMayFit means that all are placed if kube-scheduler chooses well, or something that is said of the
	// node is so.
	ShapeMayFit ShapeVerdict = "MayFit"
	// ShapeFails means that it is proved that no number of them, up to the limit, makes all fit.
	ShapeFails ShapeVerdict = "Fails"
	// ShapeUnknown means that the search was given up, or that something is not known on which it depends.
	ShapeUnknown ShapeVerdict = "Unknown"
)

// ShapeAnswer is what becomes of pods if nodes of one kind are added.
type ShapeAnswer struct {
	// Name is that of the kind, and Source says where it is described: Cluster, Manifest, ClusterAutoscaler
	// or Karpenter. From is the file, or the number of nodes of the cluster that are alike, as text.
	Name   string
	Source string
	From   string
	// Devices is the number of devices of one node.
	Devices int
	// Count is the number of nodes. It is 0 if no number does.
	Count   int
	Verdict ShapeVerdict
	// Minimal says of ShapeFits that one node less was tried, and is not certain to do.
	Minimal bool
	// Pod is the pod that does not fit, if one is to blame, Code the first reason, and Why a sentence. For
	// ShapeMayFit it is what it depends on.
	Pod  Subject
	Code allocator.Code
	Why  string
	// Assumes says what is supposed about the node that its source does not tell.
	Assumes string
}
