package explanations

import (
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Conflict is a smallest set of requirements that cannot hold together on a node.
type Conflict struct {
	Node         string        `json:"node"`
	Requirements []Requirement `json:"requirements"`
	// Given are requirements without which the scheduler gives up with an error.
	Given []Requirement `json:"given,omitempty"`
	// Sole: dropping any one of the requirements is enough on the node.
	Sole bool `json:"sole"`
	// Unproven: the set may not be a smallest one.
	Unproven bool `json:"unproven,omitempty"`
}

// Requirement is one part of a conflict.
type Requirement struct {
	Kind string `json:"kind" enum:"explain.RequirementKind"`
	// Plugin is the plugin of kube-scheduler that requires it of a pod.
	Plugin  string `json:"plugin,omitempty" enum:"filters.Plugin"`
	Claim   string `json:"claim,omitempty"`
	Request string `json:"request,omitempty"`
	Path    string `json:"path"`
	// Actor is who can give it up: User, DriverAdmin or ClusterAdmin.
	Actor   string `json:"actor" enum:"explain.Actor"`
	Message string `json:"message"`
	// Term is a part of a selector, where the requirement is one.
	Term string `json:"term,omitempty"`
	// Taint is key:effect of a taint that is not tolerated.
	Taint string `json:"taint,omitempty"`
	// TaintRules are the DeviceTaintRules that set it.
	TaintRules []explain.TaintRule `json:"taintRules,omitempty"`
	// Alone: dropping this requirement is enough.
	Alone bool `json:"alone"`
	// Fails: of what is beside a conflict, that it makes the scheduler give up with an error.
	Fails  bool            `json:"fails,omitempty"`
	Holder *explain.Holder `json:"holder,omitempty"`
}

// Failure is the term of a selector that fails for a device, so that the scheduler gives up.
type Failure struct {
	Requirement
	Device string `json:"device"`
	// Hangs: the scheduler would not give up but evaluate for hours.
	Hangs bool `json:"hangs,omitempty"`
	// Lacks are the fields that the term reads and the device does not have.
	Lacks []string `json:"lacks,omitempty"`
	// Has are the names that the device has where the first of them was looked for.
	Has []string `json:"has,omitempty"`
	// Near is the field of the device that was probably meant.
	Near string `json:"near,omitempty"`
}

// Fix is a change that was found to help.
type Fix struct {
	Kind string `json:"kind" enum:"explain.FixKind"`
	// Actor is who has to make it: User, DriverAdmin or ClusterAdmin.
	Actor string `json:"actor" enum:"explain.Actor"`
	// Also are the kinds of further changes that belong to it.
	Also []string `json:"also,omitempty" enum:"explain.FixKind"`
	Node string   `json:"node,omitempty"`
	// Nodes is the number of nodes on which it then can be allocated.
	Nodes int `json:"nodes"`
	// Like is the node that the added one is like, for AddNode, which has no node yet.
	Like string `json:"like,omitempty"`
	// Timeout is Possible where the scheduler's own search may still take longer than its timeout.
	Timeout string `json:"timeout,omitempty" enum:"explain.TimeoutRisk"`
	// Beside is what the fix changes although it is no part of the conflict: with its other changes made this
	// is still in the way, or makes the scheduler give up with an error (fails).
	Beside []Requirement            `json:"beside,omitempty"`
	Patch  []explain.PatchOperation `json:"patch,omitempty"`
	// Replaces: an object that is changed has to be deleted and created anew, since its spec cannot be
	// changed.
	Replaces bool `json:"replaces,omitempty"`
	// Commands carry the fix out, in this order; each is for a shell.
	Commands []string `json:"commands,omitempty"`
	// Remarks are sentences about what the commands do.
	Remarks []string `json:"remarks,omitempty"`
	// Changes are all objects that are changed, the subject among them if it has a patch.
	Changes []explain.ObjectChange `json:"changes,omitempty"`
	Claims  []string               `json:"claims,omitempty"`
	Holders []explain.Holder       `json:"holders,omitempty"`
	// Pods are namespace/name of those that have to end, and Preempts says that the scheduler ends such pods
	// itself.
	Pods     []string `json:"pods,omitempty"`
	Preempts bool     `json:"preempts,omitempty"`
	// TaintRules are the DeviceTaintRules that set the taints that are then tolerated, or those that are
	// deleted.
	TaintRules []explain.TaintRule `json:"taintRules,omitempty"`
	Message    string              `json:"message"`
}

func (c claimName) conflict(conflict explain.Conflict) Conflict {
	return Conflict{
		Node: string(conflict.Node), Sole: conflict.Sole, Unproven: conflict.Unproven,
		Requirements: words.Each(conflict.Requirements, c.requirement), Given: output.Optional(conflict.Background, c.requirement),
	}
}

func (c claimName) failure(f explain.Failure) Failure {
	return Failure{Requirement: c.requirement(f.Requirement), Device: f.Device.String(), Hangs: f.Hangs, Lacks: f.Lacks, Has: f.Has, Near: f.Near}
}

func (c claimName) requirement(r explain.Requirement) Requirement {
	return Requirement{
		Kind: string(r.Kind), Plugin: c.plugin(r.Plugin), Claim: c.of(r.Claim), Request: r.Request, Path: r.Path,
		Actor: string(r.Actor(c.subject)), Message: r.Sentence(),
		Term: r.Term, Taint: r.Taint, TaintRules: r.TaintRules, Alone: r.Alone, Fails: r.Fails,
		Holder: r.Holder,
	}
}

func (c claimName) fix(f explain.Fix) Fix {
	return Fix{
		Kind: string(f.Kind), Actor: string(f.Actor(c.subject)), Also: words.Strings(f.Also),
		Node: string(f.Node), Nodes: f.Nodes, Like: string(f.Like), Timeout: string(f.Timeout), Beside: output.Optional(f.OtherBlockers, c.requirement),
		Patch: f.Patch, Changes: f.Changes,
		Replaces: f.Replaces, Commands: f.Commands, Remarks: f.Remarks,
		Claims:  output.Optional(f.Claims, func(h explain.Holder) string { return h.Claim.String() }),
		Holders: f.Claims, TaintRules: f.TaintRules,
		Pods: output.Optional(f.Pods, inspect.PodRef.String), Preempts: f.Preempts,
		Message: f.Message,
	}
}
