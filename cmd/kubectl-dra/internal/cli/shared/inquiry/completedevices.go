package inquiry

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live"
)

// Completion of drivers, pools and devices. The table of a server has the drivers and pools of all
// ResourceSlices; devices are only in the slices themselves, of which a few are read.

// sampled is how many slices are read of a server.
const sampled = 24

// Drivers completes the name of a driver that publishes devices.
func (c *Completer) Drivers(cmd *cobra.Command, _ []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return c.ofSlices(cmd, nil, prefix, func(row live.Row) string { return row.Driver })
}

// Pools completes POOL, or DRIVER/POOL once there is a slash.
func (c *Completer) Pools(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if strings.Contains(prefix, "/") {
		return c.PoolPaths(cmd, given, prefix)
	}
	return c.ofSlices(cmd, given, prefix, func(row live.Row) string { return row.Pool })
}

// PoolPaths completes DRIVER/POOL.
func (c *Completer) PoolPaths(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	return c.ofSlices(cmd, given, prefix, func(row live.Row) string { return row.Driver + "/" + row.Pool })
}

// ofSlices completes what the rows of ResourceSlices have.
func (c *Completer) ofSlices(cmd *cobra.Command, given []string, prefix string, name func(live.Row) string) ([]string, cobra.ShellCompDirective) {
	names := words.Each(c.slices(cmd), name)
	slices.Sort(names)
	return console.WithPrefix(names, given, prefix)
}

// slices are the rows of all ResourceSlices.
func (c *Completer) slices(cmd *cobra.Command) []live.Row {
	if !c.Reader.Offline() {
		return c.rows(cmd.Context(), inspect.Slices, "")
	}
	snapshot, _ := c.readQuietly(cmd.Context(), []inspect.Resource{inspect.Slices})
	if snapshot == nil {
		return nil
	}
	return words.Each(snapshot.Slices(), func(slice *resourcev1.ResourceSlice) live.Row {
		return live.Row{Name: slice.Name, Driver: slice.Spec.Driver, Pool: slice.Spec.Pool.Name}
	})
}

// devices are those of files, or some of a server: those whose driver and pool, as far as they are typed, are
// those of path.
func (c *Completer) devices(cmd *cobra.Command, path string) []inspect.DeviceID {
	ctx, cancel := c.within(cmd.Context())
	defer cancel()
	var snapshot *inspect.Snapshot
	if c.Reader.Offline() {
		snapshot, _ = c.readQuietly(ctx, []inspect.Resource{inspect.Slices})
	} else if finder := c.finder(); finder != nil {
		above := path[:strings.LastIndexByte(path, '/')+1]
		objects, err := finder.Some(ctx, inspect.Slices, func(rows []live.Row) []string {
			var names []string
			for _, r := range rows {
				at := r.Driver + "/" + r.Pool + "/"
				if strings.HasPrefix(at, above) || strings.HasPrefix(r.Pool+"/", above) {
					names = append(names, r.Name)
				}
			}
			return names[:min(len(names), sampled)]
		})
		if err == nil {
			snapshot = inspect.New(objects, inspect.Config{Revision: 1, Time: c.Reader.Clock(), Features: inspect.DefaultFeatures(inspect.NewestMinor)})
		}
	}
	if snapshot == nil {
		return nil
	}
	var out []inspect.DeviceID
	for d := range snapshot.Inventory().Newest() {
		out = append(out, d.ID)
	}
	return out
}

// DevicePaths completes DRIVER/POOL/DEVICE. Before the driver and the pool are there, it offers these.
func (c *Completer) DevicePaths(cmd *cobra.Command, given []string, prefix string) ([]string, cobra.ShellCompDirective) {
	if strings.Count(prefix, "/") < 2 && !c.Reader.Offline() {
		found, directive := c.ofSlices(cmd, given, prefix, func(row live.Row) string { return row.Driver + "/" + row.Pool + "/" })
		if len(found) > 1 {
			return found, directive | cobra.ShellCompDirectiveNoSpace
		}
	}
	names := words.Each(c.devices(cmd, prefix), inspect.DeviceID.String)
	slices.Sort(names)
	return console.WithPrefix(names, given, prefix)
}
