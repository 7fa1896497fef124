package scenario

import (
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// Scenario is a cluster with questions about it and their answers.
type Scenario struct {
	// Name is that of the file without ".txtar".
	Name string
	// Comment says in words what the scenario is about.
	Comment string
	// Snapshot is the cluster, under the feature gates of the scenario.
	Snapshot *inspect.Snapshot
	// Warnings are what is wrong or odd about the objects in cluster.yaml.
	Warnings []manifest.Warning
	// Questions are in the order of the file.
	Questions []Question
}

// Question asks for an allocation of some claims, as those of one pod, on one node.
type Question struct {
	Node inspect.NodeName
	// Claims are the claims in the order of the pod. One may be named twice.
	Claims []inspect.ClaimRef
	Want   Want
}

// Outcome is how a question ends.
type Outcome string

// The outcomes, as they are written in a scenario.
const (
	// Allocated means that the claims get devices.
	Allocated Outcome = "allocated"
	// Unsatisfiable means that the node cannot satisfy the claims; others may.
	Unsatisfiable Outcome = "unsatisfiable"
	// InvalidPools is Unsatisfiable, and the scheduler names invalid resource pools as the reason.
	InvalidPools Outcome = "invalid-pools"
	// Abort means that the scheduler gives up on the pod, whatever other nodes could offer.
	Abort Outcome = "abort"
)

// Want is the answer that must come out.
type Want struct {
	Outcome Outcome
	// Claims has an entry for each claim of the question (Allocated).
	Claims []Claim
	// Code is the code of the AbortError (Abort).
	Code allocator.Code
	// Says are parts of our error text, SchedulerSays of the scheduler's (Abort).
	Says, SchedulerSays []string
	// Rejections are checks that an Observer must have seen fail, spelt "request device code" or
	// "claim:request device code". Others may have failed as well.
	Rejections []string
}

// Claim is what one claim must get, as the scenario spells it.
type Claim struct {
	Name string
	// Devices are lines "request = driver/pool/device; detail; detail". Which they are is always checked, and
	// whether they are for admin access; of other details those that are there.
	Devices []string
	// Nodes is the node selector, see nodesText. It is not checked if it is empty.
	Nodes string
	// Config are all configuration entries, see configText, or "none". They are not checked if they are nil.
	Config []string
}

// Objects returns the node and the claims of a question, which Parse made sure exist.
func (s *Scenario) Objects(q *Question) (*corev1.Node, []*resourcev1.ResourceClaim) {
	node, _ := s.Snapshot.Node(q.Node)
	claims := make([]*resourcev1.ResourceClaim, len(q.Claims))
	for i, ref := range q.Claims {
		claims[i], _ = s.Snapshot.Claim(ref)
	}
	return node, claims
}
