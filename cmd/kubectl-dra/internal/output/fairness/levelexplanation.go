package fairness

import (
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// PriorityLevelExplanation says why a priority level has the seats that it has, and what becomes of its
// requests.
type PriorityLevelExplanation struct {
	output.Head
	ServerConcurrency output.ServerConcurrency `json:"serverConcurrency"`
	// TotalShares is the sum of the shares of all levels.
	TotalShares int            `json:"totalShares"`
	Level       *PriorityLevel `json:"level"`
	Conditions  []Condition    `json:"conditions,omitempty"`
	// Current says why the current limit is what it is; absent if the server's metrics could not be read.
	Current *CurrentLimit `json:"current,omitempty"`
	// FlowSchemas are those that lead to the level, in the order in which they are tried.
	FlowSchemas []*FlowSchema `json:"flowSchemas"`
	// Actors are those of DRA whose requests the level serves.
	Actors []DRAActor `json:"actors,omitempty"`
}

// CurrentLimit is why a level has its current limit.
type CurrentLimit struct {
	// Computed is the limit that follows from the demand; it is the server's own unless that has changed in
	// the same moment.
	Computed int `json:"computed"`
	// Rule is Fair, Least, Most, Exempt, Lower or Share.
	Rule          string  `json:"rule" enum:"flowcontrol.CurrentRule"`
	HighWatermark int     `json:"highWatermark"`
	Smoothed      float64 `json:"smoothed"`
	Least         int     `json:"least"`
	Target        float64 `json:"target"`
	Factor        float64 `json:"factor,omitempty"`
	Message       string  `json:"message"`
}

// DRAActor is somebody whose requests decide how soon pods get devices.
type DRAActor struct {
	// Role is Driver, ClaimController, Scheduler or Kubelet.
	Role   string `json:"role" enum:"flowcontrol.ActorRole"`
	Driver string `json:"driver,omitempty"`
	User   string `json:"user"`
	// Evidence is Name, Pods, Possible or None: how it is known as whom it asks.
	Evidence string `json:"evidence" enum:"flowcontrol.ActorEvidence"`
	// Crowded: the requests of any service account go to the same level.
	Crowded bool           `json:"crowded,omitempty"`
	Asks    []ActorRequest `json:"asks"`
}

// ActorRequest is a typical request of an actor.
type ActorRequest struct {
	Verb          string `json:"verb"`
	Resource      string `json:"resource"`
	FlowSchema    string `json:"flowSchema"`
	PriorityLevel string `json:"priorityLevel"`
	// Queued and Rejected are those of the FlowSchema: waiting now, and turned away since the server started.
	Queued   *int `json:"queued,omitempty"`
	Rejected *int `json:"rejected,omitempty"`
}

// LevelInput is what questions about priority levels and requests are answered from.
type LevelInput struct {
	Snapshot *inspect.Snapshot
	Limits   flowcontrol.Resolved
	Reading  flowcontrol.Reading
}

// ExplainLevels explains all priority levels, by name.
func ExplainLevels(in LevelInput) []*PriorityLevelExplanation {
	limits := &in.Limits.Limits
	current := in.Reading.Metrics.CurrentLimits(limits)
	schemas := FlowSchemas(in.Snapshot, limits, in.Reading).Items
	actors := DRAActors(in.Snapshot, in.Reading)
	list := PriorityLevels(in.Snapshot, *limits, in.Limits.Source, in.Reading)
	out := make([]*PriorityLevelExplanation, len(limits.Levels))
	for i := range limits.Levels {
		level := &limits.Levels[i]
		e := &PriorityLevelExplanation{
			Head: output.HeadOf("PriorityLevelExplanation"), ServerConcurrency: *list.ServerConcurrency, TotalShares: limits.Shares,
			Level: list.Items[i].(*PriorityLevel), FlowSchemas: []*FlowSchema{}, //nolint:forcetypeassert // it is a list of those
		}
		if len(current) > 0 {
			c := current[i]
			e.Current = &CurrentLimit{
				Computed: c.Limit, Rule: string(c.Rule), HighWatermark: c.HighWatermark, Smoothed: c.Smoothed, Least: c.Least, Target: c.Target,
				Factor: c.Factor, Message: c.Message(),
			}
		}
		for _, item := range schemas {
			if f := item.(*FlowSchema); f.PriorityLevel == level.Name { //nolint:forcetypeassert // it is a list of those
				e.FlowSchemas = append(e.FlowSchemas, f)
			}
		}
		e.Actors = words.Keep(actors, func(a DRAActor) bool {
			return slices.ContainsFunc(a.Asks, func(r ActorRequest) bool { return r.PriorityLevel == level.Name })
		})
		for _, object := range in.Snapshot.PriorityLevels() {
			if object.Name == level.Name {
				e.Conditions = output.Optional(object.Status.Conditions, levelCondition)
			}
		}
		out[i] = e
	}
	return out
}

func levelCondition(c flowcontrolv1.PriorityLevelConfigurationCondition) Condition {
	return Condition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message, Since: output.Timestamp(c.LastTransitionTime)}
}

// DRAActors are those whose requests decide how soon pods get devices.
func DRAActors(s *inspect.Snapshot, reading flowcontrol.Reading) []DRAActor {
	return words.Each(flowcontrol.DRAActors(s), func(a flowcontrol.Actor) DRAActor {
		return DRAActor{
			Role: string(a.Role), Driver: a.Driver, User: a.User, Evidence: string(a.Evidence), Crowded: a.Crowded(),
			Asks: words.Each(a.Asks, func(r flowcontrol.ActorRequest) ActorRequest {
				out := ActorRequest{Verb: r.Verb, Resource: r.Resource, FlowSchema: r.Schema, PriorityLevel: r.Level}
				if counts := reading.Schema(r.Level, r.Schema); counts != nil {
					rejected := counts.RejectedRequests()
					out.Queued, out.Rejected = &counts.QueuedRequests, &rejected
				}
				return out
			}),
		}
	})
}
