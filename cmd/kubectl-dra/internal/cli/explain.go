package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// explainFlags are the flags of kubectl dra explain.
type explainFlags struct {
	files    []string
	node     string
	output   string
	template string
}

// explainOptions are a checked question.
type explainOptions struct {
	src       *source
	kind      kind
	names     []string
	files     []string
	node      inspect.NodeName
	format    output.Format
	namespace string
}

var explainKinds = []kind{kindClaim, kindPod, kindTemplate}

func newExplain(src *source) *cobra.Command {
	flags := &explainFlags{}
	cmd := &cobra.Command{
		Use:   "explain (claim|pod|template NAME... | -f FILE)",
		Short: "Say why a claim, pod or template is, can be or cannot be allocated",
		Long: `Say why a claim is, can be or cannot be allocated: per node, device and constraint,
decided exactly as the Kubernetes scheduler decides it.

With -f the question is about the claims, templates and pods in a file, which
need not exist in the cluster.

Exit codes: 0 it is or can be allocated, 3 it cannot, 1 the scheduler itself
gives up with an error (or the question could not be answered).`,
		Example: `  # Why is the claim pending?
  kubectl dra explain claim train-0 -n ml

  # Would this one fit, were it created?
  kubectl dra explain -f claim.yaml

  # On one node only, for a script
  kubectl dra explain pod train-0 --node gpu-a-01 -o jsonpath='{.verdict}'`,
		ValidArgs: typeNames(explainKinds),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := flags.toOptions(src, args)
			if err != nil {
				return err
			}
			return options.run(cmd.Context())
		},
	}
	cmd.Flags().StringArrayVarP(&flags.files, "filename", "f", nil, "ask about the claims, templates and pods in this file, directory or - (stdin)")
	cmd.Flags().StringVar(&flags.node, "node", "", "look at this node only")
	addOutputFlags(cmd, &flags.output, &flags.template, output.ObjectFormats)
	return cmd
}

func addOutputFlags(cmd *cobra.Command, format, template *string, formats []string) {
	cmd.Flags().StringVarP(format, "output", "o", "", "output format: "+commaList(formats))
	cmd.Flags().StringVar(template, "template", "", "template or path for -o jsonpath, go-template and the like")
}

// parseOutput reads -o and --template.
func parseOutput(text, template string, formats []string) (output.Format, error) {
	format, err := output.ParseFormat(text, template, formats)
	if err == nil {
		err = format.Check()
	}
	if err != nil {
		return output.Format{}, &usageError{err}
	}
	return format, nil
}

func (f *explainFlags) toOptions(src *source, args []string) (*explainOptions, error) {
	o := &explainOptions{src: src, files: f.files, node: inspect.NodeName(f.node)}
	var err error
	if o.format, err = parseOutput(f.output, f.template, output.ObjectFormats); err != nil {
		return nil, err
	}
	if len(f.files) > 0 && len(args) > 0 {
		return nil, usagef("-f and names exclude each other")
	}
	if len(f.files) == 0 {
		if o.kind, o.names, err = splitArguments(args, explainKinds); err != nil {
			return nil, err
		}
	}
	o.namespace, err = src.namespace()
	return o, err
}

func (o *explainOptions) run(ctx context.Context) error {
	snapshot, err := o.src.read(ctx, o.namespace, nil)
	if err != nil {
		return err
	}
	var questions []question
	if len(o.files) > 0 {
		snapshot, questions, err = o.fromFiles(ctx, snapshot)
	} else {
		questions, err = o.fromNames(snapshot)
	}
	if err != nil {
		return err
	}
	if _, ok := snapshot.Node(o.node); o.node != "" && !ok {
		return notFound(snapshot, kindNode, "", string(o.node))
	}
	cluster := allocator.NewCluster(snapshot, allocator.Options{})
	var answers []*explain.Explanation
	for _, ask := range questions {
		e, err := ask(ctx, cluster, explain.Options{Node: o.node})
		if err != nil {
			return err
		}
		answers = append(answers, e)
	}
	return o.print(answers)
}

// question asks about one object.
type question func(context.Context, *allocator.Cluster, explain.Options) (*explain.Explanation, error)

func (o *explainOptions) fromNames(s *inspect.Snapshot) ([]question, error) {
	var questions []question
	for _, name := range o.names {
		ask, ok := o.questionAbout(s, name)
		if !ok {
			return nil, notFound(s, o.kind, o.namespace, name)
		}
		questions = append(questions, ask)
	}
	return questions, nil
}

func (o *explainOptions) questionAbout(s *inspect.Snapshot, name string) (question, bool) {
	switch o.kind.resource {
	case inspect.Pods:
		pod, ok := s.Pod(inspect.PodRef{Namespace: o.namespace, Name: name})
		return about(pod, explain.PodObject), ok
	case inspect.Templates:
		template, ok := s.Template(o.namespace, name)
		return about(template, explain.TemplateObject), ok
	}
	claim, ok := s.Claim(inspect.ClaimRef{Namespace: o.namespace, Name: name})
	return about(claim, explain.ClaimObject), ok
}

// about binds a question of package explain to an object.
func about[T any](object T, ask func(context.Context, *allocator.Cluster, T, explain.Options) (*explain.Explanation, error)) question {
	return func(ctx context.Context, c *allocator.Cluster, opts explain.Options) (*explain.Explanation, error) {
		return ask(ctx, c, object, opts)
	}
}

// fromFiles asks about every claim, template and pod in the files. Whatever is in the files replaces or
// joins what is in the snapshot.
func (o *explainOptions) fromFiles(ctx context.Context, s *inspect.Snapshot) (*inspect.Snapshot, []question, error) {
	result, err := o.src.readManifests(ctx, o.files, o.namespace)
	if err != nil {
		return nil, nil, err
	}
	given := result.Objects
	var questions []question
	for _, claim := range given.Claims {
		questions = append(questions, about(claim, explain.ClaimObject))
	}
	for _, template := range given.Templates {
		questions = append(questions, about(template, explain.TemplateObject))
	}
	for _, pod := range given.Pods {
		questions = append(questions, about(pod, explain.PodObject))
	}
	if len(questions) == 0 {
		return nil, nil, fmt.Errorf("%s: there is no ResourceClaim, ResourceClaimTemplate or Pod in it to ask about", commaList(o.files))
	}
	s = s.With(func(objects *inspect.Objects) { overlay(objects, &given) })
	if o.src.offline() {
		s = s.WithFeatures(o.src.override(withUsed(s.Features(), given)))
	}
	return s, questions, nil
}

// print prints the answers and turns the worst of them into the exit code.
func (o *explainOptions) print(answers []*explain.Explanation) error {
	code := exitAnswered
	for i, e := range answers {
		code = worst(code, verdictCode(e.Verdict))
		if o.format.Name != "" {
			continue
		}
		if i > 0 {
			if _, err := fmt.Fprintln(o.src.streams.Out); err != nil {
				return err
			}
		}
		opts := text.Options{Width: o.src.width(), Verbose: o.src.verbosity > 0, Color: o.src.useColor()}
		if err := text.Render(o.src.streams.Out, e, opts); err != nil {
			return err
		}
	}
	if o.format.Name != "" {
		if err := o.format.PrintValue(o.src.streams.Out, output.Explanations(answers)); err != nil {
			return err
		}
	}
	if code != exitAnswered {
		return answered(code)
	}
	return nil
}

// verdictCode is the exit code of a verdict.
func verdictCode(v explain.Verdict) int {
	switch v {
	case explain.Unsatisfiable:
		return exitNo
	case explain.Invalid, explain.Unknown:
		return exitFailed
	}
	return exitAnswered
}
