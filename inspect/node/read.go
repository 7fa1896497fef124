package node

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// DefaultDir is the directory of a kubelet unless it was told another.
const DefaultDir = "/var/lib/kubelet"

// Options say where the kubelet is.
type Options struct {
	// Dir is the directory of the kubelet, Socket that of its PodResources service, and PodsSocket that of its Pods API. Empty ones
	// stand for the defaults.
	Dir, Socket, PodsSocket string
	// Sys is where Linux says how the machine is built. If it is empty, it stands for the default.
	Sys string
	// Pod is the only pod that PodResources is asked for. If it is empty, all are listed.
	Pod inspect.PodRef
}

// withDefaults has the defaults in place of what is empty.
func (o Options) withDefaults() Options {
	o.Dir = cmp.Or(o.Dir, DefaultDir)
	o.Socket = cmp.Or(o.Socket, filepath.Join(o.Dir, "pod-resources", "kubelet.sock"))
	o.PodsSocket = cmp.Or(o.PodsSocket, filepath.Join(o.Dir, podsSocket))
	o.Sys = cmp.Or(o.Sys, DefaultSys)
	return o
}

// Read reads what the kubelet of this machine knows. What cannot be read is told by the view's Health. When ctx ends, what
// is not read yet is Broken.
func Read(ctx context.Context, o Options) *View {
	o = o.withDefaults()
	v := &View{Only: o.Pod, Health: map[Source]inspect.Health{}}
	v.readPodResources(ctx, o.Socket, o.Pod)
	v.readKubeletPods(ctx, o.PodsSocket)
	v.readTopology(o.Sys)
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		for _, s := range Sources() {
			if _, read := v.Health[s]; !read {
				v.Health[s] = healthOf(s, err)
			}
		}
		return v
	}
	defer func() { _ = root.Close() }()
	v.readCheckpoints(root)
	v.readPlugins(ctx, root)
	return v
}

// readCheckpoints reads the files in which the kubelet keeps its state over restarts.
func (v *View) readCheckpoints(root *os.Root) {
	parse := map[Source]func([]byte) error{
		DeviceCheckpoint: func(data []byte) (err error) { v.Registered, v.Assigned, err = ParseDevices(data); return err },
		ClaimCheckpoint:  func(data []byte) (err error) { v.Claims, err = ParseClaims(data); return err },
		CPUCheckpoint:    func(data []byte) (err error) { v.CPUs, err = ParseCPUs(data); return err },
		MemoryCheckpoint: func(data []byte) (err error) { v.Memory, err = ParseMemory(data); return err },
	}
	for source, read := range parse {
		data, err := readCheckpoint(root, string(source))
		if err == nil {
			err = read(data)
		}
		v.Health[source] = healthOf(source, err)
	}
}
