package sources

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

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
)

// MaxWarnings is how many warnings about manifests are shown without -v.
const MaxWarnings = 10

// Reader makes snapshots: of the cluster of the kubeconfig, of files, or of the demo cluster.
type Reader struct {
	Streams    *console.Streams
	Connection *Connection
	Memory     *Memory // what files may take
	Clock      Clock

	From         []string // --from
	At           string   // --at
	stdinRead    bool     // standard input can be read only once
	typing       bool     // somebody may be typing what is read
	warned       map[warningKey]bool
	events       []inspect.Event // of files that were read
	Access       *inspect.Access // of the files that were read last; nil if there is none
	toldOfGroups bool
	// KeepWorkloads: what makes pods is kept aside when files are read, in Workloads.
	KeepWorkloads bool
	Workloads     []*inspect.Workload
	Demo          bool
	Features      string                // --features
	Gates         map[inspect.Gate]bool // what Features says; Validate sets it
	maxInput      string                // --max-input; Validate hands it to memory
	schedulerFile string                // --scheduler-config
	scheduler     *schedulerconfig.Config
	kueueFile     string // --kueue-config
	kueue         *kueueconfig.Config
}

// NewReader returns a reader of which no flag was given yet. What files take is kept within the bounds of
// memory.
func NewReader(streams *console.Streams, connection *Connection, memory *Memory, clock Clock) *Reader {
	return &Reader{Streams: streams, Connection: connection, Memory: memory, Clock: clock}
}

// AddFlags adds the flags that say what to read, except those of the connection.
func (r *Reader) AddFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&r.From, "from", nil, "read objects from this file, directory, snapshot, log or - (stdin) instead of a cluster; may be repeated")
	flags.StringVar(&r.At, "at", "", "answer for this moment in the log of --from: 2026-11-23T09:00:00Z, 09:00, or -10m before its end (default its end)")
	flags.BoolVar(&r.Demo, "demo", false, "use the embedded demo cluster")
	flags.StringVar(&r.maxInput, "max-input", "", "read up to this much from files, unpacked (default 512Mi); also lifts the limits on packing, nesting and memory")
	flags.StringVar(&r.schedulerFile, "scheduler-config", "", "decide by this configuration of kube-scheduler, the file of its flag --config")
	flags.StringVar(&r.kueueFile, "kueue-config", "", "decide about queues by this configuration of Kueue, the file of its flag --config")
	flags.StringVar(&r.Features, "features", "", "set feature gates, for example DRAConsumableCapacity=false,…")
}

// Offline reports that no cluster is asked.
func (r *Reader) Offline() bool { return r.Demo || len(r.From) > 0 }

// SourceFlags are the flags with which another command reads the same instead of a cluster, each behind a
// space.
func (r *Reader) SourceFlags() string {
	out := ""
	if r.Demo {
		out = " --demo"
	}
	for _, path := range r.From {
		if word, ok := remedy.Quote(path); ok && path != StdinPath {
			out += " --from " + word
		}
	}
	if word, ok := remedy.Quote(r.At); ok && r.At != "" {
		out += " --at " + word
	}
	return out
}

// Validate checks the flags, and those of the streams.
func (r *Reader) Validate() error {
	if r.Demo && len(r.From) > 0 {
		return console.Usagef("--demo and --from exclude each other")
	}
	if r.At != "" && len(r.From) == 0 {
		return console.Usagef("--at is a moment of a log: give that with --from")
	}
	if slices.Contains(r.From, "") {
		return console.Usagef("--from needs a path")
	}
	var err error
	if r.Memory.maxInput, err = ParseMaxInput(r.maxInput); err != nil {
		return err
	}
	gates, err := inspect.ParseFeatures(r.Features)
	if err != nil {
		return console.Usagef("--features: %w", err)
	}
	r.Gates = gates
	if err := cmp.Or(r.readScheduler(), r.readKueue()); err != nil {
		return err
	}
	return r.Streams.Validate()
}

