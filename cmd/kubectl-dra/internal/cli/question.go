package cli

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

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// questionOptions are a question about objects, by name or from files.
type questionOptions struct {
	shared
	kinds     []kind // that can be asked about
	asked     []named
	files     []string
	node      string
	namespace string
	// incomplete: the files of -f may hold more to ask about than could be read; read sets it.
	incomplete bool
	// reads are the resources that are read, whatever is asked about. If it is nil, they follow from that.
	reads []inspect.Resource
	// input is what was read of standard input, where that is kept.
	input *bytes.Buffer
	// paths are the files of -f that were read, those in directories one by one.
	paths []string
}

// newQuestion returns a question about objects of some kinds.
func newQuestion(streams *streams, reader *reader, kinds []kind) *questionOptions {
	return &questionOptions{shared: shared{streams: streams, reader: reader}, kinds: kinds}
}

// leastCode is the exit code when every answer is yes.
func (o *questionOptions) leastCode() int {
	if o.incomplete {
		return exitFailed
	}
	return exitAnswered
}

// addTo adds the flags to a command; files describes -f.
func (o *questionOptions) addTo(cmd *cobra.Command, completer *completer, files string) {
	o.addFiles(cmd, files)
	cmd.Flags().StringVar(&o.node, "node", "", "look at this node only")
	completeFlag(cmd, "node", "nodes", completer.nodes)
}

// addFiles adds -f, which files describes, and -o.
func (o *questionOptions) addFiles(cmd *cobra.Command, files string) {
	cmd.Flags().StringArrayVarP(&o.files, "filename", "f", nil, files)
	completeFiles(cmd, "filename")
	addOutputFlags(cmd, &o.format, output.AnswerFormats)
}

// complete finds out what is asked about.
func (o *questionOptions) complete(args []string) (err error) {
	if len(o.files) > 0 && len(args) > 0 {
		return usagef("-f and names exclude each other")
	}
	if len(args) > 0 || len(o.files) == 0 {
		if o.asked, err = splitNamed(args, o.kinds); err != nil {
			return err
		}
	}
	o.namespace, err = o.reader.namespace()
	return err
}

// nodeName is the node of --node; it is empty for all nodes.
func (o *questionOptions) nodeName() inspect.NodeName { return inspect.NodeName(o.node) }

// read returns the snapshot and the objects that are asked about, in the order of the names, or of the
// kinds for files.
func (o *questionOptions) read(ctx context.Context) (*inspect.Snapshot, []metav1.Object, error) {
	owners := &owners{reader: o.reader}
	if !o.reader.offline() {
		if err := owners.resolve(ctx, o.asked); err != nil {
			return nil, nil, err
		}
	}
	o.reader.keepWorkloads = slices.ContainsFunc(o.asked, func(n named) bool { return n.unknown != nil || n.kind.owner != nil })
	snapshot, err := o.reader.read(ctx, o.namespace, o.resources())
	if err != nil {
		return nil, nil, err
	}
	var subjects []metav1.Object
	if len(o.files) > 0 {
		snapshot, subjects, err = o.fromFiles(ctx, snapshot)
	} else {
		subjects, err = o.fromNames(ctx, snapshot, owners)
	}
	if err != nil {
		return nil, nil, err
	}
	if _, ok := snapshot.Node(o.nodeName()); o.node != "" && !ok {
		return nil, nil, notFound(snapshot, kindNode, "", o.node)
	}
	return snapshot, subjects, nil
}

// resources are those that the question needs. What is in files is not known yet.
func (o *questionOptions) resources() []inspect.Resource {
	if o.reads != nil {
		return o.reads
	}
	pods := len(o.files) > 0 && slices.ContainsFunc(o.kinds, func(k kind) bool { return k.kind == kindPod.kind })
	if pods || slices.ContainsFunc(o.asked, func(n named) bool { return n.needsPods() }) {
		return live.PodResources()
	}
	if len(o.files) > 0 { // where claims may ask for admin access
		return append(live.DefaultResources(), inspect.Namespaces)
	}
	return live.DefaultResources()
}

func (o *questionOptions) fromNames(ctx context.Context, s *inspect.Snapshot, owners *owners) ([]metav1.Object, error) {
	if err := owners.resolve(ctx, o.asked); err != nil {
		return nil, err
	}
	var subjects []metav1.Object
	for _, n := range o.asked {
		found, err := o.find(ctx, s, owners, n)
		if err != nil {
			return nil, err
		}
		subjects = append(subjects, found...)
	}
	return subjects, nil
}

