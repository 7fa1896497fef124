package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/archive"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// splitArchives tells the archives among the paths of --from from the manifests.
func (s *source) splitArchives() (archives, manifests []string, err error) {
	for _, path := range s.from {
		is, err := s.isArchive(path)
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
		return nil, nil, usagef("--from can read one snapshot at a time, not %s", commaList(archives))
	}
	return archives, manifests, nil
}

// isArchive looks at the beginning of a file. Only a regular file or standard input can be looked at
// without losing what was read; what cannot be opened is left to the reader of manifests to complain of.
func (s *source) isArchive(path string) (bool, error) {
	if path == "-" {
		if s.streams.In == nil {
			return false, nil
		}
		buffered := bufio.NewReader(s.streams.In)
		s.streams.In = buffered
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

// readArchive reads an archive, and manifests on top of it: their objects replace or join its own.
func (s *source) readArchive(ctx context.Context, path string, manifests []string) (*inspect.Snapshot, error) {
	header, result, err := s.openArchive(ctx, path)
	if err != nil {
		return nil, err
	}
	if s.verbosity > 0 { // they were shown when the objects were first read, or the server knows better
		for _, warning := range result.Warnings {
			s.note("warning: %s", warning)
		}
	}
	config := header.Config()
	objects := result.Objects
	if len(manifests) > 0 {
		more, err := s.readManifests(ctx, manifests, "default")
		if err != nil {
			return nil, err
		}
		overlay(&objects, &more.Objects)
		config.Features = withUsed(config.Features, more.Objects)
	}
	config.Features = s.override(config.Features)
	return inspect.New(objects, config), nil
}

func (s *source) openArchive(ctx context.Context, path string) (*archive.Header, *manifest.Result, error) {
	s.memory.watch() // to the end of the command: there is no other source beside an archive
	if path == "-" {
		return archive.Read(ctx, s.streams.In, "standard input", s.fileOptions(""))
	}
	file, err := os.Open(path) //nolint:gosec // reading the path that the user named is the purpose
	if err != nil {
		return nil, nil, fmt.Errorf("reading snapshot: %w", err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	return archive.Read(ctx, file, path, s.fileOptions(""))
}
