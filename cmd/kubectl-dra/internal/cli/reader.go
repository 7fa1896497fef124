package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/demo"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/priority"
)

// maxWarnings is how many warnings about manifests are shown without -v.
const maxWarnings = 10

// source is where a snapshot comes from: the cluster of the kubeconfig, files, or the demo cluster.
type source struct {
	config  *connectionFlags
	streams genericiooptions.IOStreams
	clock   Clock

	from []string
	// stdinTaken: standard input has been read.
	stdinTaken bool
	demo       bool
	features   string
	verbosity  int
	color      string

	maxInput string // --max-input; memory.vouched when it is parsed
	memory   memory

	gates map[inspect.Gate]bool // --features, parsed
	said  *remarks              // nil says every remark

	plugin     *pluginOutput
	keyboard   bool            // the terminal UI reads it
	levels     priority.Reader // once it was asked for
	helpFailed error           // why help could not be printed

	patience atomic.Int64 // how long a command that writes may take to end when it is interrupted; 0: patience
}

func newSource(streams genericiooptions.IOStreams, clock Clock) *source {
	return &source{config: newConnectionFlags(), streams: streams, clock: clock, plugin: &pluginOutput{}}
}

// addFlags adds the flags that say what to read; those of the connection are added by config.
func (s *source) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&s.from, "from", nil, "read objects from this file, directory, snapshot or - (stdin) instead of a cluster; may be repeated")
	flags.BoolVar(&s.demo, "demo", false, "use the embedded demo cluster")
	flags.StringVar(&s.maxInput, "max-input", "", "read up to this much from files, unpacked (default 512Mi); also lifts the limits on packing, nesting and memory")
	flags.StringVar(&s.features, "features", "", "feature gates to change, as DRAConsumableCapacity=false,…")
	flags.CountVarP(&s.verbosity, "verbose", "v", "say more; -v=6 and above show requests to the server")
	flags.StringVar(&s.color, "color", "auto", "use colour: auto, always or never")
}

// offline reports that no cluster is asked.
func (s *source) offline() bool { return s.demo || len(s.from) > 0 }

// patienceNow is how long the command that runs may take to end by itself when it is interrupted.
func (s *source) patienceNow() time.Duration {
	return max(patience, time.Duration(s.patience.Load()))
}

// validate checks the flags.
func (s *source) validate() error {
	if s.demo && len(s.from) > 0 {
		return usagef("--demo and --from exclude each other")
	}
	if slices.Contains(s.from, "") {
		return usagef("--from needs a path")
	}
	var err error
	if s.memory.vouched, err = parseMaxInput(s.maxInput); err != nil {
		return err
	}
	gates, err := inspect.ParseFeatures(s.features)
	if err != nil {
		return usagef("--features: %w", err)
	}
	s.gates = gates
	if !slices.Contains([]string{"auto", "always", "never"}, s.color) {
		return usagef("--color is %q; it can be auto, always or never", s.color)
	}
	return nil
}

// namespace returns the namespace that a question without one is about: -n, else that of the kubeconfig
// context. Without a cluster the kubeconfig has no say.
func (s *source) namespace() (string, error) {
	if s.offline() {
		return cmp.Or(s.config.namespace(), "default"), nil
	}
	namespace, _, err := s.config.clientConfig().Namespace()
	if err != nil {
		return "", kubeconfigError(err)
	}
	return namespace, nil
}

