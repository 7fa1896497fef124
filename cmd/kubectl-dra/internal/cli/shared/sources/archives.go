package sources

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// splitArchives tells the archives among paths of --from from the manifests.
func (r *Reader) splitArchives(from []string) (archives, manifests []string, err error) {
	for _, path := range from {
		is, err := r.isArchive(path)
		if err != nil {
			return nil, nil, err
		}
		if is {
			archives = append(archives, path)
		} else {
			manifests = append(manifests, path)
		}
	}
	if len(archives) > 1 {
		return nil, nil, console.Usagef("--from can read one snapshot at a time, not %s", console.CommaList(archives))
	}
	return archives, manifests, nil
}

// isArchive looks at the beginning of a file. Only a regular file or standard input can be looked at
// without losing what was read; what cannot be opened is left to the reader of manifests to complain of.
func (r *Reader) isArchive(path string) (bool, error) {
	if path == "-" {
		if r.Streams.In == nil {
			return false, nil
		}
		buffered := bufio.NewReader(r.Streams.In)
		r.Streams.In = buffered
		return archive.Is(buffered), nil
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false, nil //nolint:nilerr // see above
	}
	file, err := os.Open(path) //nolint:gosec // reading the path that the user named is the purpose
	if err != nil {
		return false, nil //nolint:nilerr // see above
	}
	is := archive.Is(bufio.NewReader(file))
	return is, file.Close()
}

// maxKind is how much is shown of what a kind is called in a file.
const maxKind = 60

// readArchive reads an archive, and manifests on top of it: their objects replace or join its own.
func (r *Reader) readArchive(ctx context.Context, path string, manifests []string) (*inspect.Snapshot, error) {
	header, result, err := r.openArchive(ctx, path)
	if err != nil {
		return nil, err
	}
	if r.Streams.Verbosity > 0 { // they were shown when the objects were first read, or the server knows better
		for _, warning := range result.Warnings {
			r.Streams.Note("warning: %s", warning)
		}
	}
	r.noteFailures(result.Failures)
	for _, kind := range slices.Sorted(maps.Keys(result.Skipped)) {
		r.Streams.Note("left out %d of %s, which this program does not know", result.Skipped[kind], inspect.SanitizeShort(kind, maxKind))
	}
	config, err := header.Config()
	if err != nil {
		return nil, fmt.Errorf("%s: the configuration in it: %w", path, err)
	}
	objects := result.Objects
	more, err := r.ReadMore(ctx, manifests)
	if err != nil {
		return nil, err
	}
	if more != nil {
		Overlay(&objects, more)
		config.Features = config.Features.WithUsed(*more)
	}
	config.Features = r.ApplyFeatureFlag(config.Features)
	if err := r.keepQueued(objects.KueueWorkloads); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return inspect.New(objects, config), nil
}

// keepQueued keeps aside what makes pods of workloads of Kueue, which are objects of a snapshot.
func (r *Reader) keepQueued(all []*kueuev1beta2.Workload) error {
	if !r.KeepWorkloads {
		return nil
	}
	queued, err := manifest.Queued(all)
	r.Workloads = append(r.Workloads, queued...)
	return err //nolint:wrapcheck // the caller says of what
}

// ReadMore reads manifests that go on top of what was saved. It is nil if there are none.
func (r *Reader) ReadMore(ctx context.Context, manifests []string) (*inspect.Objects, error) {
	if len(manifests) == 0 {
		return nil, nil
	}
	more, err := r.ReadManifests(ctx, manifests, "default", r.KeepWorkloads)
	if err != nil {
		return nil, err
	}
	r.Workloads = more.Workloads
	return &more.Objects, nil
}

func (r *Reader) openArchive(ctx context.Context, path string) (*archive.Header, *manifest.Result, error) {
	defer r.reading(ctx, path)()
	if path == "-" {
		return archive.Read(ctx, r.Streams.In, "standard input", r.fileOptions(""))
	}
	file, err := os.Open(path) //nolint:gosec // reading the path that the user named is the purpose
	if err != nil {
		return nil, nil, fmt.Errorf("reading snapshot: %w", err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return archive.Read(ctx, file, path, r.fileOptions(""))
}
