package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// maxWarnings is how many warnings about manifests are shown without -v.
const maxWarnings = 10

// reader makes snapshots: of the cluster of the kubeconfig, of files, or of the demo cluster.
type reader struct {
	streams    *streams
	connection *connection
	memory     *memory // what files may take
	clock      Clock

	from         []string // --from
	at           string   // --at
	stdinRead    bool     // standard input can be read only once
	warned       map[warningKey]bool
	events       []inspect.Event // of files that were read
	access       *inspect.Access // of the files that were read last; nil if there is none
	toldOfGroups bool
	// keepWorkloads: what makes pods is kept aside when files are read, in workloads.
	keepWorkloads bool
	workloads     []*inspect.Workload
	demo          bool
	features      string                // --features
	gates         map[inspect.Gate]bool // what features says; validate sets it
	maxInput      string                // --max-input; validate hands it to memory
}

// newReader returns a reader of which no flag was given yet. What files take is kept within the bounds of memory.
func newReader(streams *streams, connection *connection, memory *memory, clock Clock) *reader {
	return &reader{streams: streams, connection: connection, memory: memory, clock: clock}
}

// addFlags adds the flags that say what to read, except those of the connection.
func (r *reader) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&r.from, "from", nil, "read objects from this file, directory, snapshot, log or - (stdin) instead of a cluster; may be repeated")
	flags.StringVar(&r.at, "at", "", "answer for this moment in the log of --from: 2026-11-23T09:00:00Z, 09:00, or -10m before its end (default its end)")
	flags.BoolVar(&r.demo, "demo", false, "use the embedded demo cluster")
	flags.StringVar(&r.maxInput, "max-input", "", "read up to this much from files, unpacked (default 512Mi); also lifts the limits on packing, nesting and memory")
	flags.StringVar(&r.features, "features", "", "set feature gates, for example DRAConsumableCapacity=false,…")
}

// offline reports that no cluster is asked.
func (r *reader) offline() bool { return r.demo || len(r.from) > 0 }

// sourceFlags are the flags with which another command reads the same instead of a cluster, each behind a space.
func (r *reader) sourceFlags() string {
	out := ""
	if r.demo {
		out = " --demo"
	}
	for _, path := range r.from {
		if word, ok := remedy.Quote(path); ok && path != stdinPath {
			out += " --from " + word
		}
	}
	return out
}

// validate checks the flags, and those of the streams.
func (r *reader) validate() error {
	if r.demo && len(r.from) > 0 {
		return usagef("--demo and --from exclude each other")
	}
	if r.at != "" && len(r.from) == 0 {
		return usagef("--at is a moment of a log: give that with --from")
	}
	if slices.Contains(r.from, "") {
		return usagef("--from needs a path")
	}
	var err error
	if r.memory.maxInput, err = parseMaxInput(r.maxInput); err != nil {
		return err
	}
	gates, err := inspect.ParseFeatures(r.features)
	if err != nil {
		return usagef("--features: %w", err)
	}
	r.gates = gates
	return r.streams.validate()
}

// namespace returns the namespace that a question without one is about: -n, else that of the kubeconfig
// context. Without a cluster the kubeconfig has no say.
func (r *reader) namespace() (string, error) {
	if r.offline() {
		return cmp.Or(r.connection.namespaceFlag(), "default"), nil
	}
	return r.connection.namespaceInUse()
}

