package explain

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// manifestFormats are those of the objects that a fix changes.
var manifestFormats = []string{"json", "yaml"}

// printChanged prints the objects that a fix changes, ready to be applied.
func (o *explainOptions) printChanged(ctx context.Context, s *inspect.Snapshot, e *explain.Explanation, i int) error {
	f := &e.Fixes[i]
	if len(f.Changes) == 0 {
		return noManifest(f, i, "changes no object that could be printed")
	}
	if len(o.Files) > 0 && o.Format.Name == "yaml" {
		o.noteFix(e, i)
		return o.printChangedFiles(ctx, s, f)
	}
	objects, err := remedy.Manifests(f, func(c explain.ObjectChange) (remedy.Object, error) { return o.whole(ctx, s, c) })
	if errors.Is(err, remedy.ErrPartOnly) || errors.Is(err, remedy.ErrElsewhere) {
		return noManifest(f, i, "cannot be printed: "+err.Error())
	}
	if err != nil {
		return err
	}
	o.noteFix(e, i)
	if o.Format.Name == "yaml" {
		return printDocuments(o.Out, objects, func(w io.Writer, object any) error { return o.Format.PrintValue(w, object) })
	}
	if len(objects) == 1 {
		return o.Format.PrintValue(o.Out, objects[0])
	}
	return o.Format.PrintValue(o.Out, remedy.Object{"apiVersion": "v1", "kind": "List", "items": objects})
}

// printDocuments prints objects as documents of YAML.
func printDocuments(w io.Writer, objects []remedy.Object, printValue func(io.Writer, any) error) error {
	for i, object := range objects {
		if i > 0 {
			if _, err := io.WriteString(w, "---\n"); err != nil {
				return err
			}
		}
		if err := printValue(w, object); err != nil {
			return err
		}
	}
	return nil
}

// whole returns an object with all that it has: what a snapshot keeps of a pod of a cluster is not enough to
// write it down.
func (o *explainOptions) whole(ctx context.Context, s *inspect.Snapshot, c explain.ObjectChange) (remedy.Object, error) {
	object, err := remedy.Find(s, c)
	if !errors.Is(err, remedy.ErrPartOnly) || c.Kind != "Pod" || o.Reader.Offline() || len(o.Files) > 0 {
		return object, err
	}
	return o.wholePod(ctx, inspect.PodRef{Namespace: c.Namespace, Name: c.Name})
}

// wholePod reads a whole pod from the cluster.
func (o *explainOptions) wholePod(ctx context.Context, ref inspect.PodRef) (remedy.Object, error) {
	config, err := o.Reader.Connection.RESTConfig()
	if err != nil {
		return nil, err
	}
	api, err := requests.NewAPI(config, "v1", false)
	if err != nil {
		return nil, err
	}
	pod, err := api.Pod(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("reading pod %s: %w", ref, err)
	}
	return pod, nil
}

// noManifest says that the objects of a fix are not printed, and what to do instead.
func noManifest(f *explain.Fix, i int, why string) error {
	text := fmt.Sprintf("fix %d (%s) %s", i+1, f.Message, why)
	switch {
	case len(f.Commands) > 0:
		text += "; run: " + strings.Join(f.Commands, " && ")
	case len(f.Remarks) > 0:
		text += "; " + f.Remarks[0]
	default:
		text += ", and there is no command for it"
	}
	return errors.New(text)
}

// noteFix says to stderr which fix is printed, and what it takes besides.
func (o *explainOptions) noteFix(e *explain.Explanation, i int) {
	f := &e.Fixes[i]
	o.Note("fix %d of %d for %s: %s", i+1, len(e.Fixes), e.Subject.FullName(), f.Message)
	for _, ref := range f.Claims {
		o.Note("besides, %s has to be released; --fix %d without -o shows how", ref.Claim, i+1)
	}
}
