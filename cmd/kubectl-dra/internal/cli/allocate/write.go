package allocate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/commit"
	"github.com/kubectl-dra/kubectl-dra/internal/commit/requests"
)

// The values of --dry-run.
const (
	dryRunNone   = "none"
	dryRunClient = "client"
	dryRunServer = "server"
)

// Access is what the commands that write to the cluster work with.
type Access struct {
	Streams    *console.Streams
	Connection *sources.Connection
	Reader     *sources.Reader
	Grace      *console.GracePeriod
}

// writeOptions are what the commands that write are asked.
type writeOptions struct {
	*Access
	namespace string
	dryRun    string // none, client or server
	yes       bool
	format    output.Format
}

func (o *writeOptions) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.dryRun, "dry-run", "", "none, server: have the server check the writes, or client: show what would be written")
	flags.Lookup("dry-run").NoOptDefVal = dryRunClient
	console.CompleteFlag(cmd, "dry-run", "`none`, `server`, `client`", console.CompleteWords(dryRunNone, dryRunServer, dryRunClient))
	flags.BoolVarP(&o.yes, "yes", "y", false, "do not ask before writing")
	console.AddOutputFlags(cmd, &o.format, output.NamedFormats)
}

// complete checks what was asked about claims of some names.
func (o *writeOptions) complete(names []string) (err error) {
	if twice := firstDuplicate(names); twice != "" {
		return console.Usagef("claim %q is named twice", twice)
	}
	switch {
	case !slices.Contains([]string{"", dryRunNone, dryRunClient, dryRunServer}, o.dryRun):
		return console.Usagef("--dry-run is %q; it can be none, client or server", o.dryRun)
	case o.Reader.Offline():
		o.dryRun = dryRunClient
	case o.dryRun == "":
		o.dryRun = dryRunNone
	}
	if o.dryRun == dryRunNone && !o.yes && !isTerminal(o.Streams.In) {
		return console.Usagef("there is no terminal to ask on: --yes writes without asking, --dry-run=client shows what would be written")
	}
	o.namespace, err = o.Reader.Namespace()
	return err
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// write allocates the claims.
func (o *allocateOptions) write(ctx context.Context, snapshot *inspect.Snapshot) error {
	d, err := o.decide(ctx, snapshot)
	if err != nil {
		return err
	}
	if len(d.Refusal) > 0 && !commit.HasLeftovers(snapshot) {
		return o.refuse(d) // else what killed runs left may be in the way
	}
	committer, err := o.committer(ctx, snapshot, d)
	if err != nil {
		return err
	}
	o.Grace.Extend()
	done, claims, err := committer.Allocate(ctx, o.decide)
	if err != nil {
		o.noteAllocated(done, claims)
		return err
	}
	if err := o.refuse(done); err != nil {
		return err
	}
	o.noteDecision(done)
	return o.print(claims)
}

// noteAllocated says which claims are allocated although the command was interrupted or failed: it was too
// late to take the allocations back.
func (o *allocateOptions) noteAllocated(d *commit.Decision, claims []*resourcev1.ResourceClaim) {
	for _, claim := range claims {
		if claim.Status.Allocation == nil {
			continue
		}
		ref := inspect.RefOf(claim)
		text := fmt.Sprintf("%s is allocated all the same: it has %s", ref, devicesText(devicesOf(claim.Status.Allocation)))
		if d.Allocations[ref] == nil {
			text = fmt.Sprintf("%s is allocated, as it was before", ref)
		}
		o.Streams.Note("%s", text)
	}
}

// committer returns what writes, after it made sure that a decision can be relied on and may be written.
// It reads the cluster anew whenever it decides, beginning with the snapshot.
func (o *allocateOptions) committer(ctx context.Context, snapshot *inspect.Snapshot, d *commit.Decision) (*commit.Committer, error) {
	if err := o.checkComplete(snapshot); err != nil {
		return nil, err
	}
	namespaces := words.Each(d.Claims, func(claim *resourcev1.ResourceClaim) string { return claim.Namespace })
	api, err := o.api(ctx, snapshot, commit.Needed(snapshot.Features(), commit.Allocating, namespaces, o.reserve))
	if err != nil {
		return nil, err
	}
	if err := commit.CheckAdminAccess(ctx, api, d); err != nil {
		return nil, fmt.Errorf("nothing is written: %w", err)
	}
	c := o.newCommitter(ctx, api, snapshot)
	if missing := (*requests.MissingError)(nil); errors.As(c.NoRules, &missing) {
		o.Streams.Note("optional: %s; without it kube-scheduler may give the same device to another claim that it allocates in the same moment", missing)
	}
	c.Settle, c.Needs = o.settle, o.needs()
	c.Read = func(ctx context.Context) (*inspect.Snapshot, error) {
		if s := snapshot; s != nil {
			snapshot = nil
			return s, nil
		}
		return o.Reader.Read(ctx, o.namespace, o.resources())
	}
	if !o.yes {
		c.Confirm = o.confirm
	}
	return c, nil
}

// needs are the resources that matter to this decision beside those that matter to every one.
func (o *allocateOptions) needs() []inspect.Resource {
	if o.reserve || o.kind.Resource == inspect.Pods {
		return []inspect.Resource{inspect.Pods}
	}
	return nil
}

// checkComplete returns an error if something could not be read without which a decision could be wrong. What
// files do not hold does not count: they hold all that there is.
func (o *allocateOptions) checkComplete(snapshot *inspect.Snapshot) error {
	err := commit.Complete(snapshot, o.needs()...)
	if missing := (*commit.PartialError)(nil); o.Reader.Offline() && errors.As(err, &missing) && missing.Health.State == inspect.NotRead {
		return nil
	}
	return err
}

// api returns a client that may do what is needed.
func (o *writeOptions) api(ctx context.Context, snapshot *inspect.Snapshot, needed []requests.Permission) (*requests.API, error) {
	config, err := o.Connection.RESTConfig()
	if err != nil {
		return nil, err
	}
	_, version, _ := strings.Cut(snapshot.Health(inspect.Claims).Version, "/")
	if version == "" {
		return nil, fmt.Errorf("writing to the cluster: %s", console.HealthText(inspect.Claims, snapshot.Health(inspect.Claims)))
	}
	api, err := requests.NewAPI(config, version, o.dryRun == dryRunServer)
	if err != nil {
		return nil, err
	}
	return api, api.Check(ctx, needed)
}

// newCommitter returns what writes. The snapshot tells whether it can taint devices: TaintRules was read.
func (o *writeOptions) newCommitter(ctx context.Context, api *requests.API, snapshot *inspect.Snapshot) *commit.Committer {
	c := &commit.Committer{Server: api, Clock: commit.SystemClock{}, By: whoami(), Observe: o.observe}
	_, version, _ := strings.Cut(snapshot.Health(inspect.TaintRules).Version, "/")
	features := snapshot.Features()
	switch {
	case !features.Enabled(inspect.GateDeviceTaints) || !features.Enabled(inspect.GateDeviceTaintRules):
		c.NoRules = errors.New("a DeviceTaintRule has no effect, because the feature gate DRADeviceTaintRules is off")
	case version == "":
		c.NoRules = errors.New(console.HealthText(inspect.TaintRules, snapshot.Health(inspect.TaintRules)))
	default:
		if c.NoRules = api.Check(ctx, commit.NeededForFences()); c.NoRules == nil {
			c.Rules = api.Rules(version)
		}
	}
	return c
}

// whoami names the user and the machine for people who find an announcement.
func whoami() string {
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if host, err := os.Hostname(); err == nil {
		name += "@" + host
	}
	return name
}

// routineSteps are the steps of a run without incidents. They are shown only with -v.
var routineSteps = []commit.Step{commit.Announced, commit.Allocated, commit.Reserved, commit.Done, commit.Deallocated}

func (o *writeOptions) observe(e commit.Event) {
	if o.Streams.Verbosity > 0 || !slices.Contains(routineSteps, e.Step) {
		o.Streams.Note("%s", e)
	}
}

// confirm asks whether a decision is to be written.
func (o *allocateOptions) confirm(ctx context.Context, d *commit.Decision) (bool, error) {
	if o.askedBefore {
		o.Streams.Note("The cluster has changed since. What would be written now is something else.")
	}
	o.askedBefore = true
	o.announce(d)
	o.Streams.Note("kube-scheduler normally allocates claims, when it schedules a pod that uses them; do this only if you have a reason to.")
	return o.ask(ctx, "Allocate?")
}

// announce says what is to be written.
func (o *allocateOptions) announce(d *commit.Decision) {
	o.Streams.Note("To be written:")
	for _, claim := range d.Claims {
		ref := inspect.RefOf(claim)
		if allocation := d.Allocations[ref]; allocation != nil {
			o.Streams.Note("  %s gets %s", ref, devicesText(devicesOf(allocation)))
		}
		if consumer, ok := d.Consumers[ref]; ok {
			o.Streams.Note("  %s is reserved for pod %s", ref, consumer.Name)
		}
	}
	if d.Node != "" {
		o.Streams.Note("  on node %s", d.Node)
	}
}

func devicesText(devices []inspect.DeviceID) string {
	if len(devices) == 0 {
		return "no device"
	}
	return console.CommaList(output.DeviceNames(devices))
}

var errNoAnswer = errors.New("no answer: nothing was written")

// ask asks a question on the terminal. Anything but yes is no.
func (o *writeOptions) ask(ctx context.Context, question string) (bool, error) {
	_, _ = fmt.Fprint(o.Streams.ErrOut, question+" [y/N] ") // who cannot see the question will not say yes
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // it may never end; neither does what it reads
		text, err := bufio.NewReader(o.Streams.In).ReadString('\n')
		answers <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return false, context.Cause(ctx)
	case a := <-answers:
		if a.err != nil && a.text == "" {
			return false, errNoAnswer
		}
		return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(a.text))), nil
	}
}