// maxConfig is more than any configuration of kube-scheduler or Kueue has.
const maxConfig = 1 << 20

// readScheduler reads --scheduler-config.
func (r *Reader) readScheduler() error {
	return readConfig("--scheduler-config", r.schedulerFile, func(text []byte) (err error) {
		features := r.ApplyFeatureFlag(inspect.DefaultFeatures(inspect.NewestMinor))
		r.scheduler, err = schedulerconfig.Read(text, func(gate string) bool { return features.Enabled(inspect.Gate(gate)) })
		return err
	})
}

// readKueue reads --kueue-config.
func (r *Reader) readKueue() error {
	return readConfig("--kueue-config", r.kueueFile, func(text []byte) (err error) {
		r.kueue, err = kueueconfig.Read(text, "")
		return err
	})
}

// readConfig reads the file of a flag, if that was given.
func readConfig(flag, path string, read func([]byte) error) error {
	if path == "" {
		return nil
	}
	text, err := inputfile.ReadAll(path, maxConfig)
	if err == nil {
		err = read(text)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", flag, err)
	}
	return nil
}

// withConfigs is a snapshot with --scheduler-config and --kueue-config, as far as they were given.
func (r *Reader) withConfigs(s *inspect.Snapshot) *inspect.Snapshot {
	if r.scheduler != nil && s != nil {
		s = s.WithScheduler(r.scheduler)
	}
	if r.kueue != nil && s != nil {
		s = s.WithKueue(r.kueue)
	}
	return s
}

// Namespace returns the namespace that a question without one is about: -n, else that of the kubeconfig
// context. Without a cluster the kubeconfig has no say.
func (r *Reader) Namespace() (string, error) {
	if r.Offline() {
		return cmp.Or(r.Connection.NamespaceFlag(), "default"), nil
	}
	return r.Connection.namespaceInUse()
}

