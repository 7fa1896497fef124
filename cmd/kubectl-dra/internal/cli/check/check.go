package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/checks"
	"github.com/kubectl-dra/kubectl-dra/explain/cycle"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
)

// maxBaseline is how large a baseline may be, in bytes.
const maxBaseline = 64 << 20

const checkLong = `Look for faults of Dynamic Resource Allocation, whether or not a pod waits because
of them yet: broken pools, slices of nodes that no longer exist, selectors that
make the scheduler give up, claims that hold devices nobody uses, devices with two
holders, overcommitted counters, taints that evict, admin access, exhausted
quotas, and more. --list lists all checks.

A finding is a fact about the objects that were read. Checks that could not be
made, because something was not read or files have nothing of a kind, are named on
standard error. If nothing is wrong, nothing is printed on standard output.

With -f it checks manifests alone, such as the ResourceSlices and DeviceClasses of
a driver, and leaves out what needs a cluster. --baseline leaves out the findings
in a file that -o json printed before.

With --target it also says what another release changes for these objects, such as
1.37.2 for a cluster of 1.37.0, or the reverse: everything is decided again by its
rules, and what waits, what is evicted and what else is found is compared.

With --taint-rule it says instead what the DeviceTaintRules of a file would do to
the cluster: which devices they taint, who holds these, and which pods they evict
and when. Nothing is created.

Exit codes: 0 nothing found, 3 something found that is a warning or worse (or a
note, with --severity=note), 1 nothing found, but not every check was made, or there
was nothing to check.`

const checkExample = `  # What is wrong in this cluster?
  kubectl dra check

  # Everything that is worth knowing, with evidence
  kubectl dra check --severity note -v

  # In the CI of a driver
  kubectl dra check -f deploy/slices.yaml

  # Before an upgrade
  kubectl dra check --target 1.38

  # What does a patch release change here?
  kubectl dra check --target 1.37.2 --only UpgradeVerdict,UpgradeFinding

  # Whom would this rule evict?
  kubectl dra check --taint-rule maintenance.yaml

  # Only what is new since last week
  kubectl dra check -o json > known.json
  kubectl dra check --baseline known.json`

// checkOptions are a request to look for what is wrong.
type checkOptions struct {
	sources.Options
	files, rules, only, ignore []string
	severity, baseline, target string
	allNamespaces, list        bool
	checkup                    checkup.Options
	given                      *manifest.Result // what the files of -f hold
}

// New returns the command check.
func New(streams *console.Streams, reader *sources.Reader) *cobra.Command {
	o := &checkOptions{Options: sources.Options{Streams: streams, Reader: reader}}
	cmd := &cobra.Command{
		Use:     "check [-f FILE | --taint-rule FILE]",
		Short:   "Look for what is wrong with DRA in a cluster, or in the manifests of a driver",
		Long:    checkLong,
		Example: checkExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return console.Usagef("check takes no names; --only and -n narrow what is looked for")
			}
			if err := o.complete(); err != nil {
				return err
			}
			switch {
			case o.list:
				return listChecks(streams)
			case len(o.rules) > 0:
				return o.previewRules(cmd.Context())
			}
			return o.run(cmd.Context())
		},
	}
	o.bind(cmd)
	console.CompleteArguments(cmd, "nothing: it takes none", console.CompleteNothing)
	return cmd
}

// bind adds the flags to the command.
func (o *checkOptions) bind(cmd *cobra.Command) {
	set := cmd.Flags()
	set.StringArrayVarP(&o.files, "filename", "f", nil, "check only this file, directory or - (stdin)")
	set.StringArrayVar(&o.rules, "taint-rule", nil, "say what the DeviceTaintRules of this file, directory or - (stdin) would do")
	set.StringSliceVar(&o.only, "only", nil, "make only these checks, by code")
	set.StringSliceVar(&o.ignore, "ignore", nil, "leave out these checks, by code")
	set.StringVar(&o.severity, "severity", string(checkup.Warning), "the lowest severity that is shown: "+console.CommaList(severityNames()))
	set.StringVar(&o.baseline, "baseline", "", "leave out the findings in this file, which -o json printed")
	set.StringVar(&o.target, "target", "", "the Kubernetes release to upgrade to, such as 1.38 or 1.37.2; by default the next one")
	set.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "look at all namespaces, as without -n")
	set.BoolVar(&o.list, "list", false, "list all checks")
	console.AddOutputFlags(cmd, &o.Format, output.AnswerFormats)
	console.CompleteFiles(cmd, "filename", "taint-rule", "baseline")
	for _, flag := range []string{"only", "ignore"} {
		console.CompleteFlag(cmd, flag, "codes of findings; several after commas", inquiry.Several(codeNames()))
	}
	console.CompleteFlag(cmd, "severity", "severities", console.CompleteWords(severityNames()...))
	console.CompleteFlag(cmd, "target", "the next releases of Kubernetes", console.CompleteWords(nextReleases()...))
}