// read returns a snapshot that has the given resources; nil means all that a DRA question needs.
// namespace is the one that the user looks at, "" for all.
// The error is that of ctx when it has ended: what was interrupted while it was read is no answer.
func (s *source) read(ctx context.Context, namespace string, resources []inspect.Resource) (snapshot *inspect.Snapshot, err error) {
	switch {
	case s.demo:
		snapshot, err = s.readDemo()
	case len(s.from) > 0:
		snapshot, err = s.readFiles(ctx)
	default:
		snapshot, err = s.readCluster(ctx, namespace, resources)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return snapshot, err
}

func (s *source) readDemo() (*inspect.Snapshot, error) {
	objects, err := demo.Objects()
	if err != nil {
		return nil, err
	}
	return inspect.New(objects, inspect.Config{Revision: 1, Time: demo.Now(), Features: s.offlineFeatures(objects), Health: demo.Health()}), nil
}

func (s *source) readFiles(ctx context.Context) (*inspect.Snapshot, error) {
	archives, manifests, err := s.splitArchives()
	if err != nil {
		return nil, err
	}
	if len(archives) > 0 {
		return s.readArchive(ctx, archives[0], manifests)
	}
	result, err := s.readManifests(ctx, s.from, "default") // -n chooses among what is there, it changes nothing
	if err != nil {
		return nil, err
	}
	return inspect.New(result.Objects, inspect.Config{
		Revision: 1, Time: s.clock(), Features: s.offlineFeatures(result.Objects), Health: result.Health,
	}), nil
}

// readManifests reads files and says on stderr what is wrong with them. Objects without a namespace get
// the given one.
func (s *source) readManifests(ctx context.Context, paths []string, namespace string) (*manifest.Result, error) {
	for _, path := range paths {
		if path == "-" && s.stdinTaken {
			return nil, usagef("standard input (-) can be read only once")
		}
		s.stdinTaken = s.stdinTaken || path == "-"
	}
	end := s.memory.watch()
	result, err := manifest.Read(ctx, paths, s.fileOptions(namespace))
	if !s.offline() {
		end() // what a cluster has is not for files to answer for
	}
	if err != nil {
		return nil, err
	}
	result.Warnings = append(result.Warnings, selectorWarnings(&result.Objects)...)
	for i, warning := range result.Warnings {
		if i == maxWarnings && s.verbosity == 0 {
			s.note("warning: %d more warnings; -v shows them all", len(result.Warnings)-maxWarnings)
			break
		}
		s.note("warning: %s", warning)
	}
	if s.verbosity > 0 {
		for _, kind := range slices.Sorted(maps.Keys(result.Skipped)) {
			s.note("skipped %d of %s", result.Skipped[kind], kind)
		}
	}
	return result, nil
}

// fileOptions say how files are read. Objects without a namespace get the given one.
func (s *source) fileOptions(namespace string) manifest.Options {
	return manifest.Options{Stdin: s.streams.In, Namespace: namespace, MaxBytes: s.memory.vouched, Meter: s.memory.meter}
}

// parseMaxInput returns the bytes of --max-input, 0 when it is not given.
func parseMaxInput(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	size, err := quantity.Parse(text)
	if err != nil {
		return 0, usagef("--max-input is %q: %w", text, err)
	}
	if bytes := size.Value(); bytes >= 1 && bytes <= maxMaxInput {
		return bytes, nil
	}
	return 0, usagef("--max-input is %q; it can be from 1 to %s", text, bytesText(maxMaxInput))
}

// maxMaxInput is more than any machine has, in bytes, and small enough to reckon with.
const maxMaxInput int64 = 1 << 50

func (s *source) readCluster(ctx context.Context, namespace string, resources []inspect.Resource) (*inspect.Snapshot, error) {
	config, err := s.restConfig()
	if err != nil {
		return nil, err
	}
	progress := startProgress(s.streams.ErrOut)
	cluster, err := live.Read(ctx, config, live.Options{Namespace: namespace, Resources: resources, Progress: progress.show})
	progress.stop()
	if err != nil {
		return nil, err
	}
	return inspect.New(cluster.Objects, inspect.Config{
		Revision: 1, Time: s.clock(), Features: s.override(cluster.Features), Health: cluster.Health, ServerVersion: cluster.ServerVersion,
	}), nil
}

// errNoCluster says that nothing tells which cluster to ask. client-go would try localhost.
var errNoCluster = errors.New("no cluster is configured: set KUBECONFIG or --kubeconfig, or ask without a cluster with --from FILE or --demo")

// restConfig returns how to reach the cluster.
func (s *source) restConfig() (*rest.Config, error) {
	loader := s.config.clientConfig()
	raw, err := loader.RawConfig()
	if err == nil && len(raw.Clusters) == 0 && s.config.server() == "" && !inCluster() {
		return nil, errNoCluster
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, kubeconfigError(err)
	}
	hideUserinfo(config)
	if config.ExecProvider != nil {
		s.plugin.take(s.streams.ErrOut)
	}
	if s.keyboard {
		withoutKeyboard(config)
	}
	return config, nil
}

func kubeconfigError(err error) error {
	return fmt.Errorf("reading the kubeconfig: %w; check KUBECONFIG, --kubeconfig and --context", err)
}

// inCluster reports whether the program runs in a pod, where client-go finds the server by itself, or
// is told of one by the variable that kubectl knows.
func inCluster() bool {
	return os.Getenv("KUBERNETES_SERVICE_HOST") != "" || os.Getenv("KUBERNETES_MASTER") != ""
}

// offlineFeatures are the defaults of the newest release, what the objects need, and what the user says.
func (s *source) offlineFeatures(objects inspect.Objects) inspect.Features {
	return s.override(withUsed(inspect.DefaultFeatures(inspect.NewestMinor), objects))
}

// withUsed turns on the gates that objects use and says so.
func withUsed(features inspect.Features, objects inspect.Objects) inspect.Features {
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

// override applies --features.
func (s *source) override(features inspect.Features) inspect.Features {
	if len(s.gates) == 0 {
		return features
	}
	features = features.With(s.gates)
	const changed = ", changed by --features"
	features.Source = strings.TrimSuffix(features.Source, changed) + changed // once, however often objects are added
	return features
}

// note prints a remark to stderr, in one safe line.
func (s *source) note(format string, args ...any) {
	text := inspect.Sanitize(masked(fmt.Sprintf(format, args...)))
	if s.said.again(text) {
		return
	}
	_, _ = fmt.Fprintln(s.streams.ErrOut, text) // remarks are not worth failing for
}

// noteHealth says which of the resources could not be read completely, or do not exist on this server.
// Many servers have no DeviceTaintRules; that is nothing to mention.
func (s *source) noteHealth(snapshot *inspect.Snapshot, resources []inspect.Resource) {
	for _, resource := range resources {
		switch h := snapshot.Health(resource); h.State {
		case inspect.Forbidden, inspect.Broken, inspect.Narrowed:
			s.note("warning: %s", healthText(resource, h))
		case inspect.NotServed:
			if resource != inspect.TaintRules {
				s.note("warning: %s", healthText(resource, h))
			}
		}
	}
}

func healthText(resource inspect.Resource, h inspect.Health) string {
	if h.Message != "" {
		return h.Message
	}
	return fmt.Sprintf("%s could not be read: %s", resource, h.State)
}
