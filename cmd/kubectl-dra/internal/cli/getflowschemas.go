package cli

import (
	"context"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/fairness"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

const flowSchemasView = "flowschemas"

// flowSchemas lists the FlowSchemas, with what the server says of their requests where there is one.
func (o *getOptions) flowSchemas(ctx context.Context, s *inspect.Snapshot) (*output.List, error) {
	reading, err := o.reading(ctx)
	if err != nil {
		return nil, err
	}
	return schemasWith(s, reading), nil
}

func computedSchemas(s *inspect.Snapshot) *output.List { return schemasWith(s, flowcontrol.Reading{}) }

func schemasWith(s *inspect.Snapshot, reading flowcontrol.Reading) *output.List {
	limits := flowcontrol.Compute(s.PriorityLevels(), flowcontrol.DefaultServerConcurrency) // which levels there are does not depend on it
	return fairness.FlowSchemas(s, &limits, reading)
}
