package get

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
	use "github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var deviceUses = []inspect.Resource{inspect.Claims, inspect.TaintRules, inspect.Nodes}

// getOptions are a request for a table.
type getOptions struct {
	sources.Options
	view             view
	names            []string
	allNamespaces    bool
	namespace        string // empty for all namespaces
	labels           string
	selector         labels.Selector
	sortBy           string
	groupBy          string
	by               use.By
	node             string // empty for all nodes
	noHeaders, watch bool

	serverConcurrency int                // 0 if it is unknown
	levels            flowcontrol.Source // it is nil until reading has made it
	cluster           *scheduler.Cluster // that extendedResources made last, or nil
}

const getExample = `  # Claims of all namespaces
  kubectl dra get claims -A

  # Who holds which device, and why is one not free?
  kubectl dra get devices -o wide
  kubectl dra get devices --node gpu-a-01

  # Nodes by what is free on them
  kubectl dra get nodes --sort-by=.free

  # What device plugins offer: where is some free, and how much on one node?
  kubectl dra get extended example.com/vpu

  # Which team holds most, and what is idle?
  kubectl dra get usage
  kubectl dra get usage --by workload --sort-by=.idle

  # Which API priority level is full, and whose requests are rejected?
  kubectl dra get prioritylevels`

// New returns the command get.
func New(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	o := &getOptions{Options: sources.Options{Streams: streams, Reader: reader}}
	cmd := &cobra.Command{
		Use:   "get (" + strings.Join(viewNames(), "|") + ") [NAME...]",
		Short: "List claims, devices, pools, nodes, classes, templates, pods, taint rules, drivers, priority levels, storage, queues or usage",
		Long: `List objects in a table, or in any other output format of kubectl:

  claims          with their devices and pods, and why one is pending
  devices         with their holders, and why one is not free
  pools           how many devices each has, and whether it is complete
  nodes           with what is free on them
  classes         device classes
  templates       claim templates, with what they ask for and the pods that use them
  pods            that use devices or wait for a node, with what the scheduler says
  taintrules      DeviceTaintRules, with how many devices they taint
  drivers         with their devices and pools, and what they no longer publish
  prioritylevels  of the API server, with their limits and load
  flowschemas     in the order in which the API server tries them
  storage         CSI storage capacities, with their nodes
  extended        extended resources such as example.com/gpu, by node: offered,
                  healthy, used and free, by a device plugin or by DRA
  queues          of Kueue, ClusterQueues and LocalQueues, with what is used of
                  their quota, and how many wait
  workloads       of Kueue, with why one is not admitted
  usage           how many devices each namespace, class, workload, driver,
                  or ClusterQueue or cohort of Kueue holds, how many are idle
                  and since when, and what the scheduler has refused

Several types, and several names, can have commas between them; names may be
patterns with * and ?. Devices can be named DEVICE, POOL/DEVICE or
DRIVER/POOL/DEVICE, pools POOL or DRIVER/POOL, extended resources by their name,
by its last part or by NODE/NAME. Labels (-l) are those of the claim, node or
class; for devices and pools those of their ResourceSlices, for extended
resources those of the node, and for usage those of the claims that are counted.
--sort-by and custom columns take the fields of the JSON form, such as .name or
.free.`,
		Example: getExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && strings.Contains(args[0], ",") && !strings.Contains(args[0], "/") {
				return o.runEach(cmd.Context(), strings.Split(args[0], ","), args[1:])
			}
			if err := o.complete(args); err != nil {
				return err
			}
			if o.watch {
				return o.watchCluster(cmd.Context())
			}
			return o.run(cmd.Context())
		},
	}
	o.bind(cmd, completer)
	return cmd
}

