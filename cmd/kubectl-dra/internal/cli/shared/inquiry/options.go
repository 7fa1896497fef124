package inquiry

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// Options are a question about objects, by name or from files.
type Options struct {
	sources.Options
	kinds     []Kind // that can be asked about
	Asked     []Named
	Files     []string
	Node      string
	Namespace string
	// incomplete: the files of -f may hold more to ask about than could be read; read sets it.
	incomplete bool
	// Reads are the resources that are read, whatever is asked about. If it is nil, they follow from that.
	Reads []inspect.Resource
	// Queues says that a question about pods is also one about the queues that they wait in.
	Queues bool
	// Input is what was read of standard input, where that is kept.
	Input *bytes.Buffer
	// Paths are the files of -f that were read, those in directories one by one.
	Paths []string
}

// New returns a question about objects of some kinds.
func New(streams *console.Streams, reader *sources.Reader, kinds []Kind) *Options {
	return &Options{Options: sources.Options{Streams: streams, Reader: reader}, kinds: kinds}
}

// LeastCode is the exit code when every answer is yes.
func (o *Options) LeastCode() int {
	if o.incomplete {
		return console.ExitFailed
	}
	return console.ExitAnswered
}

// AddTo adds the flags to a command; files describes -f.
func (o *Options) AddTo(cmd *cobra.Command, completer *Completer, files string) {
	o.AddFiles(cmd, files)
	cmd.Flags().StringVar(&o.Node, "node", "", "look at this node only")
	console.CompleteFlag(cmd, "node", "nodes", completer.Nodes)
}

// AddFiles adds -f, which files describes, and -o.
func (o *Options) AddFiles(cmd *cobra.Command, files string) {
	cmd.Flags().StringArrayVarP(&o.Files, "filename", "f", nil, files)
	console.CompleteFiles(cmd, "filename")
	console.AddOutputFlags(cmd, &o.Format, output.AnswerFormats)
}

// Complete finds out what is asked about.
func (o *Options) Complete(args []string) (err error) {
	if len(o.Files) > 0 && len(args) > 0 {
		return console.Usagef("-f and names exclude each other")
	}
	if len(args) > 0 || len(o.Files) == 0 {
		if o.Asked, err = splitNamed(args, o.kinds); err != nil {
			return err
		}
	}
	o.Namespace, err = o.Reader.Namespace()
	return err
}

// NodeName is the node of --node; it is empty for all nodes.
func (o *Options) NodeName() inspect.NodeName { return inspect.NodeName(o.Node) }

// Read returns the snapshot and the objects that are asked about, in the order of the names, or of the
// kinds for files.
func (o *Options) Read(ctx context.Context) (*inspect.Snapshot, []metav1.Object, error) {
	owners := &Owners{Reader: o.Reader}
	if !o.Reader.Offline() {
		if err := owners.resolve(ctx, o.Asked); err != nil {
			return nil, nil, err
		}
	}
	o.Reader.KeepWorkloads = slices.ContainsFunc(o.Asked, func(n Named) bool { return n.Unknown != nil || n.Kind.Owner != nil })
	snapshot, err := o.Reader.Read(ctx, o.Namespace, o.Resources())
	if err != nil {
		return nil, nil, err
	}
	var subjects []metav1.Object
	if len(o.Files) > 0 {
		snapshot, subjects, err = o.fromFiles(ctx, snapshot)
	} else {
		subjects, err = o.fromNames(ctx, snapshot, owners)
	}
	if err != nil {
		return nil, nil, err
	}
	if _, ok := snapshot.Node(o.NodeName()); o.Node != "" && !ok {
		return nil, nil, NotFound(snapshot, Node, "", o.Node)
	}
	return snapshot, subjects, nil
}

// Resources are those that the question needs. What is in files is not known yet.
func (o *Options) Resources() []inspect.Resource {
	if o.Reads != nil {
		return o.Reads
	}
	pods := len(o.Files) > 0 && slices.ContainsFunc(o.kinds, func(k Kind) bool { return k.Kind == Pod.Kind })
	if pods || slices.ContainsFunc(o.Asked, func(n Named) bool { return n.needsPods() }) {
		if o.Queues {
			return append(live.PodResources(), live.KueueResources()...)
		}
		return live.PodResources()
	}
	if len(o.Files) > 0 { // where claims may ask for admin access
		return append(live.DefaultResources(), inspect.Namespaces)
	}
	return live.DefaultResources()
}

func (o *Options) fromNames(ctx context.Context, s *inspect.Snapshot, owners *Owners) ([]metav1.Object, error) {
	if err := owners.resolve(ctx, o.Asked); err != nil {
		return nil, err
	}
	o.expand(s, owners)
	var subjects []metav1.Object
	for _, n := range o.Asked {
		found, err := o.find(ctx, s, owners, n)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, found...)
	}
	return subjects, nil
}

// expand replaces names with * or ? by what they stand for. One that nothing is called by stays, and is not
// found.
func (o *Options) expand(s *inspect.Snapshot, owners *Owners) {
	var asked []Named
	for _, n := range o.Asked {
		var names []string
		if n.Kind.Owner != nil {
			names = owners.names(s, *n.Kind.Owner, o.Namespace)
		} else {
			for _, object := range ObjectNames(s, n.Kind) {
				if object.Namespace == o.Namespace {
					names = append(names, object.Name)
				}
			}
		}
		matching := Matching(n.Name, names)
		if len(matching) == 0 {
			matching = []string{n.Name}
		}
		for _, name := range matching {
			asked = append(asked, Named{Kind: n.Kind, Name: name})
		}
	}
	o.Asked = asked
}

