package explain

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
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
wait.

--verify asks the server: it impersonates the user, sends a GET that is classified
in the same way and reads nothing, and compares the server's answer with this one.
You need permission to impersonate the user.`

const explainRequestExample = `  # Where do the writes of a driver go?
  kubectl dra explain request --as system:serviceaccount:gpu-driver:plugin --verb create --resource resourceslices

  # And those of a kubelet?
  kubectl dra explain request --as system:node:n1 --as-group system:nodes --verb get --resource resourceclaims -n ml

  # Why is a list of all pods slow?
  kubectl dra explain request --as jane --url '/api/v1/pods?limit=500' --verify`

func newExplainRequest(streams *console.Streams, reader *sources.Reader) *cobra.Command {
	o := &requestOptions{Options: sources.Options{Streams: streams, Reader: reader}}
	cmd := &cobra.Command{
		Use:     "request --as USER (--verb VERB --resource RESOURCE[/SUBRESOURCE] | --url URL)",
		Short:   "Say which FlowSchema and priority level a request goes to, and why",
		Long:    explainRequestLong,
		Example: explainRequestExample,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.Usagef("the request is named by flags, not by %q: --as, --verb and --resource, or --url", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.complete(); err != nil {
				return err
			}
			return o.run(cmd.Context())
		},
	}
	set := cmd.Flags()
	set.StringVar(&o.user, "as", "", "the user of the request, such as jane or system:serviceaccount:NAMESPACE:NAME")
	set.StringArrayVar(&o.groups, "as-group", nil, "a group of the user; may be repeated")
	set.StringVar(&o.verb, "verb", "", "what is done: "+console.CommaList(verbs()))
	set.StringVar(&o.resource, "resource", "", "the resource, such as pods, pods/eviction or widgets.example.com")
	set.StringVar(&o.name, "name", "", "the name of the object")
	set.StringVar(&o.url, "url", "", "the URL of the request, such as '/api/v1/pods?limit=500'")
	set.BoolVar(&o.verify, "verify", false, "ask the server too, with a request that reads nothing, and compare")
	set.IntVar(&o.seats, "server-concurrency", 0, "compute the limits of the level for this server concurrency limit; 0 asks the server, or takes its default, 600")
	console.AddOutputFlags(cmd, &o.Format, output.AnswerFormats)
	inquiry.CompleteAsker(cmd)
	console.CompleteFlag(cmd, "verb", "verbs", console.CompleteWords(verbs()...))
	return cmd
}

// complete checks what is asked about.
func (o *requestOptions) complete() (err error) {
	if o.request, err = o.asked(o.Reader.Connection.NamespaceFlag()); err != nil {
		return err
	}
	switch {
	case o.verify && o.Reader.Offline():
		return console.Usagef("--verify asks a server; --from and --demo have none")
	case o.verify && !o.request.Verifiable():
		return console.Usagef("--verify sends only requests that read: get, list and watch")
	}
	return sources.CheckSeats(o.seats)
}

func (o *requestOptions) run(ctx context.Context) error {
	snapshot, err := o.Reader.Read(ctx, "", sources.FlowControlResources)
	if err != nil {
		return err
	}
	if err := requireFlowControl(snapshot); err != nil {
		return err
	}
	in, _, err := readLevels(ctx, o.Reader, snapshot, o.seats)
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
	for _, resource := range sources.FlowControlResources {
		if h := s.Health(resource); h.State == inspect.Forbidden || h.State == inspect.Broken || h.State == inspect.Incomplete {
			return fmt.Errorf("where requests go depends on all %s: %s", resource, console.HealthText(resource, h))
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
	config, err := o.Reader.Connection.RESTConfig()
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
	return o.Answer(e, console.OnPage(e.Write), console.ExitAnswered)
}