// bind adds the flags to the command.
func (o *getOptions) bind(cmd *cobra.Command, completer *inquiry.Completer) {
	set := cmd.Flags()
	set.BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "list claims of all namespaces")
	set.BoolVar(&o.noHeaders, "no-headers", false, "print no headers")
	set.BoolVarP(&o.watch, "watch", "w", false, "also print what changes from then on; deleted objects are named on stderr")
	set.StringVarP(&o.labels, "selector", "l", "", "list only what has these labels, as key=value,…")
	set.StringVar(&o.sortBy, "sort-by", "", "sort by this field of the JSON form, such as .name or .age")
	set.StringVar(&o.groupBy, "by", "", "count usage by "+console.CommaList(usageGroupings())+"; by default by "+usageGroupings()[0])
	set.StringVar(&o.node, "node", "", "list only the "+console.CommaList(nodeViews)+" of this node")
	sources.AddConcurrencyFlag(set, &o.serverConcurrency)
	console.AddOutputFlags(cmd, &o.Format, output.TableFormats)
	console.CompleteArguments(cmd, "views, then names of what they list", completeViews(completer))
	console.CompleteFlag(cmd, "by", "ways to count", console.CompleteWords(usageGroupings()...))
	console.CompleteFlag(cmd, "node", "nodes", completer.Nodes)
}

// complete finds out what is wanted, and refuses what does not go together.
func (o *getOptions) complete(args []string) error {
	if o.watch && len(o.Reader.From) > 0 {
		return console.Usagef("--watch follows a cluster, or the living one of --demo; --from shows one moment")
	}
	if len(args) == 0 {
		return console.Usagef("say what to get: %s", console.CommaList(viewNames()))
	}
	word, names, err := inquiry.SplitTypeAndNames(args)
	if err == nil {
		o.names = names
		o.view, err = viewByName(word)
	}
	if err == nil {
		err = checkConcurrency(o.serverConcurrency, o.view)
	}
	if err == nil {
		err = checkNode(o.node, o.view)
	}
	if err == nil {
		o.by, err = groupingOf(o.groupBy, o.view)
	}
	if err == nil && byQueue(o.by) {
		o.view.needs = append(slices.Clip(o.view.needs), inspect.ClusterQueues)
		o.view.uses = append(slices.Clip(o.view.uses), queueUses...)
	}
	if err != nil {
		return err
	}
	if o.selector, err = labels.Parse(o.labels); err != nil {
		return console.Usagef("--selector: %w", err)
	}
	switch {
	case len(o.names) > 0 && o.labels != "":
		return console.Usagef("names and --selector exclude each other")
	case len(o.names) > 0 && o.allNamespaces && o.view.namespaced:
		return console.Usagef("names and --all-namespaces exclude each other")
	case o.allNamespaces:
	case o.view.namespaced:
		o.namespace, err = o.Reader.Namespace()
	case o.view.inAllNamespaces:
		o.namespace = o.Reader.Connection.NamespaceFlag()
	}
	return err
}

// runEach lists objects of several types, a table for each.
func (o *getOptions) runEach(ctx context.Context, types, names []string) error {
	if o.watch || !o.forPeople() && o.Format.Name != "name" {
		return console.Usagef("several types are listed as tables or with -o name, and not with --watch")
	}
	lists := make([]getOptions, len(types))
	for i := range types {
		lists[i] = *o
		if err := lists[i].complete(append([]string{types[i]}, names...)); err != nil {
			return err
		}
	}
	var missing []error
	for i := range lists {
		if i > 0 && o.forPeople() {
			if _, err := fmt.Fprintln(o.Out); err != nil {
				return err
			}
		}
		missing = append(missing, lists[i].run(ctx))
	}
	return errors.Join(missing...)
}

func (o *getOptions) run(ctx context.Context) error {
	snapshot, err := o.Reader.Read(ctx, o.namespace, o.resources())
	if err != nil {
		return err
	}
	if err := o.checkRequired(snapshot); err != nil {
		return err
	}
	list, missing, err := o.rows(ctx, snapshot)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	unseen := o.nothingSeen(snapshot)
	if unseen != nil && len(list.Items) == 0 {
		missing = append(missing, unseen)
	}
	if err := o.print(ctx, snapshot, list, len(missing) > 0); err != nil {
		return err
	}
	o.noteFences(list)
	o.noteTotals(list)
	missing = append(missing, o.incomplete(snapshot))
	if len(list.Items) == 0 && len(o.names) == 0 {
		missing = append(missing, o.Reader.CheckNamespace(ctx, snapshot))
		if unseen == nil {
			missing = append(missing, o.unread(snapshot))
		}
	}
	return errors.Join(missing...)
}

