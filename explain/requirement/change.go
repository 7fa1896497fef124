package requirement

import (
	"context"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What changes cost, roughly: the user's own claim is changed before others are disturbed, and what is
// wanted is given up in small steps before large ones.
const (
	CostNode      = 5
	CostClass     = 8
	costIdle      = 10 // and one for each claim
	CostValue     = 20
	costCount     = 25
	costNarrow    = 28 // a constraint that is about fewer requests
	CostDrop      = 30
	costTolerate  = 40
	costAll       = 42 // a number instead of all: who monitors devices cannot do with some
	CostClassOf   = 45 // another class of the driver
	costRelease   = 50 // and ten for each claim, one for each of its pods and devices
	CostPods      = 60 // and ten for each pod
	CostFeature   = 500
	CostRules     = 500 // and one for each rule
	CostMoreNodes = 505
	CostDevices   = 510
	CostClassTerm = 520
	CostCreate    = 530
	CostSeveral   = 1000 // more than one change
)

// Change is a fix that is not verified yet.
type Change struct {
	Kind  explain.FixKind
	Also  []explain.FixKind
	Edits []whatif.Edit
	Cost  int
	// Key tells changes of a kind apart, whatever they are called.
	Key     string
	Message string
	Claims  []inspect.ClaimRef // that are released
	Pods    []inspect.PodRef   // that end
	// Preempts says that the scheduler ends such pods itself.
	Preempts bool
	// Node is one that is known to fit with the change. NamesNode: the message names it.
	Node      inspect.NodeName
	NamesNode bool
	// TaintRules are the DeviceTaintRules that are deleted.
	TaintRules []explain.TaintRule
	// Like is the node that an added one is like. It is "" if none is added.
	Like inspect.NodeName
	// Fitting, if not nil, finds the nodes that fit with the change; otherwise all are asked with the edits
	// made.
	Fitting func(ctx context.Context) whatif.NodeSet
}

// ForRequest names the request of a requirement where there are several, and always a subrequest.
func ForRequest(q *whatif.Question, r *explain.Requirement) string {
	requests := 0
	for i, claim := range q.Claims {
		if q.FirstOfTemplate(i) {
			requests += len(claim.Spec.Devices.Requests)
		}
	}
	if requests < 2 && !strings.Contains(r.Request, "/") {
		return ""
	}
	return " for " + r.Request
}
