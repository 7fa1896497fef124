package scenario

import (
	"fmt"

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
	// Rejections are checks that an Observer must have seen fail, as [Rejection] spells them. Others may have
	// failed as well.
	Rejections []string
}

// Rejection is a check that failed.
type Rejection struct {
	// Claim is the name of the claim.
	Claim string
	// Request is "request" or "request/subrequest".
	Request string
	Device  inspect.DeviceID
	Code    allocator.Code
}

// String spells a rejection without the claim, of which the request mostly is the only one of its name.
func (r Rejection) String() string { return fmt.Sprintf("%s %s %s", r.Request, r.Device, r.Code) }

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

// Answer is what an allocator said to a question.
type Answer struct {
	Outcome Outcome
	// Allocations has an entry for each claim of the question (Allocated).
	Allocations []resourcev1.AllocationResult
	// Err is the error behind Abort and, from the scheduler, InvalidPools.
	Err error
	// Rejections are the checks that failed, in the order of the search; only from our allocator.
	Rejections []Rejection
}
