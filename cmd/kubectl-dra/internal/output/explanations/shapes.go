package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
)

// ShapePlan is the wire form of an explain.ShapePlan. Its kind is that of all plans.
type ShapePlan struct {
	output.Head
	// Pods is the number asked about. Waiting are those that kube-scheduler leaves waiting as things are.
	Pods    int      `json:"pods"`
	Waiting []string `json:"waiting"`
	// Stuck wait for what none of the nodes brings. Shapes are about the others; NothingToAdd says that these
	// fit as things are.
	Stuck        []PendingPod `json:"stuck"`
	NothingToAdd bool         `json:"nothingToAdd"`
	// Unseen: what is not known of the pods; if there is any, no answer is a certain yes.
	Unseen []string `json:"unseen,omitempty"`
	// Shapes are the answers, the best first.
	Shapes  []Shape       `json:"shapes"`
	Untried []string      `json:"untried,omitempty"`
	Partial []string      `json:"partial"`
	Basis   explain.Basis `json:"basis"`
}

// Shape is what becomes of pods if nodes of one kind are added.
type Shape struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// Nodes has one entry, for the kind. Count is the number of nodes; it is 0 if no number does.
	Nodes []ShapeNodes `json:"nodes"`
	Count int          `json:"count"`
	// Fits: kube-scheduler places all that a node can help, whatever nodes it chooses. Verdict is Fits,
	// MayFit, Fails or Unknown.
	Fits    bool   `json:"fits"`
	Verdict string `json:"verdict" enum:"explain.ShapeVerdict"`
	// Minimal: with one node less it is not certain.
	Minimal bool   `json:"minimal"`
	Pod     string `json:"pod,omitempty"`
	Code    string `json:"code,omitempty" enum:"allocator.Code"`
	Why     string `json:"why,omitempty"`
	Assumes string `json:"assumes,omitempty"`
}

// ShapeNodes is a kind of node, and how many of it.
type ShapeNodes struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	// From is the file that describes it, or the number of nodes of the cluster that are alike.
	From    string `json:"from"`
	Count   int    `json:"count"`
	Devices int    `json:"devices"`
}

// NewShapePlan returns the wire form of a plan of nodes.
func NewShapePlan(p *explain.ShapePlan) *ShapePlan {
	return &ShapePlan{
		Head: output.HeadOf("Plan"), Pods: p.Pods, Waiting: words.Each(p.Waiting, explain.Subject.FullName), Stuck: words.Each(p.Stuck, pendingPod),
		NothingToAdd: p.Fits, Unseen: p.Unseen, Shapes: words.Each(p.Shapes, shape), Untried: p.Untried, Partial: output.OrEmpty(p.Partial), Basis: p.Basis,
	}
}

func shape(a explain.ShapeAnswer) Shape {
	return Shape{
		Name: a.Name, Source: a.Source, Nodes: []ShapeNodes{{a.Name, a.Source, a.From, a.Count, a.Devices}}, Count: a.Count,
		Fits: a.Verdict == explain.ShapeFits, Verdict: string(a.Verdict), Minimal: a.Minimal,
		Pod: a.Pod.FullName(), Code: string(a.Code), Why: a.Why, Assumes: a.Assumes,
	}
}
