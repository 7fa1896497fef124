package node

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// DefaultDir is the directory of a kubelet unless it was told another.
const DefaultDir = "/var/lib/kubelet"

// Options say where the kubelet is.
type Options struct {
	// Dir is the directory of the kubelet, Socket that of its PodResources service, and PodsSocket that of
	// its Pods API. Empty ones stand for the defaults.
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

// Read reads what the kubelet of this machine knows. What cannot be read is told by the view's Health. When
// ctx ends, what is not read yet is Broken. Sources are read beside each other, so that several that hang
// cost the time of one.
func Read(ctx context.Context, o Options) *View {
	o = o.withDefaults()
	r := &reading{View: &View{Only: o.Pod, Health: map[Source]inspect.Health{}}}
	var g sync.WaitGroup
	g.Go(func() { r.readPodResources(ctx, o.Socket, o.Pod) })
	g.Go(func() { r.readKubeletPods(ctx, o.PodsSocket) })
	g.Go(func() { r.readTopology(o.Sys) })
	if root, err := os.OpenRoot(o.Dir); err != nil {
		for _, s := range below {
			r.health(s, err)
		}
	} else {
		defer func() { _ = root.Close() }()
		g.Go(func() { r.readCheckpoints(root) })
		g.Go(func() { r.readPlugins(ctx, root) })
	}
	g.Wait()
	return r.View
}

// below are the sources that are found in the directory of the kubelet alone.
var below = []Source{DeviceCheckpoint, ClaimCheckpoint, CPUCheckpoint, MemoryCheckpoint, Registry, DevicePluginDir}

// reading is a View that several functions fill at once. Each has fields of its own, but for the Health.
type reading struct {
	*View

	mu sync.Mutex
}

// health notes how far a source could be read.
func (r *reading) health(s Source, err error) { r.note(s, healthOf(s, err)) }

func (r *reading) note(s Source, h inspect.Health) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Health[s] = h
}

// readCheckpoints reads the files in which the kubelet keeps its state over restarts.
func (r *reading) readCheckpoints(root *os.Root) {
	parse := map[Source]func([]byte) error{
		DeviceCheckpoint: func(data []byte) (err error) { r.Registered, err = ParseDevices(data); return err },
		ClaimCheckpoint:  func(data []byte) (err error) { r.Claims, err = ParseClaims(data); return err },
		CPUCheckpoint:    func(data []byte) (err error) { r.CPUs, err = ParseCPUs(data); return err },
		MemoryCheckpoint: CheckMemory,
	}
	for source, read := range parse {
		data, err := readCheckpoint(root, string(source))
		if err == nil {
			err = read(data)
		}
		r.health(source, err)
	}
}
