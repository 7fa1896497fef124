package node

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/fake"
)

// Runtime is a container runtime in which every container that is started runs until it is stopped, and
// that executes nothing. It remembers its containers for as long as it lives, so pods survive a restart
// of the kubelet.
type Runtime struct {
	*fake.RemoteRuntime
	server *grpc.Server
	socket string

	mu      sync.Mutex
	created []Container
}

// Container is what the kubelet asked the runtime to create.
type Container struct {
	Namespace, Pod, Name string
	// CDI are the names of the CDI devices to inject.
	CDI []string
	// Env are the environment variables, among them those that device plugins want.
	Env map[string]string
}

// StartRuntime serves a runtime on the socket cri.sock of a directory, whose filesystem it reports as
// that of its images.
func StartRuntime(dir string) (*Runtime, error) {
	r := &Runtime{RemoteRuntime: fake.NewFakeRemoteRuntime(), server: grpc.NewServer(), socket: filepath.Join(dir, "cri.sock")}
	r.RuntimeService.FakeStatus = &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: true}, {Type: runtimeapi.NetworkReady, Status: true},
	}}
	r.ImageService.SetFakeFilesystemUsage([]*runtimeapi.FilesystemUsage{{
		Timestamp: time.Now().UnixNano(), FsId: &runtimeapi.FilesystemIdentifier{Mountpoint: dir},
		UsedBytes: &runtimeapi.UInt64Value{}, InodesUsed: &runtimeapi.UInt64Value{},
	}})
	runtimeapi.RegisterRuntimeServiceServer(r.server, r)
	runtimeapi.RegisterImageServiceServer(r.server, r)
	if err := serve(r.server, r.socket); err != nil {
		return nil, fmt.Errorf("starting a container runtime: %w", err)
	}
	return r, nil
}

// Endpoint is the address for the kubelet.
func (r *Runtime) Endpoint() string { return "unix://" + r.socket }

// Stop ends the runtime.
func (r *Runtime) Stop() { r.server.Stop() }

// Containers returns what was created for a pod, the oldest first.
func (r *Runtime) Containers(namespace, pod string) []Container {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []Container
	for _, c := range r.created {
		if c.Namespace == namespace && c.Pod == pod {
			found = append(found, c)
		}
	}
	return found
}

// CreateContainer creates a container, with an empty log: the kubelet looks for the file.
func (r *Runtime) CreateContainer(ctx context.Context, request *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	response, err := r.RemoteRuntime.CreateContainer(ctx, request)
	if err != nil {
		return nil, err
	}
	log := filepath.Join(request.GetSandboxConfig().GetLogDirectory(), request.GetConfig().GetLogPath())
	if err := os.MkdirAll(filepath.Dir(log), 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(log, nil, 0o644); err != nil {
		return nil, err
	}
	r.RuntimeService.Lock()
	if c := r.RuntimeService.Containers[response.GetContainerId()]; c != nil {
		c.LogPath = log
	}
	r.RuntimeService.Unlock()

	r.mu.Lock()
	defer r.mu.Unlock()
	r.created = append(r.created, described(request))
	return response, nil
}

func described(request *runtimeapi.CreateContainerRequest) Container {
	pod, config := request.GetSandboxConfig().GetMetadata(), request.GetConfig()
	c := Container{Namespace: pod.GetNamespace(), Pod: pod.GetName(), Name: config.GetMetadata().GetName(), Env: map[string]string{}}
	for _, device := range config.GetCDIDevices() {
		c.CDI = append(c.CDI, device.GetName())
	}
	for _, variable := range config.GetEnvs() {
		c.Env[variable.GetKey()] = string(variable.GetValue())
	}
	return c
}

// serve answers on a unix socket until the server is stopped.
func serve(server *grpc.Server, socket string) error {
	if err := os.MkdirAll(filepath.Dir(socket), 0o750); err != nil {
		return err
	}
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	go func() { _ = server.Serve(listener) }() // ends with Stop
	return nil
}