// Read returns a snapshot that has the given resources, or, if they are nil, all that a DRA question needs.
// The namespace is the one that the user looks at; it is empty for all of them. When ctx has ended, its error
// is returned: what was interrupted while it was read is no answer.
func (r *Reader) Read(ctx context.Context, namespace string, resources []inspect.Resource) (snapshot *inspect.Snapshot, err error) {
	switch {
	case r.Demo:
		snapshot, err = r.ReadDemo()
	case len(r.From) > 0:
		snapshot, err = r.readFiles(ctx)
	default:
		snapshot, err = r.readCluster(ctx, namespace, resources)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r.withConfigs(snapshot), err
}

// ReadDemo returns the demo cluster, at its own time.
func (r *Reader) ReadDemo() (*inspect.Snapshot, error) {
	objects, err := demo.Objects()
	if err != nil {
		return nil, err
	}
	if err := r.keepQueued(objects.KueueWorkloads); err != nil {
		return nil, err
	}
	return inspect.New(objects, demo.Config(r.OfflineFeatures(objects))), nil
}

func (r *Reader) readFiles(ctx context.Context) (*inspect.Snapshot, error) {
	log, rest, err := SplitLog(r.From)
	if err != nil {
		return nil, err
	}
	if log == "" && r.At != "" {
		return nil, console.Usagef("--at is a moment of a log, and %s is none: kubectl dra record makes one", console.CommaList(r.From))
	}
	end := r.reading(ctx, rest...) // standard input may take its time to begin
	archives, manifests, err := r.splitArchives(rest)
	end()
	if err != nil {
		return nil, err
	}
	if log != "" {
		return r.readLog(ctx, log, archives, manifests)
	}
	if len(archives) > 0 {
		return r.readArchive(ctx, archives[0], manifests)
	}
	result, err := r.ReadManifests(ctx, manifests, "default", r.KeepWorkloads) // -n chooses among what is there, it changes nothing
	if err != nil {
		return nil, err
	}
	if isNothing(result) {
		return nil, NothingIn("read", manifests)
	}
	r.Workloads = result.Workloads
	return inspect.New(result.Objects, inspect.Config{
		Revision: 1, Time: r.Clock(), Features: r.OfflineFeatures(result.Objects), Health: result.Health,
	}), nil
}

// isNothing reports that files have no object of a kind that is looked at, as where the command that was to
// write them failed. What is said of nothing, such as that nothing is wrong with it, is true and means
// nothing.
func isNothing(read *manifest.Result) bool {
	return len(read.Health) == 0 && len(read.Gone) == 0 && len(read.Workloads) == 0 && len(read.Events) == 0 && read.Access == nil
}

// NothingIn says that there is nothing in files that a command could work on.
func NothingIn(toDo string, paths []string) error {
	return fmt.Errorf("there is nothing to %s in %s: no object of a kind that is looked at", toDo, inspect.Sanitize(console.CommaList(paths)))
}

// ReadManifests reads files and says on stderr what is wrong with them. Objects without a namespace get
// the given one. workloads asks for the pod templates of other kinds too.
func (r *Reader) ReadManifests(ctx context.Context, paths []string, namespace string, workloads bool) (*manifest.Result, error) {
	for _, path := range paths {
		if path == "-" && r.stdinRead {
			return nil, console.Usagef("standard input (-) can be read only once")
		}
		r.stdinRead = r.stdinRead || path == "-"
	}
	options := r.fileOptions(namespace)
	options.Workloads = workloads
	end := r.reading(ctx, paths...)
	result, err := manifest.Read(ctx, paths, options)
	end()
	if err != nil {
		return nil, err
	}
	r.noteFailures(result.Failures)
	r.events = append(r.events, result.Events...)
	r.Access = result.Access
	result.Warnings = append(result.Warnings, selectorWarnings(&result.Objects)...)
	r.noteWarnings(r.newOf(result.Warnings))
	r.notePodGroups(result)
	if r.Streams.Verbosity > 0 {
		for _, kind := range slices.Sorted(maps.Keys(result.Skipped)) {
			r.Streams.Note("skipped %d of %s", result.Skipped[kind], kind)
		}
	}
	return result, nil
}

// reading watches what memory files take, and shows that they are read, until the function is called that it
// returns.
func (r *Reader) reading(ctx context.Context, paths ...string) (end func()) {
	unwatch := r.Memory.watch()
	r.typing = r.typing || slices.Contains(paths, StdinPath) && r.Streams.Interactive()
	if r.typing {
		return unwatch
	}
	shown := console.StartProgress(ctx, r.Streams.ErrOut)
	shown.Show("reading " + console.CommaList(paths))
	return func() { unwatch(); shown.Stop() }
}

// warningKey tells warnings apart. The same object may well be given by different paths, with -f and --from.
type warningKey struct{ object, path, message string }

// newOf are the warnings that were not given before, when other files were read.
func (r *Reader) newOf(warnings []manifest.Warning) []manifest.Warning {
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

// notePodGroups says of pod groups of other schedulers, which look as if they decided about their pods, that
// they do not here.
func (r *Reader) notePodGroups(read *manifest.Result) {
	n := 0
	for kind, count := range read.Skipped {
		if strings.HasSuffix(kind, " PodGroup") {
			n += count
		}
	}
	if n > 0 && !r.toldOfGroups {
		r.toldOfGroups = true
		r.Streams.Note("%d PodGroup objects are not taken into account: each pod is asked about alone, with its own claims or those that its group has already", n)
	}
}

func (r *Reader) noteWarnings(warnings []manifest.Warning) {
	texts := words.Each(warnings, func(w manifest.Warning) string { return fmt.Sprintf("warning: %s", w) })
	r.Streams.NoteSome(texts, r.mostNoted(texts), "warning: %d more warnings; -v shows them all")
}

// mostNoted is how many of some remarks are shown.
func (r *Reader) mostNoted(texts []string) int {
	if r.Streams.Verbosity > 0 {
		return len(texts)
	}
	return MaxWarnings
}

// noteFailures says what was left out because it could not be read.
func (r *Reader) noteFailures(failures []*manifest.Error) {
	texts := words.Each(failures, func(f *manifest.Error) string { return fmt.Sprintf("warning: %s", f.Warning()) })
	r.Streams.NoteSome(texts, r.mostNoted(texts), "warning: left out %d more files or documents; -v shows them all")
}

// fileOptions say how files are read. Objects without a namespace get the given one.
func (r *Reader) fileOptions(namespace string) manifest.Options {
	return manifest.Options{Stdin: r.Streams.In, Namespace: namespace, MaxBytes: r.Memory.maxInput, Meter: r.Memory.meter}
}

func (r *Reader) readCluster(ctx context.Context, namespace string, resources []inspect.Resource) (*inspect.Snapshot, error) {
	config, err := r.Connection.RESTConfig()
	if err != nil {
		return nil, err
	}
	CollectSooner()
	progress := console.StartProgress(ctx, r.Streams.ErrOut)
	cluster, err := live.Read(ctx, config, live.Options{Namespace: namespace, Resources: resources, Progress: progress.Show, Scheduler: r.scheduler, Kueue: r.kueue})
	progress.Stop()
	if err != nil {
		return nil, err
	}
	return inspect.New(cluster.Objects, inspect.Config{
		Revision: 1, Time: r.Clock(), Features: r.ApplyFeatureFlag(cluster.Features), Health: cluster.Health,
		ServerVersion: cluster.ServerVersion, Scheduler: cluster.Scheduler, Selecting: cluster.Selecting, Kueue: cluster.Kueue,
	}), nil
}

// gcPercent is how much the heap may grow before garbage is collected, in percent of what is live, from when
// a cluster is read on. What is kept of a large cluster is long-lived: with the usual 100, as much memory
// again would hold garbage.
const gcPercent = 50

// CollectSooner makes the garbage collector follow gcPercent, unless GOGC is set.
func CollectSooner() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}

// OfflineFeatures are the defaults of the newest release, what the objects need, and what the user says.
func (r *Reader) OfflineFeatures(objects inspect.Objects) inspect.Features {
	return r.ApplyFeatureFlag(inspect.DefaultFeatures(inspect.NewestMinor).WithUsed(objects))
}

// ApplyFeatureFlag applies --features.
func (r *Reader) ApplyFeatureFlag(features inspect.Features) inspect.Features {
	if len(r.Gates) == 0 {
		return features
	}
	features = features.With(r.Gates)
	const changed = ", changed by --features"
	features.Source = strings.TrimSuffix(features.Source, changed) + changed // once, however often objects are added
	return features
}

// Asked is how the same is asked about again, with the flags that were given.
func (r *Reader) Asked(flags *pflag.FlagSet) remedy.Asked {
	return remedy.Asked{
		Args: GivenFlags(flags, readingFlags), Flags: GivenFlags(flags, ClusterFlags), Demo: r.Demo, Once: slices.Contains(r.From, StdinPath),
	}
}

// Now is the time at which something is done to a snapshot, to the second as the API keeps it.
func (r *Reader) Now(snapshot *inspect.Snapshot) metav1.Time {
	if r.Demo {
		return metav1.NewTime(snapshot.Time()).Rfc3339Copy()
	}
	return metav1.NewTime(r.Clock()).Rfc3339Copy()
}

// GivenEvents are the Events of files.
func (r *Reader) GivenEvents() inspect.Events {
	given := inspect.Events{List: r.events}
	if len(r.events) > 0 {
		given.Health.State = inspect.Synced
	}
	return given
}

// StdinPath is the path that stands for standard input.
const StdinPath = "-"

// Clock tells the time.
type Clock func() time.Time