// nextReleases are those that a cluster may be about to get.
func nextReleases() []string {
	var out []string
	for minor := inspect.NewestMinor - 2; minor <= inspect.NewestMinor+1; minor++ {
		out = append(out, fmt.Sprintf("1.%d", minor))
		for patch := range inspect.NewestPatch(minor) + 1 {
			if minor <= inspect.NewestMinor {
				out = append(out, fmt.Sprintf("1.%d.%d", minor, patch))
			}
		}
	}
	return out
}

func severityNames() []string { return words.Strings(checkup.Severities()) }

func codeNames() []string { return words.Strings(checkup.Codes()) }

// complete refuses what does not go together.
func (o *checkOptions) complete() (err error) {
	namespace := o.Reader.Connection.NamespaceFlag()
	switch {
	case len(o.files) > 0 && o.Reader.Offline():
		return console.Usagef("-f looks at files alone; --from and --demo stand for a cluster")
	case len(o.rules) > 0 && len(o.files) > 0:
		return console.Usagef("--taint-rule asks about a cluster, without -f")
	case o.allNamespaces && namespace != "":
		return console.Usagef("--namespace and --all-namespaces exclude each other")
	case !slices.Contains(severityNames(), o.severity):
		return console.Usagef("unknown --severity %q%s; there are %s", o.severity, console.DidYouMean(o.severity, severityNames()), console.CommaList(severityNames()))
	}
	o.checkup = checkup.Options{Severity: checkup.Severity(o.severity), Namespace: namespace, Files: len(o.files) > 0}
	if o.checkup.Only, err = codesOf("only", o.only); err != nil {
		return err
	}
	if o.checkup.Ignore, err = codesOf("ignore", o.ignore); err != nil {
		return err
	}
	o.checkup.Target, o.checkup.TargetPatch, err = releaseOf(o.target)
	return err
}

func codesOf(flag string, names []string) ([]checkup.Code, error) {
	var out []checkup.Code
	for _, name := range names {
		if !slices.Contains(codeNames(), name) {
			return nil, console.Usagef("--%s: there is no check %q%s (--list names all)", flag, name, console.DidYouMean(name, codeNames()))
		}
		out = append(out, checkup.Code(name))
	}
	return out, nil
}

var releaseForm = regexp.MustCompile(`^v?\d+\.\d+(\.\d+([-+].*)?)?$`)

// releaseOf reads a release of Kubernetes, such as 1.38 or v1.38.2. The minor is 0 for none, and the patch is
// nil if none is named.
func releaseOf(text string) (minor int, patch *int, err error) {
	if text == "" {
		return 0, nil, nil
	}
	v, err := version.ParseGeneric(text)
	if err == nil && releaseForm.MatchString(text) && v.Major() == 1 && v.Minor() > 0 && v.Minor() < 1000 && v.Patch() < 1000 {
		if len(v.Components()) > 2 {
			patch = ptr.To(int(v.Patch())) //nolint:gosec // it is small
		}
		return int(v.Minor()), patch, nil //nolint:gosec // as above
	}
	return 0, nil, console.Usagef("--target is %q; it is a release such as 1.38", text)
}

// run looks, and prints what was found.
func (o *checkOptions) run(ctx context.Context) error {
	known, err := o.readBaseline()
	if err != nil {
		return err
	}
	snapshot, err := o.read(ctx)
	if err != nil {
		return err
	}
	if err := o.noteUnread(snapshot); err != nil {
		return err
	}
	if caveat := cmp.Or(snapshot.Release().Caveat(), inspect.Release{Minor: cmp.Or(o.checkup.Target, inspect.NewestMinor)}.Caveat()); caveat != "" {
		o.Note("note: %s", caveat)
	}
	if err := o.Reader.CheckNamespace(ctx, snapshot); err != nil {
		return err
	}
	if o.checkup.Events, err = o.events(ctx, snapshot); err != nil {
		return err
	}
	if o.checkup.Access, err = o.access(ctx); err != nil {
		return err
	}
	working, done := o.Thinking(ctx)
	report, err := checkup.Run(working, snapshot, o.checkup)
	done()
	if err != nil {
		return err
	}
	report.LeaveOut(known)
	if err := o.print(report); err != nil {
		return err
	}
	switch {
	case len(report.Findings) > 0:
		return console.ExitWith(console.ExitNo)
	case len(report.Skipped) > 0, report.Asked == 0:
		return console.ExitWith(console.ExitFailed)
	}
	return nil
}

// read returns what is looked at: the files of -f alone, or the cluster.
func (o *checkOptions) read(ctx context.Context) (*inspect.Snapshot, error) {
	if len(o.files) == 0 {
		return o.Reader.Read(ctx, o.checkup.Namespace, inspect.Resources())
	}
	given, err := o.Reader.ReadManifests(ctx, o.files, "default", false)
	if err != nil {
		return nil, err
	}
	o.given = given
	if len(given.Health) == 0 && len(given.Gone) == 0 { // that nothing is wrong with nothing must not turn a CI green
		return nil, sources.NothingIn("check", o.files)
	}
	o.checkup.Gone = given.Gone
	return inspect.New(given.Objects, inspect.Config{
		Revision: 1, Time: o.Reader.Clock(), Features: o.Reader.OfflineFeatures(given.Objects), Health: given.Health,
	}), nil
}

