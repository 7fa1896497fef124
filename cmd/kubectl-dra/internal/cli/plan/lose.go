package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// loseKinds are what may be lost, each by the words for it.
var loseKinds = []string{"device", "node", "pool"}

func newPlanLose(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer) *cobra.Command {
	var worst int
	cmd := newPlanEvent(streams, reader, &cobra.Command{
		Use:   "lose (device|node|pool) (NAME... | --any K)",
		Short: "Say what breaks when devices, nodes or pools are lost, or which loss is the worst",
		Long: `Say what happens when devices, nodes or pools are suddenly gone: which pods end,
and where kube-scheduler places those that are recreated.

With --any K it looks for the worst loss of K at a time, after which most pods
cannot run. No other loss of K is worse, unless it says that not all were tried.

A device is named DRIVER/POOL/DEVICE and a pool DRIVER/POOL, or by the last parts
of that if they name only one.`,
		Example: `  # Which pods end if this GPU fails?
  kubectl dra plan lose device gpu-a-01/gpu-3

  # Does everything run again, whichever node fails?
  kubectl dra plan lose node --any 1`,
	}, func(ctx context.Context, o *eventOptions, args []string) error {
		if len(args) == 0 {
			return console.Usagef("name what is lost: %s", words.Or(loseKinds))
		}
		what, names := strings.TrimSuffix(strings.ToLower(args[0]), "s"), args[1:]
		if inquiry.Node.HasName(what) {
			what = "node"
		}
		switch {
		case !slices.Contains(loseKinds, what):
			return console.Usagef("%q is no type of what can be lost (%s): say what it is, as in kubectl dra plan lose node %s", args[0], console.CommaList(loseKinds), args[0])
		case worst < 0 || worst > maxAny:
			return console.Usagef("--any %d: give a number from 1 to %d", worst, maxAny)
		case worst > 0 && len(names) > 0:
			return console.Usagef("--any and names exclude each other")
		case worst == 0 && len(names) == 0:
			return console.Usagef("name the %s that is lost, or give --any 1 for the one whose loss is the worst", what)
		}
		s, err := o.read(ctx)
		if err != nil {
			return err
		}
		parts, lose := partsOf(s, what)
		if worst > 0 {
			return o.weakest(ctx, s, what, parts, worst, lose)
		}
		chosen, err := choose(s, what, parts, names)
		if err != nil {
			return err
		}
		return o.play(ctx, s, lose(chosen))
	})
	cmd.Flags().IntVar(&worst, "any", 0, "look for the worst loss of this many at a time")
	console.CompleteArguments(cmd, "`device`, `node`, `pool`, then names: of devices part by part", losable(completer))
	console.CompleteFlag(cmd, "any", "`1` to `3`", console.CompleteWords("1", "2", "3"))
	return cmd
}

