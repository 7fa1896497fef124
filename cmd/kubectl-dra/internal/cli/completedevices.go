package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/editor"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// Completion of drivers, pools, devices and what devices have. The table of a server has the drivers and pools of all
// ResourceSlices; devices are only in the slices themselves. Of a server a few of these are read, of every driver, so what is
// offered is an example of what there is.

// What is offered, in words for the documentation.
const (
	poolsOffered   = "pools; `DRIVER/POOL`"
	devicesOffered = "devices, of a server a sample; `POOL/DEVICE`, `DRIVER/POOL/DEVICE`"
)

// sampled is how many slices are read of a server.
const sampled = 24

// drivers completes the name of a driver that publishes devices.
func (c *completer) drivers(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, row := range c.slices(cmd) {
		names = append(names, row.Driver)
	}
	slices.Sort(names)
	return withPrefix(names, nil, prefix)
}

// pools completes POOL, or DRIVER/POOL once there is a slash.
func (c *completer) pools(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	filter := filterOf(cmd)
	filter.pool = ""
	var names []string
	for _, row := range c.slices(cmd) {
		switch {
		case !filter.passes(row):
		case strings.Contains(prefix, "/"):
			names = append(names, row.Driver+"/"+row.Pool)
		default:
			names = append(names, row.Pool)
		}
	}
	slices.Sort(names)
	return withPrefix(names, given, prefix)
}

// poolPaths completes DRIVER/POOL.
func (c *completer) poolPaths(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, row := range c.slices(cmd) {
		names = append(names, row.Driver+"/"+row.Pool)
	}
	slices.Sort(names)
	return withPrefix(names, given, prefix)
}

// slices are the rows of all ResourceSlices.
func (c *completer) slices(cmd *cobra.Command) []live.Row {
	if !c.reader.offline() {
		return c.rows(cmd.Context(), inspect.Slices, "")
	}
	snapshot, _ := c.readQuietly(cmd.Context(), []inspect.Resource{inspect.Slices})
	if snapshot == nil {
		return nil
	}
	var rows []live.Row
	for _, slice := range snapshot.Slices() {
		row := live.Row{Name: slice.Name, Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name}
		if slice.Spec.NodeName != nil {
			row.Node = *slice.Spec.NodeName
		}
		rows = append(rows, row)
	}
	return rows
}

// filterOf are the flags of a command that choose devices, as far as it has them.
func filterOf(cmd *cobra.Command) deviceFilter {
	value := func(flag string) string {
		if f := cmd.Flags().Lookup(flag); f != nil {
			return f.Value.String()
		}
		return ""
	}
	return deviceFilter{driver: value("driver"), pool: value("pool"), node: value("node")}
}

// passes reports whether a slice can have devices that are chosen.
func (f *deviceFilter) passes(row live.Row) bool {
	return (f.driver == "" || f.driver == row.Driver) && matchesPath(f.pool, row.Driver, row.Pool) && (f.node == "" || row.Node == "" || f.node == row.Node)
}

// sample chooses at most so many of the slices that pass a filter: of every driver as many, and these spread over all that it has,
// since those of nodes that were set up together follow each other.
func sample(rows []live.Row, filter deviceFilter, most int) []string {
	byDriver := map[string][]string{}
	for _, row := range rows {
		if filter.passes(row) {
			byDriver[row.Driver] = append(byDriver[row.Driver], row.Name)
		}
	}
	var out []string
	for i, driver := range slices.Sorted(maps.Keys(byDriver)) {
		names := byDriver[driver]
		share := max(1, (most-len(out))/(len(byDriver)-i))
		for n := range min(share, len(names)) {
			if len(out) < most {
				out = append(out, names[n*len(names)/min(share, len(names))])
			}
		}
	}
	return out
}

// devices are those that the flags of the command choose: all of files, some of a server. path, as far as it is typed, is the
// beginning of DRIVER/POOL/DEVICE or POOL/DEVICE and narrows what is read.
func (c *completer) devices(cmd *cobra.Command, path string) []inspect.DeviceStatus {
	filter := filterOf(cmd)
	var snapshot *inspect.Snapshot
	if c.reader.offline() {
		snapshot, _ = c.readQuietly(cmd.Context(), []inspect.Resource{inspect.Slices, inspect.Nodes})
	} else {
		snapshot = c.readSome(cmd.Context(), inspect.Slices, func(rows []live.Row) []string {
			if above := path[:strings.LastIndexByte(path, '/')+1]; above != "" {
				rows = slices.DeleteFunc(rows, func(r live.Row) bool {
					return !strings.HasPrefix(r.Driver+"/"+r.Pool+"/", above) && !strings.HasPrefix(r.Pool+"/", above)
				})
			}
			return sample(rows, filter, sampled)
		})
		filter.node = "" // the slices of no single node need the node
	}
	if snapshot == nil {
		return nil
	}
	devices, err := filter.devices(snapshot)
	if err != nil {
		return nil
	}
	return devices
}

