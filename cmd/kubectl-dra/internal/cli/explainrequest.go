package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/fairness"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

const explainRequestLong = `Say which FlowSchema and priority level a request to the API server goes to, and
why: for each FlowSchema before the one that matches, what does not match.

--as and --as-group name the client; here they do not impersonate anybody. You
need not name the groups that the server adds. Describe the request by --verb,
--resource and --namespace, or by its --url.

For a level with queues it says in which of them the requests of this flow may
wait, whose requests are there now (if you may read the server's dumps), and how
likely it is that others fill all of them. It also says how many seats the request
takes.

--verify asks the server: it impersonates the user, sends a GET that is classified
in the same way and reads nothing, and compares the server's answer with this one.
You need permission to impersonate the user.`

const explainRequestExample = `  # Where do the writes of a driver go?
  kubectl dra explain request --as system:serviceaccount:gpu-driver:plugin --verb create --resource resourceslices

  # And those of a kubelet?
  kubectl dra explain request --as system:node:n1 --as-group system:nodes --verb get --resource resourceclaims -n ml

  # Why is a list of all pods slow?
  kubectl dra explain request --as jane --url '/api/v1/pods?limit=500' --verify`

func newExplainRequest(streams *streams, reader *reader, completer *completer) *cobra.Command {
	flags := &requestFlags{}
	cmd := &cobra.Command{
		Use:     "request --as USER (--verb VERB --resource RESOURCE[/SUBRESOURCE] | --url URL)",
		Short:   "Say which FlowSchema and priority level a request goes to, and why",
		Long:    explainRequestLong,
		Example: explainRequestExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("the request is named by flags, not by %q: --as, --verb and --resource, or --url", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := flags.toOptions(streams, reader)
			if err != nil {
				return err
			}
			return options.run(cmd.Context())
		},
	}
	set := cmd.Flags()
	set.StringVar(&flags.user, "as", "", "the user of the request, such as jane or system:serviceaccount:NAMESPACE:NAME")
	set.StringArrayVar(&flags.groups, "as-group", nil, "a group of the user; may be repeated")
	set.StringVar(&flags.verb, "verb", "", "what is done: "+commaList(verbs()))
	set.StringVar(&flags.resource, "resource", "", "the resource, such as pods, pods/eviction or widgets.example.com")
	set.StringVar(&flags.name, "name", "", "the name of the object")
	set.StringVar(&flags.url, "url", "", "the URL of the request, such as '/api/v1/pods?limit=500'")
	set.BoolVar(&flags.verify, "verify", false, "ask the server too, with a request that reads nothing, and compare")
	set.IntVar(&flags.seats, "server-concurrency", 0, "compute the limits of the level for this server concurrency limit; 0 asks the server, or takes its default, 600")
	addOutputFlags(cmd, &flags.output, &flags.template, output.AnswerFormats)
	completeFlag(cmd, "as", askersOffered, completer.askers)
	completeFlag(cmd, "as-group", groupsOffered, completer.groups)
	completeFlag(cmd, "verb", "verbs", fixed(verbs()...))
	completeFlag(cmd, "resource", "resources of Kubernetes; `RESOURCE.GROUP`, `RESOURCE/SUBRESOURCE`", apiResources)
	completeFlag(cmd, "name", "names of objects of `--resource`, for what this program reads", completer.requested(flags))
	completeFlag(cmd, "url", "beginnings of URLs", urls)
	leaveAlone(cmd, "a number", "server-concurrency")
	return cmd
}

// requestOptions are a checked question about a request.
type requestOptions struct {
	streams *streams
	reader  *reader
	request *flowcontrol.Request
	verify  bool
	seats   int
	format  output.Format
}

func (f *requestFlags) toOptions(streams *streams, reader *reader) (*requestOptions, error) {
	r, err := f.request(reader.connection.namespaceFlag(), reader.namespace)
	if err != nil {
		return nil, err
	}
	o := &requestOptions{streams: streams, reader: reader, request: r, verify: f.verify, seats: f.seats}
	if err := checkSeats(f.seats); err != nil {
		return nil, err
	}
	if o.format, err = parseOutput(f.output, f.template, output.AnswerFormats); err != nil {
		return nil, err
	}
	switch {
	case f.verify && reader.offline():
		return nil, usagef("--verify asks a server; --from and --demo have none")
	case f.verify && !r.Verifiable():
		return nil, usagef("--verify sends only requests that read: get, list and watch")
	}
	return o, nil
}

// flowControlResources are what decides where requests go.
var flowControlResources = []inspect.Resource{inspect.PriorityLevels, inspect.FlowSchemas}

func (o *requestOptions) run(ctx context.Context) error {
	snapshot, err := o.reader.read(ctx, "", flowControlResources)
	if err != nil {
		return err
	}
	if err := requireFlowControl(snapshot); err != nil {
		return err
	}
	in, _, err := readLevels(ctx, o.reader, snapshot, o.seats)
	if err != nil {
		return err
	}
	e := fairness.Request(in, o.request)
	mismatch := o.check(ctx, snapshot, e)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(o.print(e), mismatch)
}

// requireFlowControl returns an error if it is not known which levels and schemas the server has.
func requireFlowControl(s *inspect.Snapshot) error {
	for _, resource := range flowControlResources {
		if h := s.Health(resource); h.State == inspect.Forbidden || h.State == inspect.Broken || h.State == inspect.Incomplete {
			return fmt.Errorf("where requests go depends on all %s: %s", resource, healthText(resource, h))
		}
	}
	if len(s.PriorityLevels()) == 0 && len(s.Objects().FlowSchemas) == 0 {
		return errors.New("there are no PriorityLevelConfigurations and no FlowSchemas: nothing says where requests go")
	}
	return nil
}

// check asks the server if that is wanted. The error says that it could not be asked, or disagrees.
func (o *requestOptions) check(ctx context.Context, s *inspect.Snapshot, e *fairness.RequestExplanation) error {
	if !o.verify {
		return nil
	}
	config, err := o.reader.connection.restConfig()
	if err != nil {
		return err
	}
	v, err := flowcontrol.Verify(ctx, config, o.request)
	if err != nil {
		return err
	}
	e.SetVerification(s, v)
	switch e.Verified.Result {
	case fairness.VerifiedNot:
		return fmt.Errorf("the server classifies the request otherwise: FlowSchema %s and priority level %s", e.Verified.FlowSchema, e.Verified.PriorityLevel)
	case fairness.VerifiedUnknown:
		return fmt.Errorf("the server did not say where the request goes (status %d): %s", v.Status, e.Verified.Message)
	}
	return nil
}

func (o *requestOptions) print(e *fairness.RequestExplanation) error {
	if o.format.Name != "" {
		return o.format.PrintValue(o.streams.Out, e)
	}
	return fairness.PrintRequest(o.streams.Out, e, o.streams.width())
}