func (o *Options) find(ctx context.Context, s *inspect.Snapshot, owners *Owners, n Named) ([]metav1.Object, error) {
	if n.Kind.Owner != nil {
		owner, err := owners.find(ctx, s, n.Kind, o.Namespace, n.Name)
		if err != nil {
			return nil, err
		}
		return podsToAskAbout(owner)
	}
	object, ok := o.Object(s, n)
	if !ok {
		return nil, NotFound(s, n.Kind, o.Namespace, n.Name)
	}
	return []metav1.Object{object}, nil
}

// Object is an object of the snapshot.
func (o *Options) Object(s *inspect.Snapshot, n Named) (metav1.Object, bool) {
	switch n.Kind.Resource {
	case inspect.Pods:
		return s.Pod(inspect.PodRef{Namespace: o.Namespace, Name: n.Name})
	case inspect.Templates:
		return s.Template(o.Namespace, n.Name)
	}
	return s.Claim(inspect.ClaimRef{Namespace: o.Namespace, Name: n.Name})
}

// fromFiles asks about every object in the files that is of a kind that can be asked about. Whatever is
// in the files replaces or joins what is in the snapshot.
func (o *Options) fromFiles(ctx context.Context, s *inspect.Snapshot) (*inspect.Snapshot, []metav1.Object, error) {
	pods := slices.ContainsFunc(o.kinds, func(k Kind) bool { return k.Kind == Pod.Kind })
	result, err := o.Reader.ReadManifests(ctx, o.Files, o.Namespace, pods)
	if err != nil {
		return nil, nil, err
	}
	o.Paths = result.Files
	given := result.Objects
	if err := o.givePriorities(ctx, result); err != nil {
		return nil, nil, err
	}
	var subjects []metav1.Object
	var types []string
	for _, k := range []Kind{Claim, Template, Pod} {
		if !slices.ContainsFunc(o.kinds, func(known Kind) bool { return known.Kind == k.Kind }) {
			continue
		}
		types = append(types, k.Kind)
		subjects = append(subjects, inspect.KindOf(k.Resource).Objects(&given)...)
	}
	rest := ""
	if pods {
		subjects, rest = append(subjects, workloadsOf(result.Workloads)...), ", nor a pod template"
	}
	if len(subjects) == 0 {
		return nil, nil, fmt.Errorf("%s: there is no %s in it to ask about%s", console.CommaList(o.Files), words.Or(types), rest)
	}
	s = s.With(func(objects *inspect.Objects) { sources.Overlay(objects, &given) })
	if incomplete := incompleteIn(result.Health); len(incomplete) > 0 {
		s, o.incomplete = s.WithHealth(incomplete), true
	}
	if o.Reader.Offline() {
		s = s.WithFeatures(o.Reader.ApplyFeatureFlag(s.Features().WithUsed(given)))
	}
	return s, subjects, nil
}

// givePriorities gives the pods of files the priorities that they will have on the server, if one is asked.
func (o *Options) givePriorities(ctx context.Context, given *manifest.Result) error {
	pods := slices.Clone(given.Objects.Pods)
	for _, w := range given.Workloads {
		if w.Pod != nil {
			pods = append(pods, w.Pod)
		}
	}
	pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Spec.PriorityClassName == "" || pod.Spec.Priority != nil })
	if len(pods) == 0 || o.Reader.Offline() {
		return nil
	}
	server := &Owners{Reader: o.Reader}
	if err := server.Connect(); err != nil {
		return err
	}
	classes := map[string]*schedulingv1.PriorityClass{}
	for _, pod := range pods {
		class, asked := classes[pod.Spec.PriorityClassName]
		if !asked {
			var err error
			if class, err = server.Finder.PriorityClass(ctx, pod.Spec.PriorityClassName); err != nil {
				return err
			}
			classes[pod.Spec.PriorityClassName] = class
		}
		if class == nil {
			continue
		}
		pod.Spec.Priority = &class.Value
		if pod.Spec.PreemptionPolicy == nil {
			pod.Spec.PreemptionPolicy = class.PreemptionPolicy
		}
	}
	return nil
}

// workloadsOf are the workloads that nothing else in the files makes: a ReplicaSet beside its Deployment is
// the same pods once more.
func workloadsOf(all []*inspect.Workload) []metav1.Object {
	type id struct{ kind, namespace, name string }
	given := map[id]bool{}
	for _, w := range all {
		given[id{w.Type.Kind, w.Namespace, w.Name}] = true
	}
	var out []metav1.Object
	for _, w := range all {
		if c := w.Controller; c == nil || !given[id{c.Kind, w.Namespace, c.Name}] {
			out = append(out, w)
		}
	}
	return out
}

// incompleteIn are the resources of which files may hold more than could be read.
func incompleteIn(health map[inspect.Resource]inspect.Health) map[inspect.Resource]inspect.Health {
	out := map[inspect.Resource]inspect.Health{}
	for resource, h := range health {
		if h.State == inspect.Incomplete {
			out[resource] = h
		}
	}
	return out
}

// ClaimOf returns the claim that a claim or a template stands for.
func ClaimOf(object metav1.Object) *resourcev1.ResourceClaim {
	template, ok := object.(*resourcev1.ResourceClaimTemplate)
	if !ok {
		return object.(*resourcev1.ResourceClaim)
	}
	return inspect.ClaimFromTemplate(template, template.Name)
}