// unread says of an empty list that what it is made of was not read.
func (o *getOptions) unread(s *inspect.Snapshot) error {
	needs := o.view.needs
	if len(needs) == 0 {
		needs = []inspect.Resource{inspect.Nodes}
	}
	for _, resource := range needs {
		switch h := s.Health(resource); {
		case h.State == inspect.NotRead:
			return fmt.Errorf("no %s were read", resource)
		case h.PartialIn(o.namespace) && h.State != inspect.Incomplete: // see incomplete
			return errors.New(console.HealthText(resource, h))
		}
	}
	return nil
}

// nothingSeen says why an empty list does not mean that there is nothing.
func (o *getOptions) nothingSeen(s *inspect.Snapshot) error {
	for _, resource := range slices.Concat(o.view.needs, o.view.madeOf) {
		if h := s.Health(resource); h.State != inspect.Incomplete && h.PartialIn(o.namespace) {
			return fmt.Errorf("there may be more than is shown: %s", console.HealthText(resource, h))
		}
	}
	return nil
}

// incomplete says that there may be more in the files than the list shows.
func (o *getOptions) incomplete(s *inspect.Snapshot) error {
	for _, resource := range o.resources() {
		if h := s.Health(resource); h.State == inspect.Incomplete {
			return fmt.Errorf("there may be more than is shown: %s", h.Message)
		}
	}
	return nil
}

// noteFences says of the devices of a list how to lift the fences around them.
func (o *getOptions) noteFences(list *output.List) {
	var notes []string
	for _, item := range list.Items {
		d, ok := item.(*output.Device)
		if !ok {
			return
		}
		for _, advice := range d.Fences {
			notes = append(notes, fmt.Sprintf("%s is %s", d.Meta().Name, advice))
		}
	}
	o.NoteSome(notes, sources.MaxWarnings, "%d more fences; kubectl get devicetaintrules -l "+inspect.FenceKey+" lists them all")
}

// resources are those that the view is made of.
func (o *getOptions) resources() []inspect.Resource {
	return words.AppendNew(slices.Clone(o.view.needs), o.view.uses...)
}

// checkRequired returns an error when what the view cannot do without could not be read.
func (o *getOptions) checkRequired(s *inspect.Snapshot) error {
	for _, resource := range o.view.needs {
		if h := s.Health(resource); h.State == inspect.Forbidden || h.State == inspect.Broken {
			return errors.New(console.HealthText(resource, h))
		}
	}
	return nil
}

// rows returns the items that were asked for, complete and sorted, and an error for each name that is not
// there. It says on stderr what is missing besides.
func (o *getOptions) rows(ctx context.Context, s *inspect.Snapshot) (list *output.List, missing []error, err error) {
	o.NoteHealth(s, o.resources())
	if s.NodesAssumed() && slices.Contains(o.resources(), inspect.Nodes) {
		o.Note("no nodes are known: those that ResourceSlices name stand in for them, without labels")
	}
	if o.view.countsPods && s.Health(inspect.Pods).State == inspect.NotRead {
		o.Note("no pods were read: what a device plugin offers is counted as free")
	}
	if list, err = o.view.list(o, ctx, s, o.namespace); err != nil {
		return nil, nil, err
	}
	if len(list.Partial) > 0 {
		o.Note("warning: devices may be held by claims that are not seen here: what is shown as free is so at most")
	}
	if err := o.keepOnNode(s, list); err != nil {
		missing = append(missing, err)
	} else {
		missing = o.pickNamed(ctx, s, list)
	}
	if !o.view.selects {
		list.Keep(func(item output.Item) bool { return item.Meta().Selected(o.selector) })
	}
	if o.view.fillIn != nil && o.Format.Name != "name" {
		if err := o.view.fillIn(ctx, s, list); err != nil {
			return nil, nil, err
		}
	}
	if o.sortBy != "" {
		if err := list.Sort(o.sortBy); err != nil {
			return nil, nil, console.Usagef("%w", err)
		}
	}
	return list, missing, nil
}