// readSome reads the objects of a server that are chosen by their rows.
func (c *completer) readSome(ctx context.Context, resource inspect.Resource, choose func([]live.Row) []string) *inspect.Snapshot {
	ctx, cancel := c.within(ctx)
	defer cancel()
	finder := c.finder()
	if finder == nil {
		return nil
	}
	objects, err := finder.Some(ctx, resource, choose)
	if err != nil {
		return nil
	}
	return c.snapshotOf(objects)
}

func (c *completer) snapshotOf(objects inspect.Objects) *inspect.Snapshot {
	features := inspect.DefaultFeatures(inspect.NewestMinor)
	return inspect.New(objects, inspect.Config{Revision: 1, Time: c.reader.clock(), Features: c.reader.applyFeatureFlag(features)})
}

// deviceNames completes DEVICE, or POOL/DEVICE and DRIVER/POOL/DEVICE once there is a slash.
func (c *completer) deviceNames(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	var names []string
	for _, d := range c.devices(cmd, prefix) {
		if strings.Contains(prefix, "/") {
			names = append(names, d.ID.String(), d.ID.Pool+"/"+d.ID.Device)
		} else {
			names = append(names, d.ID.Device)
		}
	}
	slices.Sort(names)
	return withPrefix(names, given, prefix)
}

// devicePaths completes DRIVER/POOL/DEVICE. Before the driver and the pool are there, it offers these.
func (c *completer) devicePaths(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if strings.Count(prefix, "/") < 2 && !c.reader.offline() {
		var names []string
		for _, row := range c.slices(cmd) {
			names = append(names, row.Driver+"/"+row.Pool+"/")
		}
		slices.Sort(names)
		if found, directive := withPrefix(names, given, prefix); len(found) > 1 {
			return found, directive | cobra.ShellCompDirectiveNoSpace
		}
	}
	var names []string
	for _, d := range c.devices(cmd, prefix) {
		names = append(names, d.ID.String())
	}
	slices.Sort(names)
	return withPrefix(names, given, prefix)
}

// hardware completes a PCI address or a UUID that a device has as an attribute.
func (c *completer) hardware(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, d := range c.devices(cmd, "") {
		for _, attribute := range d.Device.Attributes {
			if attribute.StringValue != nil && node.HardwareName(*attribute.StringValue) != "" {
				names = append(names, *attribute.StringValue)
			}
		}
	}
	slices.Sort(names)
	return withPrefix(names, nil, prefix)
}

// cel completes TYPE NAME… of cel, or an expression.
func (c *completer) cel(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	expression, quoted := strings.CutPrefix(prefix, "'")
	if !quoted {
		expression, quoted = strings.CutPrefix(prefix, `"`)
	}
	switch {
	case len(args) > 0:
		return c.typed(celKinds)(cmd, args, prefix)
	case prefix == "" || slices.ContainsFunc(typeNames(celKinds), func(name string) bool { return strings.HasPrefix(name, prefix) }):
		return withPrefix(append(typeNames(celKinds), "device."), nil, prefix)
	}
	found := c.expressions(cmd, expression)
	if quoted { // fish hands over the quote, and takes no other directive then
		return found, cobra.ShellCompDirectiveNoFileComp
	}
	return found, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// expressions completes an expression as the lab of the terminal UI does.
func (c *completer) expressions(cmd *cobra.Command, text string) []string {
	devices := c.devices(cmd, "")
	features := selector.Features{ConsumableCapacity: true, ListTypeAttributes: true}
	completion := editor.NewCompleter(bench.NewInventory(subjects(devices)), features).Complete(text, len(text))
	var out []string
	for i := range completion.Items {
		item := &completion.Items[i]
		if whole, _ := completion.Apply(text, i); strings.HasPrefix(whole, text) && harmless(item) {
			out = append(out, whole)
		}
	}
	return out
}

// harmless reports whether what an item says of devices can stand in an expression on the line of a shell, which is quoted as a
// whole. Values may have blanks in them, but no other characters that mean something to a shell.
func harmless(item *editor.Item) bool {
	if item.Kind == editor.FunctionKind || item.Kind == editor.OperatorKind {
		return true // they are the program's own
	}
	insert := item.Insert
	if at := strings.IndexByte(insert, '\''); at >= 0 && at < len(strings.TrimSuffix(insert, "]"))-1 {
		return false // it would end the quote of the shell; only the one that ends the string is the program's own
	}
	for _, call := range []string{"quantity(", "semver("} {
		if argument, ok := strings.CutPrefix(insert, call); ok {
			insert = strings.TrimSuffix(argument, ")")
		}
	}
	inExpression := func(r rune) bool { return plainRune(r) || strings.ContainsRune(`[]"' `, r) }
	return insert != "" && !strings.ContainsFunc(insert, func(r rune) bool { return !inExpression(r) })
}
