package sources

import (
	"github.com/spf13/pflag"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// AddConcurrencyFlag adds the flag that only the priority levels have.
func AddConcurrencyFlag(flags *pflag.FlagSet, to *int) {
	flags.IntVar(to, "server-concurrency", 0, "compute the limits of prioritylevels for this server concurrency limit, which is the sum of the API server's "+
		"--max-requests-inflight and --max-mutating-requests-inflight; 0 asks the server, or takes its default, 600")
}

// CheckSeats refuses a server concurrency limit that no server can have; 0 is none.
func CheckSeats(seats int) error {
	if seats < 0 || seats > flowcontrol.MaxServerConcurrency {
		return console.Usagef("--server-concurrency is %d; it can be 1 to %d", seats, flowcontrol.MaxServerConcurrency)
	}
	return nil
}

// LevelSource returns the source of the cluster, or of the demo, which plays on with each reading. It is nil
// for files, which say nothing of it.
func (r *Reader) LevelSource() (flowcontrol.Source, error) {
	switch {
	case len(r.From) > 0:
		return nil, nil //nolint:nilnil // no source is an answer: there is nothing to read
	case r.Demo:
		return demo.NewLoad()
	}
	config, err := r.Connection.RESTConfig()
	if err != nil {
		return nil, err
	}
	return flowcontrol.NewReader(config)
}

// NoteReading says that live figures are missing, and why.
func (o *Options) NoteReading(r flowcontrol.Reading) {
	if r.Metrics == nil {
		o.Note("warning: %s; live figures are missing, limits are computed", r.Health.Message)
	}
}

// FlowControlResources are what decides where requests go.
var FlowControlResources = []inspect.Resource{inspect.PriorityLevels, inspect.FlowSchemas}
