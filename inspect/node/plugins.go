package node

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxSockets is how many plugins are asked, and maxEntries how many files are looked at to find them.
	maxSockets = 256
	maxEntries = 10000
	// pluginsAtOnce are asked at the same time. If all of them hang, it takes eight times pluginTimeout to
	// have asked everybody.
	pluginsAtOnce = 64
)

// readPlugins asks whoever serves a socket at which the kubelet finds plugins who it is.
func (r *reading) readPlugins(ctx context.Context, root *os.Root) {
	ask := map[Source]func(context.Context, *grpc.ClientConn, *Plugin) error{
		Registry: askRegistered, DevicePluginDir: askDevicePlugin,
	}
	var g errgroup.Group
	g.SetLimit(pluginsAtOnce)
	var all [][]Plugin
	for _, source := range []Source{Registry, DevicePluginDir} {
		found, err := sockets(root, source)
		r.health(source, err)
		for i := range found {
			p := &found[i]
			g.Go(func() error {
				err := atSocket(ctx, filepath.Join(root.Name(), p.Socket), pluginTimeout,
					func(ctx context.Context, c *grpc.ClientConn) error { return ask[source](ctx, c, p) })
				p.Health = healthOf(source, plainError(err))
				return nil
			})
		}
		all = append(all, found)
	}
	_ = g.Wait() // no function returns an error
	r.Plugins = slices.Concat(all...)
	slices.SortFunc(r.Plugins, func(a, b Plugin) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Socket, b.Socket))
	})
}

// sockets finds the sockets below a directory where the kubelet does: at any depth, but for hidden files.
// Symbolic links are not followed.
func sockets(root *os.Root, source Source) ([]Plugin, error) {
	var out []Plugin
	seen := 0
	err := fs.WalkDir(root.FS(), string(source), func(path string, entry fs.DirEntry, err error) error {
		seen++
		switch name := entry; {
		case err != nil:
			return err
		case seen > maxEntries || len(out) == maxSockets:
			return fmt.Errorf("there is more than %d sockets or %d files in it", maxSockets, maxEntries)
		case strings.HasPrefix(name.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case entry.Type()&fs.ModeSocket == 0 || source == DevicePluginDir && name.Name() == "kubelet.sock":
			return nil
		}
		p := Plugin{Socket: path}
		if source == DevicePluginDir {
			p.Type = DevicePlugin
		}
		if info, err := entry.Info(); err == nil {
			p.Since = info.ModTime()
		}
		out = append(out, p)
		return nil
	})
	return out, err
}

// askRegistered asks a plugin in the registry who it is, as the kubelet does once.
func askRegistered(ctx context.Context, connection *grpc.ClientConn, p *Plugin) error {
	info, err := registration.NewRegistrationClient(connection).GetInfo(ctx, &registration.InfoRequest{})
	if err != nil {
		return err
	}
	p.Type, p.Name, p.Endpoint, p.Versions = info.GetType(), info.GetName(), info.GetEndpoint(), info.GetSupportedVersions()
	return nil
}

// askDevicePlugin asks a device plugin for its options. Nothing else that it serves may be called by anybody
// but the kubelet.
func askDevicePlugin(ctx context.Context, connection *grpc.ClientConn, p *Plugin) error {
	options, err := deviceplugin.NewDevicePluginClient(connection).GetDevicePluginOptions(ctx, &deviceplugin.Empty{})
	if err != nil {
		return err
	}
	p.Versions = []string{deviceplugin.Version}
	if options.GetPreStartRequired() {
		p.Options = append(p.Options, "PreStartRequired")
	}
	if options.GetGetPreferredAllocationAvailable() {
		p.Options = append(p.Options, "GetPreferredAllocationAvailable")
	}
	return nil
}

// Unanswered are the plugins that did not answer, whose sockets are left over or that hang.
func (v *View) Unanswered() []Plugin {
	var out []Plugin
	for _, p := range v.Plugins {
		if p.Health.State != inspect.Synced {
			out = append(out, p)
		}
	}
	return out
}
