package inquiry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// Objects because of which there are pods, such as a Deployment, can be asked about by name. They are in no
// snapshot: one is read from the server by itself, or kept aside when files are read.

// OwnerKinds are those of Kubernetes itself.
func OwnerKinds() []Kind {
	return words.Each(inspect.OwnerKinds(), kindOfOwner)
}

func kindOfOwner(k inspect.OwnerKind) Kind {
	return Kind{Singular: k.Singular, Kind: k.Name, Names: append([]string{k.Singular, k.Resource}, k.Short...), Owner: &k}
}

// Named is an object that is asked about.
type Named struct {
	Kind Kind
	Name string
	// Unknown is the word for a kind that may be one of the server or of files; Kind has nothing then.
	Unknown *unknownTypeError
}

// Word is the type as it can be asked for.
func (n *Named) Word() string {
	if n.Unknown != nil {
		return n.Unknown.word
	}
	return n.Kind.Names[0]
}

// needsPods reports whether the question is about pods.
func (n *Named) needsPods() bool {
	return n.Unknown != nil || n.Kind.Owner != nil || n.Kind.Kind == Pod.Kind
}

// splitNamed reads TYPE NAME… or TYPE/NAME…, each of which may be of its own type. Where kinds of owners are
// known, any other word may be one too.
func splitNamed(args []string, kinds []Kind) ([]Named, error) {
	if len(args) == 0 || !strings.Contains(args[0], "/") {
		return splitOne(args, kinds)
	}
	var out []Named
	for _, arg := range args {
		if !strings.Contains(arg, "/") {
			return nil, console.Usagef("%q: give either one type and names, or TYPE/NAME each time", arg)
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
func splitOne(args []string, kinds []Kind) ([]Named, error) {
	k, names, err := SplitArguments(args, kinds)
	unknown := (*unknownTypeError)(nil)
	if errors.As(err, &unknown) && slices.ContainsFunc(kinds, func(k Kind) bool { return k.Owner != nil }) {
		if _, names, _ = SplitTypeAndNames(args); len(names) > 0 && !slices.Contains(names, "") {
			err = nil
		}
	}
	out := words.Each(names, func(name string) Named { return Named{Kind: k, Name: name, Unknown: unknown} })
	return out, err
}

// Owners finds the objects that a command asks about.
type Owners struct {
	Reader *sources.Reader
	Finder *live.Finder // nil without a server
}

// resolve finds out what words name that no kind of this program is called by. The error is that of the first
// which is no kind of the server, or none of the files. Files must have been read.
func (o *Owners) resolve(ctx context.Context, asked []Named) error {
	for i := range asked {
		n := &asked[i]
		if n.Unknown == nil {
			continue
		}
		k, ok := o.kindCalled(ctx, n.Unknown.word)
		if !ok {
			return n.Unknown
		}
		n.Kind, n.Unknown = kindOfOwner(k), nil
	}
	return nil
}

func (o *Owners) kindCalled(ctx context.Context, word string) (inspect.OwnerKind, bool) {
	if o.Reader.Offline() {
		for _, w := range o.Reader.Workloads {
			if k := kindOfWorkload(w); k.Called(word) {
				return k, true
			}
		}
		return inspect.OwnerKind{}, false
	}
	if err := o.Connect(); err != nil {
		return inspect.OwnerKind{}, false // a word that nobody knows is the better complaint
	}
	k, ok, err := o.Finder.Kind(ctx, word)
	return k, ok && err == nil
}

// kindOfWorkload makes up what files do not tell of a kind: its plural.
func kindOfWorkload(w *inspect.Workload) inspect.OwnerKind {
	version := w.Type.GroupVersionKind().GroupVersion()
	singular := strings.ToLower(w.Type.Kind)
	return inspect.OwnerKind{Group: version.Group, Version: version.Version, Resource: singular + "s", Name: w.Type.Kind, Singular: singular}
}

// Connect makes the finder, unless there is one. It is for a reader that asks a server.
func (o *Owners) Connect() error {
	if o.Finder != nil {
		return nil
	}
	config, err := o.Reader.Connection.RESTConfig()
	if err != nil {
		return err
	}
	o.Finder, err = live.NewFinder(config)
	return err
}

// find returns an object with its pods.
func (o *Owners) find(ctx context.Context, s *inspect.Snapshot, k Kind, namespace, name string) (*inspect.PodOwner, error) {
	var owner *inspect.PodOwner
	err := live.ErrNoObject
	if o.Reader.Offline() {
		owner = o.inFiles(s, *k.Owner, namespace, name)
	} else if err = o.Connect(); err == nil {
		owner, err = o.Finder.Owner(ctx, s, *k.Owner, namespace, name)
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
func (o *Owners) inFiles(s *inspect.Snapshot, k inspect.OwnerKind, namespace, name string) *inspect.PodOwner {
	owner := &inspect.PodOwner{Kind: k, Namespace: namespace, Name: name}
	type id struct{ apiVersion, kind, namespace, name string }
	parents := map[id]*metav1.OwnerReference{}
	for _, w := range o.Reader.Workloads {
		parents[id{w.Type.APIVersion, w.Type.Kind, w.Namespace, w.Name}] = w.Controller
		if of := kindOfWorkload(w); of.Group == k.Group && of.Name == k.Name && w.Namespace == namespace && w.Name == name {
			owner.Known, owner.Templates = true, append(owner.Templates, w)
		}
	}
	if !owner.Fill(s, func(namespace string, of *metav1.OwnerReference) *metav1.OwnerReference {
		return parents[id{of.APIVersion, of.Kind, namespace, of.Name}]
	}) {
		return o.queued(s, owner)
	}
	return owner
}

// queued is an object of which there is nothing but the Workload that Kueue has made for it: a snapshot has
// no Jobs. It is nil if there is none.
func (o *Owners) queued(s *inspect.Snapshot, owner *inspect.PodOwner) *inspect.PodOwner {
	var newest *kueuev1beta2.Workload
	for _, w := range s.Around().KueueWorkloads {
		made := slices.ContainsFunc(w.OwnerReferences, func(of metav1.OwnerReference) bool {
			group, _, _ := strings.Cut(of.APIVersion, "/")
			return group == owner.Kind.Group && of.Kind == owner.Kind.Name && of.Name == owner.Name
		})
		if made && w.Namespace == owner.Namespace && (newest == nil || newest.CreationTimestamp.Before(&w.CreationTimestamp)) {
			newest = w
		}
	}
	if newest == nil {
		return nil
	}
	kind := inspect.KindOf(inspect.KueueWorkloads)
	for _, w := range o.Reader.Workloads {
		if of := kindOfWorkload(w); of.Group == kind.Group && of.Name == kind.Name && w.Namespace == newest.Namespace && w.Name == newest.Name {
			owner.Known, owner.Templates = true, append(owner.Templates, w)
		}
	}
	if !owner.Known {
		return nil
	}
	o.Reader.Streams.Note("warning: %s %s/%s is not in what was read; answering for its Workload %s", owner.Kind.Singular, owner.Namespace, owner.Name, newest.Name)
	return owner
}

// note says what was not read of an object.
func (o *Owners) note(owner *inspect.PodOwner) {
	what := fmt.Sprintf("%s %s/%s", owner.Kind.Singular, owner.Namespace, owner.Name)
	switch {
	case len(owner.Unread) > 0 && owner.Known:
		o.Reader.Streams.Note("warning: %s: there may be more pods of %s", console.CommaList(owner.Unread), what)
	case len(owner.Unread) > 0:
		o.Reader.Streams.Note("warning: %s: answering for the pods of %s that exist", console.CommaList(owner.Unread), what)
	case !owner.Known:
		o.Reader.Streams.Note("warning: %s was not found; answering for its pods that exist", what)
	}
}

// notFound says which objects of the kind there are pods of.
func (o *Owners) notFound(s *inspect.Snapshot, k Kind, namespace, name string) error {
	text := fmt.Sprintf("%s %q not found in namespace %q", k.Singular, name, namespace)
	here, elsewhere := o.names(s, *k.Owner, namespace), []string(nil)
	for _, ns := range NamespacesOf(s) {
		if ns != namespace && slices.Contains(o.names(s, *k.Owner, ns), name) {
			elsewhere = append(elsewhere, ns)
		}
	}
	if len(here)+len(elsewhere) == 0 {
		return errors.New(text)
	}
	return errors.New(text + console.WhatExists(name, namespace, here, elsewhere))
}

// names are the objects of a kind that files have, or that there are pods of.
func (o *Owners) names(s *inspect.Snapshot, k inspect.OwnerKind, namespace string) []string {
	names := s.OwnerNames(k, namespace)
	for _, w := range o.Reader.Workloads {
		if of := kindOfWorkload(w); of.Group == k.Group && of.Name == k.Name && w.Namespace == namespace {
			names = append(names, w.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// NamespacesOf are those in which there are pods, sorted.
func NamespacesOf(s *inspect.Snapshot) []string {
	var out []string
	for _, pod := range s.Objects().Pods {
		if len(out) == 0 || out[len(out)-1] != pod.Namespace { // pods are sorted
			out = append(out, pod.Namespace)
		}
	}
	return out
}

// podsToAskAbout are what a question about an object is about: its pods that wait for a node, else all that
// there are, else one of those that it would make.
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
