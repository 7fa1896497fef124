package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"
)

// scriptKubelet is the kubelet of node n1 of the scripts.
type scriptKubelet struct {
	podresources.UnimplementedPodResourcesListerServer
	registration.UnimplementedRegistrationServer
}

func gpu(device string) *podresources.ClaimResource {
	return &podresources.ClaimResource{DriverName: "gpu.example.com", PoolName: "n1", DeviceName: device}
}

// List has a pod with a device of each kind, and one that is of another node.
func (scriptKubelet) List(context.Context, *podresources.ListPodResourcesRequest) (*podresources.ListPodResourcesResponse, error) {
	return &podresources.ListPodResourcesResponse{PodResources: []*podresources.PodResources{{Namespace: "ml", Name: "train", Containers: []*podresources.ContainerResources{
		{Name: "main", CpuIds: []int64{2, 3},
			Devices:          []*podresources.ContainerDevices{{ResourceName: "example.com/nic", DeviceIds: []string{"0000:81:00.0"}, Topology: &podresources.TopologyInfo{Nodes: []*podresources.NUMANode{{ID: 1}}}}},
			DynamicResources: []*podresources.DynamicResource{{ClaimName: "gpus", ClaimNamespace: "ml", ClaimResources: []*podresources.ClaimResource{gpu("gpu-0"), gpu("gpu-1"), gpu("gpu-0")}}}},
		{Name: "idle"}}}}}, nil
}

// Get gives one of the pods that List has.
func (k scriptKubelet) Get(ctx context.Context, r *podresources.GetPodResourcesRequest) (*podresources.GetPodResourcesResponse, error) {
	list, err := k.List(ctx, nil)
	for _, p := range list.GetPodResources() {
		if p.GetName() == r.GetPodName() && p.GetNamespace() == r.GetPodNamespace() {
			return &podresources.GetPodResourcesResponse{PodResources: p}, nil
		}
	}
	return nil, errors.Join(err, fmt.Errorf("pod %s in namespace %s not found", r.GetPodName(), r.GetPodNamespace()))
}

func (scriptKubelet) GetAllocatableResources(context.Context, *podresources.AllocatableResourcesRequest) (*podresources.AllocatableResourcesResponse, error) {
	return &podresources.AllocatableResourcesResponse{CpuIds: []int64{0, 1, 2, 3}, Devices: []*podresources.ContainerDevices{{ResourceName: "example.com/nic", DeviceIds: []string{"0000:81:00.0"}}}}, nil
}

func (scriptKubelet) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: "DRAPlugin", Name: "gpu.example.com", SupportedVersions: []string{"v1.DRAPlugin"}}, nil
}

// scriptClaims are prepared on n1: one that is used there, and one that the cluster does not know, with a
// text for terminals.
const scriptClaims = `{"ClaimInfoStateList":[
 {"ClaimUID":"1","ClaimName":"gpus","Namespace":"ml","DriverState":{"gpu.example.com":{"Devices":[{"PoolName":"n1","DeviceName":"gpu-0","CDIDeviceIDs":["example.com/gpu=0"]},{"PoolName":"n1","DeviceName":"gpu-1"}]}}},
 {"ClaimUID":"2","ClaimName":"left\u001b[31m","Namespace":"ml","DriverState":{"gpu.example.com":{"Devices":null}}}]}`

// serveKubelet makes the directory of a kubelet, $KUBELET, and serves its sockets. Its name is short, for the
// paths of sockets are.
func serveKubelet(env *testscript.Env) error {
	dir, err := os.MkdirTemp("", "kl")
	if err != nil {
		return err
	}
	env.Defer(func() { _ = os.RemoveAll(dir) })
	env.Setenv("KUBELET", dir)
	claims, err := json.Marshal(map[string]any{"Data": scriptClaims, "Checksum": crc32.ChecksumIEEE([]byte(scriptClaims))})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "dra_manager_state"), claims, 0o600); err != nil {
		return err
	}
	for _, socket := range []string{"pod-resources/kubelet.sock", "plugins_registry/gpu.sock"} {
		path := filepath.Join(dir, socket)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return err
		}
		listener, err := net.Listen("unix", path)
		if err != nil {
			return err
		}
		made := time.Date(2026, 11, 23, 1, 2, 3, 0, time.UTC)
		if err := os.Chtimes(path, made, made); err != nil {
			return err
		}
		server := grpc.NewServer()
		podresources.RegisterPodResourcesListerServer(server, scriptKubelet{})
		registration.RegisterRegistrationServer(server, scriptKubelet{})
		env.Defer(server.Stop)
		go func() { _ = server.Serve(listener) }()
	}
	return nil
}
