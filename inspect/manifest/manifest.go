package manifest

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Result is what was read.
type Result struct {
	// Objects are sorted by namespace and name, carry the newest version's apiVersion and kind, and are
	// the caller's own. Devices of one ResourceSlice may share maps.
	Objects inspect.Objects
	// Warnings are what the API server would have refused, in the order of reading. They are never
	// fatal: the object is kept, unless it has no name to speak of it by.
	Warnings []Warning
	// Skipped counts the objects of kinds that no question needs, by "apiVersion Kind".
	Skipped map[string]int
	// Gone are the objects of versions of the API that no current release of Kubernetes serves, in the order
	// of reading. They were left out, and there is a Warning about each.
	Gone []Gone
	// Health is Synced for each resource of which at least one object was given, with the API versions
	// that were given, joined by ", ". Other resources are absent. See Failures for another state.
	Health map[inspect.Resource]inspect.Health
	// Failures are what could not be read in directories, in the order of reading; the rest was read. What
	// may have held objects of a resource makes its Health Incomplete. Elsewhere bad input ends the read.
	Failures []*Error
	// Workloads are the pod templates of objects of other kinds, in the order of reading. There are none
	// unless Options ask for them; the pods share nothing with each other.
	Workloads []*inspect.Workload
	// Events are the Events of the core group and of events.k8s.io, in the order of reading. They are not
	// among Objects.
	Events []inspect.Event
	// Access are the objects of RBAC, of which the last counts where one is given several times. It is nil if
	// there are none.
	Access *inspect.Access
	// Files are what was read, in this order: the paths that were given, with the files in them in place of
	// directories.
	Files []string
}

// Gone is an object of a version of the API that no current release of Kubernetes serves.
type Gone struct {
	Object inspect.ObjectRef
	Why    string // one line, which quotes the file: it is unsafe to print as it is
}

// Warning is one thing that the API server would refuse or drop.
type Warning struct {
	Source  string // file and line, such as "claims.yaml:12"
	Object  string // such as "ResourceClaim ml/train-0"
	Path    string // field path as in the file's own API version; may be empty
	Message string
}

// String returns one line that is safe for a terminal.
func (w Warning) String() string {
	text := w.Source
	for _, part := range []string{w.Object, w.Path, w.Message} {
		if part != "" {
			text += ": " + part
		}
	}
	return inspect.SanitizeShort(text, maxErrorLength)
}

// Options say how to read.
type Options struct {
	// Stdin is what the path "-" reads.
	Stdin io.Reader
	// Namespace is given to namespaced objects without one; empty means "default".
	Namespace string
	// Workloads asks for the pod templates of kinds such as Deployment, which are then not counted as
	// Skipped.
	Workloads bool
	// MaxBytes limits what all files together hold when they are unpacked; 0 means DefaultMaxBytes. Other
	// limits follow from it: how well gzip may be packed and how deep objects may be nested are looked at
	// only when it is 0.
	MaxBytes int64
	// NewerServer says that a server made all objects that may be newer than the API types: fields that they
	// do not know are no mistakes.
	NewerServer bool
	// Meter, if set, is told how many more bytes of files were read and how many they unpacked to, before
	// anything is made of them.
	Meter func(packed, unpacked int64)
}

func (o Options) withDefaults() Options {
	if o.Namespace == "" {
		o.Namespace = "default"
	}
	return o
}

// Read reads files, directories (recursively: *.yaml, *.yml, *.json, in the order of their names, hidden ones
// left out) and, for the path "-", Options.Stdin. Bad input gives an *Error, or a failure if it is in a
// directory with other input; cancellation gives the context's error.
func Read(ctx context.Context, paths []string, opts Options) (*Result, error) {
	opts = opts.withDefaults()
	if len(paths) == 0 {
		return nil, &Error{Code: Empty, Source: "manifests", Detail: "no path given", Advice: "name a file, a directory or -"}
	}
	c, r := newCollector(opts), newReading(opts)
	for _, path := range paths {
		if err := c.readPath(ctx, r, path); err != nil {
			return nil, err
		}
	}
	if c.failures.all(len(c.seen) + len(c.workloads) + len(c.events) + len(c.accessSeen) + len(c.skipped)) {
		return nil, c.failures.list[0]
	}
	result := c.result()
	result.Files = r.names
	return result, nil
}

// readPath reads what a user named: a file, a directory or standard input. A file in a directory that cannot
// be read stops nothing, for nobody named it.
func (c *collector) readPath(ctx context.Context, r *reading, path string) error {
	info, err := os.Stat(path)
	c.failures.survived = err == nil && info.IsDir() && path != "-"
	files, err := r.filesBelow(ctx, path, &c.failures)
	if err != nil {
		return err
	}
	r.names = append(r.names, files...)
	for _, file := range files {
		data, err := r.readFile(ctx, file, c.opts.Stdin)
		if err == nil {
			err = c.readData(ctx, file, data)
		}
		if err != nil && !c.failures.survive(err, "") {
			return err
		}
	}
	return nil
}

// ReadBytes reads data as if it were the content of a file called name: YAML or JSON, gzip or not.
func ReadBytes(name string, data []byte, opts Options) (*Result, error) {
	opts = opts.withDefaults()
	ctx, r := context.Background(), newReading(opts)
	data, err := r.textOf(ctx, name, data)
	if err != nil {
		return nil, err
	}
	c := newCollector(opts)
	if err := c.readData(ctx, name, data); err != nil {
		return nil, err
	}
	return c.result(), nil
}

// textOf does what unpack does, with data that is in memory already.
func (r *reading) textOf(ctx context.Context, name string, data []byte) ([]byte, error) {
	switch {
	case isGzip(data):
		return r.unpack(ctx, name, bytes.NewReader(data), 0)
	case int64(len(data)) > r.limits.bytes:
		return nil, r.limits.tooManyBytes(name)
	}
	return toText(name, data)
}