// pickNamed keeps the items that were named and reports names that are not there.
func (o *getOptions) pickNamed(ctx context.Context, s *inspect.Snapshot, list *output.List) []error {
	if len(o.names) == 0 {
		return nil
	}
	var missing []error
	picked := []output.Item{}
	for _, name := range o.names {
		found := false
		for _, item := range list.Items {
			m := item.Meta()
			called := append([]string{m.Name}, m.Aliases...)
			if slices.Contains(called, name) || len(inquiry.Matching(name, called)) > 0 {
				picked, found = append(picked, item), true
			}
		}
		if !found {
			missing = append(missing, o.notFound(ctx, s, list, name))
		}
	}
	list.Items = picked
	return missing
}

// notFound says that no item is called by a name, and what there is instead.
func (o *getOptions) notFound(ctx context.Context, s *inspect.Snapshot, list *output.List, name string) error {
	text := fmt.Sprintf("%s %q not found", o.view.singular, name)
	var here, callable, elsewhere []string
	for _, item := range list.Items {
		here = append(here, item.Meta().Spoken())
		callable = append(append(callable, item.Meta().Name), item.Meta().Aliases...)
	}
	here = slices.Compact(here)
	if o.namespace != "" {
		text += fmt.Sprintf(" in namespace %q", o.namespace)
		all, err := o.view.list(o, ctx, s, "")
		if err != nil {
			return err
		}
		for _, item := range all.Items {
			if m := item.Meta(); m.Name == name {
				elsewhere = append(elsewhere, m.Namespace)
			}
		}
	}
	slices.Sort(callable)
	if hint := console.DidYouMean(name, slices.Compact(callable)); hint != "" && len(elsewhere) == 0 {
		return errors.New(text + hint)
	}
	return errors.New(text + console.WhatExists(name, o.namespace, here, elsewhere))
}

// forPeople reports that a table is wanted.
func (o *getOptions) forPeople() bool { return o.Format.Name == "" || o.Format.Name == "wide" }

func (o *getOptions) print(ctx context.Context, s *inspect.Snapshot, list *output.List, failed bool) error {
	if o.forPeople() && len(list.Items) == 0 {
		if failed {
			return nil
		}
		return o.sayEmpty(ctx, s)
	}
	out := o.Out
	if o.forPeople() {
		out = o.Text()
	}
	return o.Format.PrintList(out, list, output.TableOptions{
		NoHeaders: o.noHeaders, Namespace: o.namespace == "", Width: o.TableWidth(),
	})
}

// sayEmpty says on stderr that there is nothing, and where there is something.
func (o *getOptions) sayEmpty(ctx context.Context, s *inspect.Snapshot) error {
	noun := cmp.Or(o.view.noun, o.view.names[0])
	if o.node != "" {
		o.Note("No %s found of node %q.", noun, o.node)
		return nil
	}
	if o.namespace == "" {
		o.Note("No %s found.", noun)
		return nil
	}
	text := fmt.Sprintf("No %s found in namespace %q", noun, o.namespace)
	everywhere, err := o.view.list(o, ctx, s, "")
	if err != nil {
		return err
	}
	n := len(everywhere.Items)
	if everywhere.Usage != nil {
		n = everywhere.Usage.Claims.Total // its items are namespaces
	}
	if n > 0 && o.selector.Empty() {
		text += fmt.Sprintf("; %d in other namespaces, -A shows them", n)
	}
	o.Note("%s.", text)
	return nil
}
