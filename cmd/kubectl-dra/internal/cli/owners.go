package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// Objects because of which there are pods, such as a Deployment, can be asked about by name. They are in no snapshot: one is
// read from the server by itself, or kept aside when files are read.

// ownerKinds are those of Kubernetes itself.
func ownerKinds() []kind {
	var out []kind
	for _, k := range inspect.OwnerKinds() {
		out = append(out, kindOfOwner(k))
	}
	return out
}

func kindOfOwner(k inspect.OwnerKind) kind {
	return kind{singular: k.Singular, kind: k.Name, names: append([]string{k.Singular, k.Resource}, k.Short...), owner: &k}
}

// named is an object that is asked about.
type named struct {
	kind kind
	name string
	// unknown is the word for a kind that may be one of the server or of files; kind has nothing then.
	unknown *unknownTypeError
}

// word is the type as it can be asked for.
func (n *named) word() string {
	if n.unknown != nil {
		return n.unknown.word
	}
	return n.kind.names[0]
}

// needsPods reports whether the question is about pods.
func (n *named) needsPods() bool {
	return n.unknown != nil || n.kind.owner != nil || n.kind.kind == kindPod.kind
}

// splitNamed reads TYPE NAME… or TYPE/NAME…, each of which may be of its own type. Where kinds of owners are known, any other
// word may be one too.
func splitNamed(args []string, kinds []kind) ([]named, error) {
	if len(args) == 0 || !strings.Contains(args[0], "/") {
		return splitOne(args, kinds)
	}
	var out []named
	for _, arg := range args {
		if !strings.Contains(arg, "/") {
			return nil, usagef("%q: give either one type and names, or TYPE/NAME each time", arg)
		}
		one, err := splitOne([]string{arg}, kinds)
		if err != nil {
			return nil, err
		}
		out = append(out, one...)
	}
	return out, nil
}

// splitOne reads names of one type.
func splitOne(args []string, kinds []kind) ([]named, error) {
	k, names, err := splitArguments(args, kinds)
	unknown := (*unknownTypeError)(nil)
	if errors.As(err, &unknown) && slices.ContainsFunc(kinds, func(k kind) bool { return k.owner != nil }) {
		if _, names, _ = splitTypeAndNames(args); len(names) > 0 && !slices.Contains(names, "") {
			err = nil
		}
	}
	var out []named
	for _, name := range names {
		out = append(out, named{kind: k, name: name, unknown: unknown})
	}
	return out, err
}

// owners finds the objects that a command asks about.
type owners struct {
	reader *reader
	finder *live.Finder // nil without a server
}

// resolve finds out what words name that no kind of this program is called by. The error is that of the first which
// is no kind of the server, or none of the files. Files must have been read.
func (o *owners) resolve(ctx context.Context, asked []named) error {
	for i := range asked {
		n := &asked[i]
		if n.unknown == nil {
			continue
		}
		k, ok := o.kindCalled(ctx, n.unknown.word)
		if !ok {
			return n.unknown
		}
		n.kind, n.unknown = kindOfOwner(k), nil
	}
	return nil
}

func (o *owners) kindCalled(ctx context.Context, word string) (inspect.OwnerKind, bool) {
	if o.reader.offline() {
		for _, w := range o.reader.workloads {
			if k := kindOfWorkload(w); k.Called(word) {
				return k, true
			}
		}
		return inspect.OwnerKind{}, false
	}
	if err := o.connect(); err != nil {
		return inspect.OwnerKind{}, false // a word that nobody knows is the better complaint
	}
	k, ok, err := o.finder.Kind(ctx, word)
	return k, ok && err == nil
}

// kindOfWorkload makes up what files do not tell of a kind: its plural.
func kindOfWorkload(w *inspect.Workload) inspect.OwnerKind {
	version := w.Type.GroupVersionKind().GroupVersion()
	singular := strings.ToLower(w.Type.Kind)
	return inspect.OwnerKind{Group: version.Group, Version: version.Version, Resource: singular + "s", Name: w.Type.Kind, Singular: singular}
}

// connect makes the finder, unless there is one. It is for a reader that asks a server.
func (o *owners) connect() error {
	if o.finder != nil {
		return nil
	}
	config, err := o.reader.connection.restConfig()
	if err != nil {
		return err
	}
	o.finder, err = live.NewFinder(config)
	return err
}

