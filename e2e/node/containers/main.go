// Command containers is a container runtime that runs nothing: it tells the kubelet that everything works.
// Pods that a kubelet gives to it are Running, and stay so until they are deleted.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"google.golang.org/grpc"
	runtimeapi "k8s.io/cri-api/pkg/apis/runtime/v1"
	"k8s.io/cri-client/pkg/fake"
)

func main() {
	socket := flag.String("socket", "", "listen on this unix socket")
	flag.Parse()
	if err := serve(*socket); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runtime adds log files to the fake, which the kubelet looks for.
type runtime struct{ *fake.RemoteRuntime }

func serve(socket string) error {
	r := runtime{fake.NewFakeRemoteRuntime()}
	r.RuntimeService.FakeStatus = &runtimeapi.RuntimeStatus{Conditions: []*runtimeapi.RuntimeCondition{
		{Type: runtimeapi.RuntimeReady, Status: true}, {Type: runtimeapi.NetworkReady, Status: true},
	}}
	r.ImageService.SetFakeFilesystemUsage([]*runtimeapi.FilesystemUsage{{
		FsId:      &runtimeapi.FilesystemIdentifier{Mountpoint: "/"},
		UsedBytes: &runtimeapi.UInt64Value{Value: 1}, InodesUsed: &runtimeapi.UInt64Value{Value: 1},
	}})
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	runtimeapi.RegisterRuntimeServiceServer(server, r)
	runtimeapi.RegisterImageServiceServer(server, r)
	return server.Serve(listener)
}

// CreateContainer prints the CDI devices of the container, as a runtime would get them, and makes its log.
func (r runtime) CreateContainer(ctx context.Context, request *runtimeapi.CreateContainerRequest) (*runtimeapi.CreateContainerResponse, error) {
	response, err := r.RemoteRuntime.CreateContainer(ctx, request)
	if err != nil {
		return nil, err
	}
	sandbox, container := request.GetSandboxConfig(), request.GetConfig()
	for _, device := range container.GetCDIDevices() {
		fmt.Println(sandbox.GetMetadata().GetNamespace()+"/"+sandbox.GetMetadata().GetName(), container.GetMetadata().GetName(), device.GetName())
	}
	return response, writeLog(filepath.Join(sandbox.GetLogDirectory(), container.GetLogPath()))
}

func writeLog(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o644)
}
