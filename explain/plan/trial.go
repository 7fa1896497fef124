package plan

import (
	"context"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
)

// Certain reports whether the same pods as in a replay, where pods may be put on any node that fits, are placed whichever
// nodes kube-scheduler chooses, and if not, whether it is known that others may be left waiting. It is asked once.
func Certain(ctx context.Context, played *cycle.Replay) (certain, depends bool, err error) {
	r := &replay{Replay: played}
	r.settle()
	err = r.certain(ctx, r.Base())
	return r.out.Certain, r.depends, err
}

// Best looks for a placement of all pods of a replay.
func Best(ctx context.Context, played *cycle.Replay) (*explain.JointPlan, error) {
	r := &replay{Replay: played}
	r.settle()
	best, _, err := r.best(ctx, r.Base())
	return best, err
}