// read returns a snapshot that has the given resources, or, if they are nil, all that a DRA question
// needs. The namespace is the one that the user looks at; it is empty for all of them. When ctx has ended, its error
// is returned: what was interrupted while it was read is no answer.
func (r *reader) read(ctx context.Context, namespace string, resources []inspect.Resource) (snapshot *inspect.Snapshot, err error) {
	switch {
	case r.demo:
		snapshot, err = r.readDemo()
	case len(r.from) > 0:
		snapshot, err = r.readFiles(ctx)
	default:
		snapshot, err = r.readCluster(ctx, namespace, resources)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return snapshot, err
}

// readDemo returns the demo cluster, at its own time.
func (r *reader) readDemo() (*inspect.Snapshot, error) {
	objects, err := demo.Objects()
	if err != nil {
		return nil, err
	}
	return inspect.New(objects, inspect.Config{Revision: 1, Time: demo.Now(), Features: r.offlineFeatures(objects), Health: demo.Health()}), nil
}

func (r *reader) readFiles(ctx context.Context) (*inspect.Snapshot, error) {
	log, rest, err := splitLog(r.from)
	if err != nil {
		return nil, err
	}
	if log == "" && r.at != "" {
		return nil, usagef("--at is a moment of a log, and %s is none: kubectl dra record makes one", commaList(r.from))
	}
	archives, manifests, err := r.splitArchives(rest)
	if err != nil {
		return nil, err
	}
	if log != "" {
		return r.readLog(ctx, log, archives, manifests)
	}
	if len(archives) > 0 {
		return r.readArchive(ctx, archives[0], manifests)
	}
	result, err := r.readManifests(ctx, manifests, "default", r.keepWorkloads) // -n chooses among what is there, it changes nothing
	if err != nil {
		return nil, err
	}
	if isNothing(result) {
		return nil, nothingIn("read", manifests)
	}
	r.workloads = result.Workloads
	return inspect.New(result.Objects, inspect.Config{
		Revision: 1, Time: r.clock(), Features: r.offlineFeatures(result.Objects), Health: result.Health,
	}), nil
}

// isNothing reports that files have no object of a kind that is looked at, as where the command that was to write them failed. What is said of nothing, such as that nothing is wrong with it, is true and means nothing.
func isNothing(read *manifest.Result) bool {
	return len(read.Health) == 0 && len(read.Gone) == 0 && len(read.Workloads) == 0 && len(read.Events) == 0 && read.Access == nil
}

// nothingIn says that there is nothing in files that a command could work on.
func nothingIn(toDo string, paths []string) error {
	return fmt.Errorf("there is nothing to %s in %s: no object of a kind that is looked at", toDo, inspect.Sanitize(commaList(paths)))
}

// readManifests reads files and says on stderr what is wrong with them. Objects without a namespace get
// the given one. workloads asks for the pod templates of other kinds too.
func (r *reader) readManifests(ctx context.Context, paths []string, namespace string, workloads bool) (*manifest.Result, error) {
	for _, path := range paths {
		if path == "-" && r.stdinRead {
			return nil, usagef("standard input (-) can be read only once")
		}
		r.stdinRead = r.stdinRead || path == "-"
	}
	options := r.fileOptions(namespace)
	options.Workloads = workloads
	end := r.memory.watch()
	result, err := manifest.Read(ctx, paths, options)
	end()
	if err != nil {
		return nil, err
	}
	r.noteFailures(result.Failures)
	r.events = append(r.events, result.Events...)
	r.access = result.Access
	result.Warnings = append(result.Warnings, selectorWarnings(&result.Objects)...)
	r.noteWarnings(r.newOf(result.Warnings))
	r.notePodGroups(result)
	if r.streams.verbosity > 0 {
		for _, kind := range slices.Sorted(maps.Keys(result.Skipped)) {
			r.streams.note("skipped %d of %s", result.Skipped[kind], kind)
		}
	}
	return result, nil
}

// warningKey tells warnings apart. The same object may well be given by different paths, with -f and --from.
type warningKey struct{ object, path, message string }

// newOf are the warnings that were not given before, when other files were read.
func (r *reader) newOf(warnings []manifest.Warning) []manifest.Warning {
	if r.warned == nil {
		r.warned = map[warningKey]bool{}
	}
	before := maps.Clone(r.warned) // within the same files, each is worth saying
	var out []manifest.Warning
	for _, w := range warnings {
		key := warningKey{w.Object, w.Path, w.Message}
		if !before[key] {
			out = append(out, w)
		}
		r.warned[key] = true
	}
	return out
}

// notePodGroups says of pod groups of other schedulers, which look as if they decided about their pods, that they do not here.
func (r *reader) notePodGroups(read *manifest.Result) {
	n := 0
	for kind, count := range read.Skipped {
		if strings.HasSuffix(kind, " PodGroup") {
			n += count
		}
	}
	if n > 0 && !r.toldOfGroups {
		r.toldOfGroups = true
		r.streams.note("%d PodGroup objects are not taken into account: each pod is asked about alone, with its own claims or those that its group has already", n)
	}
}

func (r *reader) noteWarnings(warnings []manifest.Warning) {
	for i, warning := range warnings {
		if i == maxWarnings && r.streams.verbosity == 0 {
			r.streams.note("warning: %d more warnings; -v shows them all", len(warnings)-maxWarnings)
			return
		}
		r.streams.note("warning: %s", warning)
	}
}

// noteFailures says what was left out because it could not be read.
func (r *reader) noteFailures(failures []*manifest.Error) {
	for i, failure := range failures {
		if i == maxWarnings && r.streams.verbosity == 0 {
			r.streams.note("warning: left out %d more files or documents; -v shows them all", len(failures)-maxWarnings)
			return
		}
		r.streams.note("warning: %s", failure.Warning())
	}
}

// fileOptions say how files are read. Objects without a namespace get the given one.
func (r *reader) fileOptions(namespace string) manifest.Options {
	return manifest.Options{Stdin: r.streams.In, Namespace: namespace, MaxBytes: r.memory.maxInput, Meter: r.memory.meter}
}

func (r *reader) readCluster(ctx context.Context, namespace string, resources []inspect.Resource) (*inspect.Snapshot, error) {
	config, err := r.connection.restConfig()
	if err != nil {
		return nil, err
	}
	collectSooner()
	progress := startProgress(r.streams.ErrOut)
	cluster, err := live.Read(ctx, config, live.Options{Namespace: namespace, Resources: resources, Progress: progress.show})
	progress.stop()
	if err != nil {
		return nil, err
	}
	return inspect.New(cluster.Objects, inspect.Config{
		Revision: 1, Time: r.clock(), Features: r.applyFeatureFlag(cluster.Features), Health: cluster.Health, ServerVersion: cluster.ServerVersion,
	}), nil
}

// gcPercent is how much the heap may grow before garbage is collected, in percent of what is live, from when a cluster is read
// on. What is kept of a large cluster is long-lived: with the usual 100, as much memory again would hold garbage.
const gcPercent = 50

// collectSooner makes the garbage collector follow gcPercent, unless GOGC is set.
func collectSooner() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// offlineFeatures are the defaults of the newest release, what the objects need, and what the user says.
func (r *reader) offlineFeatures(objects inspect.Objects) inspect.Features {
	return r.applyFeatureFlag(withFeaturesInUse(inspect.DefaultFeatures(inspect.NewestMinor), objects))
}

// withFeaturesInUse turns on the gates that objects use and says so.
func withFeaturesInUse(features inspect.Features, objects inspect.Objects) inspect.Features {
	on := map[inspect.Gate]bool{}
	var names []string
	for _, gate := range inspect.FeaturesUsedBy(objects) {
		if !features.Enabled(gate) {
			on[gate] = true
			names = append(names, string(gate))
		}
	}
	if len(on) > 0 {
		features = features.With(on)
		features.Source += ", and " + strings.Join(names, ", ") + ", which the objects use"
	}
	return features
}

// applyFeatureFlag applies --features.
func (r *reader) applyFeatureFlag(features inspect.Features) inspect.Features {
	if len(r.gates) == 0 {
		return features
	}
	features = features.With(r.gates)
	const changed = ", changed by --features"
	features.Source = strings.TrimSuffix(features.Source, changed) + changed // once, however often objects are added
	return features
}

// now is the time at which something is done to a snapshot, to the second as the API keeps it.
func (r *reader) now(snapshot *inspect.Snapshot) metav1.Time {
	if r.demo {
		return metav1.NewTime(snapshot.Time()).Rfc3339Copy()
	}
	return metav1.NewTime(r.clock()).Rfc3339Copy()
}

// givenEvents are the Events of files.
func (r *reader) givenEvents() inspect.Events {
	given := inspect.Events{List: r.events}
	if len(r.events) > 0 {
		given.Health.State = inspect.Synced
	}
	return given
}

// stdinPath is the path that stands for standard input.
const stdinPath = "-"

// Clock tells the time.
type Clock func() time.Time