// noteUnread says what could not be read. A server that serves nothing of DRA has nothing that could be wrong
// with it.
func (o *checkOptions) noteUnread(s *inspect.Snapshot) error {
	if o.given != nil {
		return nil
	}
	if h := s.Health(inspect.Claims); h.State == inspect.NotServed && s.Health(inspect.Slices).State == inspect.NotServed {
		return errors.New(console.HealthText(inspect.Claims, h))
	}
	o.NoteHealth(s, inspect.Resources())
	return nil
}

// events returns the Events of pods that are starting, which tell what is in the way.
func (o *checkOptions) events(ctx context.Context, s *inspect.Snapshot) (inspect.Events, error) {
	if o.given != nil {
		return o.Reader.GivenEvents(), nil
	}
	starting, _ := inquiry.StartingPods(s)
	return inquiry.EventsOf(ctx, o.Reader, s, starting)
}

// access returns who may do what, if something is looked for that needs it. No snapshot has that: it is read
// from the server, or was given in files.
func (o *checkOptions) access(ctx context.Context) (*inspect.Access, error) {
	switch {
	case !o.checkup.WantsAccess():
		return nil, nil
	case o.Reader.Offline():
		return o.Reader.Access, nil
	}
	server := &inquiry.Owners{Reader: o.Reader}
	if err := server.Connect(); err != nil {
		return nil, err
	}
	access, err := server.Finder.Access(ctx, o.checkup.Namespace)
	if err != nil {
		return nil, fmt.Errorf("reading who may do what: %w", err)
	}
	return access, nil
}

func (o *checkOptions) print(r *checkup.Report) error {
	lines := func(opts text.Options) []styled.Line {
		return r.Lines(checkup.Layout{Width: opts.Width, All: opts.Verbose})
	}
	if o.Quiet && o.Format.Name == "" {
		_, err := fmt.Fprintln(o.Out, r.Summary())
		return err
	}
	if o.Format.Name != "" || len(r.Findings) > 0 {
		return o.Answer(checks.NewCheck(r), console.InLines(lines), console.ExitAnswered)
	}
	for _, line := range lines(o.TextOptions()) {
		o.Note("%s", line)
	}
	return nil
}

// previewRules says what the rules of files would do.
func (o *checkOptions) previewRules(ctx context.Context) error {
	given, err := o.Reader.ReadManifests(ctx, o.rules, "default", false)
	if err != nil {
		return err
	}
	if len(given.Objects.TaintRules) == 0 {
		return fmt.Errorf("there is no DeviceTaintRule in %s", console.CommaList(o.rules))
	}
	snapshot, err := o.Reader.Read(ctx, "", inspect.Resources())
	if err != nil {
		return err
	}
	previews := words.Each(given.Objects.TaintRules, func(rule *resourcev1.DeviceTaintRule) *checkup.RulePreview {
		return checkup.PreviewRule(snapshot, rule)
	})
	if o.Format.Name == "" {
		for _, remark := range cycle.Unread(snapshot) {
			o.Note("! %s", remark)
		}
	}
	return o.Answer(checks.RulePreviews(previews), console.InLines(func(opts text.Options) []styled.Line {
		var lines []styled.Line
		for i, preview := range previews {
			if i > 0 {
				lines = append(lines, nil)
			}
			lines = append(lines, preview.Lines(checkup.Layout{Width: opts.Width, All: opts.Verbose})...)
		}
		return lines
	}), console.ExitAnswered)
}

// readBaseline returns the keys of the findings that are known.
func (o *checkOptions) readBaseline() (map[string]bool, error) {
	if o.baseline == "" {
		return nil, nil
	}
	data, err := inputfile.ReadAll(o.baseline, maxBaseline)
	if err != nil {
		return nil, fmt.Errorf("reading the baseline: %w", err)
	}
	var known checks.Check
	if err := json.Unmarshal(data, &known); err != nil || known.Kind != "Check" {
		return nil, fmt.Errorf("reading the baseline: %s is not what kubectl dra check -o json prints", inspect.Sanitize(o.baseline))
	}
	keys := map[string]bool{}
	for _, f := range known.Findings {
		keys[f.Key] = true
	}
	return keys, nil
}

// listChecks names everything that is looked for.
func listChecks(streams *console.Streams) error {
	for _, rule := range checkup.Rules() {
		if _, err := fmt.Fprintf(streams.Out, "%-8s %-26s %s\n", rule.Severity, rule.Code, rule.About); err != nil {
			return err
		}
	}
	return nil
}