// losable completes what may be lost.
func losable(c *inquiry.Completer) console.Completion {
	return func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		switch {
		case len(args) == 0:
			return console.WithPrefix(loseKinds, nil, prefix)
		case inquiry.Node.HasName(args[0]):
			return c.Nodes(cmd, args[1:], prefix)
		case strings.TrimSuffix(args[0], "s") == "pool":
			return c.Pools(cmd, args[1:], prefix)
		case strings.TrimSuffix(args[0], "s") == "device":
			return c.DevicePaths(cmd, args[1:], prefix)
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

// maxAny is the most that are lost at a time.
const maxAny = 8

// partsOf is all that may be lost of a kind, and how some of it are lost together.
func partsOf(s *inspect.Snapshot, what string) (parts []disruption.Part, lose func([]disruption.Part) *disruption.Event) {
	devices, pools := disruption.DeviceWeights(s)
	switch what {
	case "node":
		return nodesToLose(s)
	case "pool":
		return devicesToLose(s, what, poolsIn(s), pools, inspect.DeviceID.PoolID)
	}
	var all []inspect.DeviceID
	for d := range s.Inventory().Newest() {
		all = append(all, d.ID)
	}
	return devicesToLose(s, what, all, devices, func(id inspect.DeviceID) inspect.DeviceID { return id })
}

func nodesToLose(s *inspect.Snapshot) (parts []disruption.Part, lose func([]disruption.Part) *disruption.Event) {
	weights := disruption.NodeWeights(s)
	for _, node := range s.Nodes() {
		if s.NodesAssumed() && node.Name == string(inspect.PseudoNode) {
			continue // it stands for nodes that are not known
		}
		parts = append(parts, disruption.Part{Name: node.Name, Weight: weights[inspect.NodeName(node.Name)]})
	}
	return parts, func(chosen []disruption.Part) *disruption.Event {
		return disruption.LoseNodes(s, words.Each(chosen, func(p disruption.Part) inspect.NodeName { return inspect.NodeName(p.Name) })...)
	}
}

// devicesToLose are devices, or what is told of them, such as their pools.
func devicesToLose[T interface {
	comparable
	fmt.Stringer
}](s *inspect.Snapshot, what string, all []T, weights map[T]int, of func(inspect.DeviceID) T) (parts []disruption.Part, lose func([]disruption.Part) *disruption.Event) {
	known := map[string]T{}
	for _, id := range all {
		known[id.String()] = id
		parts = append(parts, disruption.Part{Name: id.String(), Weight: weights[id]})
	}
	return parts, func(chosen []disruption.Part) *disruption.Event {
		lost := map[T]bool{}
		for _, p := range chosen {
			lost[known[p.Name]] = true
		}
		return disruption.LoseDevices(s, losing(what, chosen), func(id inspect.DeviceID) bool { return lost[of(id)] })
	}
}

// poolsIn are the pools of which there are slices, sorted.
func poolsIn(s *inspect.Snapshot) []inspect.PoolID {
	out := words.Each(s.Slices(), inspect.PoolOf)
	slices.SortFunc(out, func(a, b inspect.PoolID) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(out)
}

// losing names what is lost.
func losing(what string, chosen []disruption.Part) string {
	if len(chosen) > 1 {
		what += "s"
	}
	return what + " " + console.CommaList(words.Each(chosen, partName))
}

func partName(p disruption.Part) string { return p.Name }

// choose finds what is called by some names, or by the ends of names.
func choose(s *inspect.Snapshot, what string, parts []disruption.Part, names []string) ([]disruption.Part, error) {
	var out []disruption.Part
	for _, name := range names {
		var found, near []string
		for _, p := range parts {
			switch {
			case p.Name == name:
				found = []string{name}
			case strings.HasSuffix(p.Name, "/"+name):
				near = append(near, p.Name)
			}
		}
		if len(found) == 0 {
			found = near
		}
		switch {
		case len(found) > 1:
			return nil, console.Usagef("%s %q: there are several: %s", what, name, console.CommaList(found))
		case len(found) == 0 && what == "node":
			return nil, inquiry.NotFound(s, inquiry.Node, "", name)
		case len(found) == 0:
			if text := unreadParts(s, what); text != "" {
				return nil, fmt.Errorf("%s %q not found, and not all could be read: %s", what, name, text)
			}
			return nil, fmt.Errorf("%s %q not found%s", what, name, console.DidYouMean(name, words.Each(parts, partName)))
		}
		if at := slices.IndexFunc(parts, func(p disruption.Part) bool { return p.Name == found[0] }); !slices.ContainsFunc(out, func(p disruption.Part) bool { return p.Name == found[0] }) {
			out = append(out, parts[at])
		}
	}
	return out, nil
}

// weakest says which loss is the worst.
func (o *eventOptions) weakest(ctx context.Context, s *inspect.Snapshot, what string, parts []disruption.Part, k int, lose func([]disruption.Part) *disruption.Event) error {
	working, done := o.Thinking(ctx)
	w, err := disruption.FindWeakest(working, scheduler.NewCluster(s, scheduler.Options{}), parts, k, lose)
	done()
	if err != nil {
		return err
	}
	if text := unreadParts(s, what); w == nil && text != "" {
		return fmt.Errorf("--any %d: only %d are known, and not all could be read: %s", k, len(parts), text)
	}
	if w == nil {
		return console.Usagef("--any %d: there are only %d", k, len(parts))
	}
	d := w.Disruption
	d.Remarks = append(worstOf(w, what, k), d.Remarks...)
	if d.Open = !w.Proven || !w.Certain; !d.Open {
		if text := unreadParts(s, what); text != "" {
			d.Open, d.Remarks[0] = true, "of others it is not known: "+text
		}
	}
	return o.print(d)
}

// unreadParts says why not all is known that may be lost, or nothing.
func unreadParts(s *inspect.Snapshot, what string) string {
	r := inspect.Slices
	if what == "node" {
		r = inspect.Nodes
	}
	if h := s.Health(r); h.Partial() {
		return console.HealthText(r, h)
	}
	return ""
}

// worstOf says how far it is known that a loss is the worst.
func worstOf(w *disruption.Weakest, what string, k int) []string {
	others := fmt.Sprintf("no loss of other %d is worse", k)
	if k == 1 {
		others = fmt.Sprintf("the loss of no other %s is worse", what)
	}
	switch {
	case w.Proven && w.Certain:
		return []string{others}
	case w.Proven:
		return []string{others + " as far as it was played, but what becomes of the pods is not certain for each"}
	}
	tried := fmt.Sprintf("of the possible losses the %d that end most pods were played, and this is the worst of them; after others up to %d pods may run nowhere", w.Tried, w.AtMost)
	if w.Limited {
		tried += "; in a cluster of this size no more are played"
	}
	return []string{tried}
}
