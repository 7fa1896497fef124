package manifest

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
)

// filesBelow returns path itself when it is a file or "-", and else the manifests below the directory in the
// order of their names. A directory that is reached twice through symbolic links is read once, which also
// ends loops, and links that lead out of the directory are not followed. What cannot be listed is a failure,
// unless nothing else is there.
func (r *reading) filesBelow(ctx context.Context, path string, failures *failures) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	root, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	w := walker{reading: r, failures: failures, root: root, seen: map[string]bool{}}
	if err := w.walk(ctx, path); err != nil {
		return nil, err
	}
	if len(w.files) == 0 && len(failures.list) == 0 {
		return nil, &Error{
			Code: Empty, Source: path, Detail: "the directory holds no *.yaml, *.yml or *.json file",
			Advice: "name another directory or a file",
		}
	}
	return w.files, nil
}

type walker struct {
	reading  *reading
	failures *failures
	root     string          // the real path of the directory
	seen     map[string]bool // real paths of directories already visited
	files    []string
}

func (w *walker) walk(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return unreadable(dir, err)
	}
	if w.seen[resolved] {
		return nil
	}
	w.seen[resolved] = true
	names, err := w.names(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path) // follows links, as a mounted ConfigMap needs
		switch {
		case errors.Is(err, fs.ErrNotExist) || isLinkLoop(path, err):
			continue // a dangling link or a link to itself names nothing to read
		case err != nil:
			if err := unreadable(path, err); !w.failures.survive(err, "") {
				return err
			}
		case (info.IsDir() || isManifest(name)) && w.leadsOut(path):
			if err := leadingOut(path); !w.failures.survive(err, "") {
				return err
			}
		case info.IsDir():
			if err := w.walk(ctx, path); err != nil && !w.failures.survive(err, "") {
				return err
			}
		case info.Mode().IsRegular() && isManifest(name):
			w.files = append(w.files, path)
		}
	}
	return nil
}

// leadsOut reports whether a path is a symbolic link to something that is not below the directory. Who sends
// a directory has no say in what else is read here.
func (w *walker) leadsOut(path string) bool {
	if info, err := os.Lstat(path); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return err != nil
	}
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	below, err := filepath.Rel(w.root, resolved)
	return err != nil || !filepath.IsLocal(below)
}

func leadingOut(path string) *Error {
	return &Error{
		Code: Unreadable, Source: path, Detail: "it is a symbolic link that leads out of the directory", Advice: "name what it leads to as well",
	}
}

// names returns what is in a directory, in order, without what is hidden.
func (w *walker) names(dir string) ([]string, error) {
	file, err := os.Open(dir) //nolint:gosec // reading the directory that the user named is the purpose
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	var names []string
	for {
		some, err := file.Readdirnames(1024)
		for _, name := range some {
			if !strings.HasPrefix(name, ".") {
				names = append(names, name)
			}
		}
		w.reading.files += len(some)
		switch {
		case w.reading.files > w.reading.limits.files:
			return nil, tooLarge(dir, "more than %d files in directories", w.reading.limits.files)
		case errors.Is(err, io.EOF):
			slices.Sort(names)
			return names, nil
		case err != nil:
			return nil, unreadable(dir, err)
		}
	}
}

// isLinkLoop reports whether stat failed on a symbolic link, which then leads in a circle.
func isLinkLoop(path string, err error) bool {
	if err == nil || errors.Is(err, fs.ErrPermission) {
		return false
	}
	info, lerr := os.Lstat(path)
	return lerr == nil && info.Mode()&fs.ModeSymlink != 0
}

func isManifest(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func unreadable(path string, err error) *Error {
	e := &Error{Code: Unreadable, Source: path, Detail: err.Error(), Err: err}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		e.Detail = pathErr.Err.Error() // the path itself is already in the message
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Advice = "check the path"
	case errors.Is(err, fs.ErrPermission):
		e.Advice = "check the file's permissions"
	}
	return e
}

// readFile reads a whole file, or standard input, and unpacks it.
func (r *reading) readFile(ctx context.Context, path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		if stdin == nil {
			return nil, &Error{Code: Unreadable, Source: path, Detail: "there is no standard input"}
		}
		return r.unpack(ctx, path, stdin, 0)
	}
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer file.Close() //nolint:errcheck // nothing was written
	var size int64
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return r.unpack(ctx, path, file, size)
}
