package node_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
	pods "k8s.io/kubelet/pkg/apis/pods/v1alpha1"
)

// kubelet is a directory as a kubelet keeps it, with services in it.
type kubelet struct {
	podresources.UnimplementedPodResourcesListerServer
	pods.UnimplementedPodsServer

	dir  string
	pods [][]byte
	list *podresources.ListPodResourcesResponse
	all  *podresources.AllocatableResourcesResponse
	err  error
	hang bool
	// busy is how many calls are refused since there are too many. noGet: only lists are served.
	busy  atomic.Int32
	noGet bool
}

// Get has the words of kubelets (1.37.1).
func (k *kubelet) Get(ctx context.Context, r *podresources.GetPodResourcesRequest) (*podresources.GetPodResourcesResponse, error) {
	if k.noGet {
		return k.UnimplementedPodResourcesListerServer.Get(ctx, r)
	}
	if k.busy.Add(-1) >= 0 {
		return nil, status.Error(codes.ResourceExhausted, "rejected by rate limit")
	}
	for _, p := range k.list.GetPodResources() {
		if p.GetName() == r.GetPodName() && p.GetNamespace() == r.GetPodNamespace() {
			return &podresources.GetPodResourcesResponse{PodResources: p}, nil
		}
	}
	return nil, fmt.Errorf("pod %s in namespace %s not found", r.GetPodName(), r.GetPodNamespace())
}

func (k *kubelet) List(ctx context.Context, _ *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	if k.hang {
		<-ctx.Done()
	}
	if k.busy.Add(-1) >= 0 {
		return nil, status.Error(codes.ResourceExhausted, "rejected by rate limit")
	}
	return k.list, k.err
}

func (k *kubelet) GetAllocatableResources(context.Context, *podresources.AllocatableResourcesRequest) (*podresources.AllocatableResourcesResponse, error) {
	return k.all, k.err
}

func (k *kubelet) ListPods(context.Context, *pods.ListPodsRequest) (*pods.ListPodsResponse, error) {
	return &pods.ListPodsResponse{Pods: k.pods}, k.err
}

// newKubelet makes a directory with a short name: the paths of sockets have at most 107 characters.
func newKubelet(t *testing.T) *kubelet {
	t.Helper()
	dir, err := os.MkdirTemp("", "kl")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &kubelet{dir: dir}
}

// serve serves a unix socket below the directory until the test ends.
func (k *kubelet) serve(t *testing.T, path string, register func(*grpc.Server)) {
	t.Helper()
	path = filepath.Join(k.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	register(server)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
}

func (k *kubelet) servePodResources(t *testing.T) {
	t.Helper()
	k.serve(t, "pod-resources/kubelet.sock", func(s *grpc.Server) { podresources.RegisterPodResourcesListerServer(s, k) })
}

func (k *kubelet) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(k.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// sealed is content with its checksum, as the kubelet writes prepared claims.
func sealed(content string) string {
	out, _ := json.Marshal(map[string]any{"Data": content, "Checksum": crc32.ChecksumIEEE([]byte(content))})
	return string(out)
}

// registered is a plugin of the registry. It counts the calls that only the kubelet may make.
type registered struct {
	registration.UnimplementedRegistrationServer

	info     *registration.PluginInfo
	notified atomic.Int32
}

func (r *registered) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return r.info, nil
}

func (r *registered) NotifyRegistrationStatus(context.Context, *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	r.notified.Add(1)
	return &registration.RegistrationStatusResponse{}, nil
}

// plugin is a device plugin that counts its streams.
type plugin struct {
	deviceplugin.UnimplementedDevicePluginServer

	streams atomic.Int32
}

func (p *plugin) GetDevicePluginOptions(context.Context, *deviceplugin.Empty) (*deviceplugin.DevicePluginOptions, error) {
	return &deviceplugin.DevicePluginOptions{GetPreferredAllocationAvailable: true}, nil
}

func (p *plugin) ListAndWatch(*deviceplugin.Empty, grpc.ServerStreamingServer[deviceplugin.ListAndWatchResponse]) error {
	p.streams.Add(1)
	return fmt.Errorf("only the kubelet may listen")
}
