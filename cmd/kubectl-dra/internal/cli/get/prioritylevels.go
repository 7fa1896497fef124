package get

import (
	"context"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/fairness"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

const (
	priorityLevelsView = "prioritylevels"
	flowSchemasView    = "flowschemas"
)

func checkConcurrency(seats int, v view) error {
	if seats > 0 && v.names[0] != priorityLevelsView {
		return console.Usagef("--server-concurrency is for %s only", priorityLevelsView)
	}
	return sources.CheckSeats(seats)
}

// priorityLevels lists the priority levels, with what the server says of them where there is one.
func (o *getOptions) priorityLevels(ctx context.Context, s *inspect.Snapshot, _ string) (*output.List, error) {
	reading, err := o.reading(ctx)
	if err != nil {
		return nil, err
	}
	if len(s.PriorityLevels()) == 0 { // nothing is known of any level, not even of those that a server would make up
		limits := flowcontrol.Limits{ServerConcurrency: flowcontrol.DefaultServerConcurrency}
		return fairness.PriorityLevels(s, limits, flowcontrol.ConcurrencyDefault, flowcontrol.Reading{}), nil
	}
	limits, source := o.limits(s, reading.Metrics)
	for _, ignored := range limits.Ignored {
		o.Note("warning: priority level %s is left out, as the API server would do: %s", ignored.Name, ignored.Reason)
	}
	list := fairness.PriorityLevels(s, limits, source, reading)
	for _, d := range list.DanglingFlowSchemas {
		o.Note("warning: FlowSchema %s is passed over by the API server: its priority level %s does not exist", d.Schema, d.Level)
	}
	return list, nil
}

// reading is what the server says of its levels; it is empty where there is no server. What is missing is
// noted.
func (o *getOptions) reading(ctx context.Context) (flowcontrol.Reading, error) {
	if o.levels == nil { // it is made once: the demo plays on with each reading
		var err error
		if o.levels, err = o.Reader.LevelSource(); err != nil || o.levels == nil {
			return flowcontrol.Reading{}, err
		}
	}
	reading := o.levels.Read(ctx)
	if ctx.Err() != nil {
		return reading, context.Cause(ctx)
	}
	o.NoteReading(reading)
	return reading, nil
}

// limits computes the limits for the server concurrency limit of the flag, of the metrics, or else the
// default.
func (o *getOptions) limits(s *inspect.Snapshot, metrics *flowcontrol.Metrics) (flowcontrol.Limits, flowcontrol.ConcurrencySource) {
	r := flowcontrol.Resolve(s.PriorityLevels(), o.serverConcurrency, metrics)
	if r.Source == flowcontrol.ConcurrencyDefault && o.forPeople() { // the other formats say where the number is from
		o.Note("the server concurrency limit is taken to be %d, the default; --server-concurrency sets another", r.ServerConcurrency)
	}
	if r.Source != flowcontrol.ConcurrencyFromServer {
		return r.Limits, r.Source
	}
	if !r.Exact {
		o.Note("the server concurrency limit is about %d: the server's metrics do not give it exactly", r.ServerConcurrency)
	}
	if names := metrics.Disagreements(r.Limits); len(names) > 0 {
		o.Note("warning: the server has other limits of %s; it has not seen the latest change yet, or still serves a level that was deleted", strings.Join(names, ", "))
	}
	return r.Limits, r.Source
}

// flowSchemas lists the FlowSchemas, with what the server says of their requests where there is one.
func (o *getOptions) flowSchemas(ctx context.Context, s *inspect.Snapshot, _ string) (*output.List, error) {
	reading, err := o.reading(ctx)
	if err != nil {
		return nil, err
	}
	limits := flowcontrol.Compute(s.PriorityLevels(), flowcontrol.DefaultServerConcurrency) // which levels there are does not depend on it
	return fairness.FlowSchemas(s, &limits, reading), nil
}