// find returns an object with its pods.
func (o *owners) find(ctx context.Context, s *inspect.Snapshot, k kind, namespace, name string) (*inspect.PodOwner, error) {
	var owner *inspect.PodOwner
	err := live.ErrNoObject
	if o.reader.offline() {
		owner = o.inFiles(s, *k.owner, namespace, name)
	} else if err = o.connect(); err == nil {
		owner, err = o.finder.Owner(ctx, s, *k.owner, namespace, name)
	}
	if owner != nil {
		o.note(owner)
		return owner, nil
	}
	if errors.Is(err, live.ErrNoObject) {
		return nil, o.notFound(s, k, namespace, name)
	}
	return nil, err
}

// inFiles returns an object of the files, or one that only its pods tell of; nil if there is none.
func (o *owners) inFiles(s *inspect.Snapshot, k inspect.OwnerKind, namespace, name string) *inspect.PodOwner {
	owner := &inspect.PodOwner{Kind: k, Namespace: namespace, Name: name}
	type id struct{ apiVersion, kind, namespace, name string }
	parents := map[id]*metav1.OwnerReference{}
	for _, w := range o.reader.workloads {
		parents[id{w.Type.APIVersion, w.Type.Kind, w.Namespace, w.Name}] = w.Controller
		if of := kindOfWorkload(w); of.Group == k.Group && of.Name == k.Name && w.Namespace == namespace && w.Name == name {
			owner.Known, owner.Templates = true, append(owner.Templates, w)
		}
	}
	if !owner.Fill(s, func(namespace string, of *metav1.OwnerReference) *metav1.OwnerReference {
		return parents[id{of.APIVersion, of.Kind, namespace, of.Name}]
	}) {
		return nil
	}
	return owner
}

// note says what was not read of an object.
func (o *owners) note(owner *inspect.PodOwner) {
	what := fmt.Sprintf("%s %s/%s", owner.Kind.Singular, owner.Namespace, owner.Name)
	switch {
	case len(owner.Unread) > 0 && owner.Known:
		o.reader.streams.note("warning: %s: there may be more pods of %s", commaList(owner.Unread), what)
	case len(owner.Unread) > 0:
		o.reader.streams.note("warning: %s: answering for the pods of %s that exist", commaList(owner.Unread), what)
	case !owner.Known:
		o.reader.streams.note("warning: %s was not found; answering for its pods that exist", what)
	}
}

// notFound says which objects of the kind there are pods of.
func (o *owners) notFound(s *inspect.Snapshot, k kind, namespace, name string) error {
	text := fmt.Sprintf("%s %q not found in namespace %q", k.singular, name, namespace)
	here, elsewhere := o.names(s, *k.owner, namespace), []string(nil)
	for _, ns := range namespacesOf(s) {
		if ns != namespace && slices.Contains(o.names(s, *k.owner, ns), name) {
			elsewhere = append(elsewhere, ns)
		}
	}
	if len(here)+len(elsewhere) == 0 {
		return errors.New(text)
	}
	return errors.New(text + whatExists(name, namespace, here, elsewhere))
}

// names are the objects of a kind that files have, or that there are pods of.
func (o *owners) names(s *inspect.Snapshot, k inspect.OwnerKind, namespace string) []string {
	names := s.OwnerNames(k, namespace)
	for _, w := range o.reader.workloads {
		if of := kindOfWorkload(w); of.Group == k.Group && of.Name == k.Name && w.Namespace == namespace {
			names = append(names, w.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// namespacesOf are those in which there are pods, sorted.
func namespacesOf(s *inspect.Snapshot) []string {
	var out []string
	for _, pod := range s.Objects().Pods {
		if len(out) == 0 || out[len(out)-1] != pod.Namespace { // pods are sorted
			out = append(out, pod.Namespace)
		}
	}
	return out
}

// podsToAskAbout are what a question about an object is about: its pods that wait for a node, else all that there are, else
// one of those that it would make.
func podsToAskAbout(owner *inspect.PodOwner) ([]metav1.Object, error) {
	var waiting, all, made []metav1.Object
	for _, pod := range owner.Pods {
		all = append(all, pod)
		if pod.Spec.NodeName == "" {
			waiting = append(waiting, pod)
		}
	}
	for _, w := range owner.Templates {
		made = append(made, w)
	}
	for _, subjects := range [][]metav1.Object{waiting, all, made} {
		if len(subjects) > 0 {
			return subjects, nil
		}
	}
	return nil, fmt.Errorf("%s %s/%s has no pods, and says nothing of those that it would have", owner.Kind.Singular, owner.Namespace, owner.Name)
}