func (o *questionOptions) find(ctx context.Context, s *inspect.Snapshot, owners *owners, n named) ([]metav1.Object, error) {
	if n.kind.owner != nil {
		owner, err := owners.find(ctx, s, n.kind, o.namespace, n.name)
		if err != nil {
			return nil, err
		}
		return podsToAskAbout(owner)
	}
	object, ok := o.object(s, n)
	if !ok {
		return nil, notFound(s, n.kind, o.namespace, n.name)
	}
	return []metav1.Object{object}, nil
}

// object is an object of the snapshot.
func (o *questionOptions) object(s *inspect.Snapshot, n named) (metav1.Object, bool) {
	switch n.kind.resource {
	case inspect.Pods:
		return s.Pod(inspect.PodRef{Namespace: o.namespace, Name: n.name})
	case inspect.Templates:
		return s.Template(o.namespace, n.name)
	}
	return s.Claim(inspect.ClaimRef{Namespace: o.namespace, Name: n.name})
}

// fromFiles asks about every object in the files that is of a kind that can be asked about. Whatever is
// in the files replaces or joins what is in the snapshot.
func (o *questionOptions) fromFiles(ctx context.Context, s *inspect.Snapshot) (*inspect.Snapshot, []metav1.Object, error) {
	pods := slices.ContainsFunc(o.kinds, func(k kind) bool { return k.kind == kindPod.kind })
	result, err := o.reader.readManifests(ctx, o.files, o.namespace, pods)
	if err != nil {
		return nil, nil, err
	}
	o.paths = result.Files
	given := result.Objects
	if err := o.givePriorities(ctx, result); err != nil {
		return nil, nil, err
	}
	var subjects []metav1.Object
	var types []string
	for _, k := range []kind{kindClaim, kindTemplate, kindPod} {
		if !slices.ContainsFunc(o.kinds, func(known kind) bool { return known.kind == k.kind }) {
			continue
		}
		types = append(types, k.kind)
		switch k.resource {
		case inspect.Claims:
			subjects = appendObjects(subjects, given.Claims)
		case inspect.Templates:
			subjects = appendObjects(subjects, given.Templates)
		case inspect.Pods:
			subjects = appendObjects(subjects, given.Pods)
		}
	}
	rest := ""
	if pods {
		subjects, rest = append(subjects, workloadsOf(result.Workloads)...), ", nor a pod template"
	}
	if len(subjects) == 0 {
		return nil, nil, fmt.Errorf("%s: there is no %s in it to ask about%s", commaList(o.files), orList(types), rest)
	}
	s = s.With(func(objects *inspect.Objects) { overlay(objects, &given) })
	if incomplete := incompleteIn(result.Health); len(incomplete) > 0 {
		s, o.incomplete = s.WithHealth(incomplete), true
	}
	if o.reader.offline() {
		s = s.WithFeatures(o.reader.applyFeatureFlag(withFeaturesInUse(s.Features(), given)))
	}
	return s, subjects, nil
}

// givePriorities gives the pods of files the priorities that they will have on the server, if one is asked.
func (o *questionOptions) givePriorities(ctx context.Context, given *manifest.Result) error {
	pods := slices.Clone(given.Objects.Pods)
	for _, w := range given.Workloads {
		if w.Pod != nil {
			pods = append(pods, w.Pod)
		}
	}
	pods = slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return pod.Spec.PriorityClassName == "" || pod.Spec.Priority != nil })
	if len(pods) == 0 || o.reader.offline() {
		return nil
	}
	server := &owners{reader: o.reader}
	if err := server.connect(); err != nil {
		return err
	}
	classes := map[string]*schedulingv1.PriorityClass{}
	for _, pod := range pods {
		class, asked := classes[pod.Spec.PriorityClassName]
		if !asked {
			var err error
			if class, err = server.finder.PriorityClass(ctx, pod.Spec.PriorityClassName); err != nil {
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

// workloadsOf are the workloads that nothing else in the files makes: a ReplicaSet beside its Deployment is the same
// pods once more.
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

func appendObjects[T metav1.Object](list []metav1.Object, objects []T) []metav1.Object {
	for _, o := range objects {
		list = append(list, o)
	}
	return list
}

// claimOf returns the claim that a claim or a template stands for.
func claimOf(object metav1.Object) *resourcev1.ResourceClaim {
	template, ok := object.(*resourcev1.ResourceClaimTemplate)
	if !ok {
		return object.(*resourcev1.ResourceClaim)
	}
	return inspect.ClaimFromTemplate(template, template.Name)
}
