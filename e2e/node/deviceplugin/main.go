// Command deviceplugin is a device plugin of the older kind, with devices that do not exist.
package main

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

func main() {
	dir := flag.String("dir", "", "directory device-plugins of the kubelet, as an absolute path")
	resource := flag.String("resource", "example.com/widget", "name of the extended resource")
	devices := flag.Int("devices", 2, "number of devices")
	flag.Parse()
	if err := run(*dir, *resource, *devices); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

const socket = "widget.sock"

// run serves the plugin once the kubelet is there: a kubelet that starts removes every socket it finds.
func run(dir, resource string, devices int) error {
	for !exists(filepath.Join(dir, "kubelet.sock")) {
		time.Sleep(50 * time.Millisecond)
	}
	listener, err := net.Listen("unix", filepath.Join(dir, socket))
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	pluginapi.RegisterDevicePluginServer(server, &plugin{devices: devices})
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	if err := register(dir, resource); err != nil {
		return err
	}
	return <-served
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// register tells the kubelet about the plugin.
func register(dir, resource string) error {
	connection, err := grpc.NewClient("unix://"+filepath.Join(dir, "kubelet.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }() // nothing is left to be sent
	_, err = pluginapi.NewRegistrationClient(connection).Register(context.Background(),
		&pluginapi.RegisterRequest{Version: pluginapi.Version, Endpoint: socket, ResourceName: resource}, grpc.WaitForReady(true))
	return err
}

type plugin struct {
	pluginapi.UnimplementedDevicePluginServer
	devices int
}

// GetDevicePluginOptions asks for nothing special.
func (p *plugin) GetDevicePluginOptions(context.Context, *pluginapi.Empty) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{}, nil
}

// ListAndWatch lists the devices, which never change.
func (p *plugin) ListAndWatch(_ *pluginapi.Empty, stream grpc.ServerStreamingServer[pluginapi.ListAndWatchResponse]) error {
	list := &pluginapi.ListAndWatchResponse{}
	for i := range p.devices {
		list.Devices = append(list.Devices, &pluginapi.Device{ID: fmt.Sprint("widget-", i), Health: pluginapi.Healthy})
	}
	if err := stream.Send(list); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

// Allocate gives the containers nothing.
func (p *plugin) Allocate(_ context.Context, request *pluginapi.AllocateRequest) (*pluginapi.AllocateResponse, error) {
	response := &pluginapi.AllocateResponse{}
	for range request.ContainerRequests {
		response.ContainerResponses = append(response.ContainerResponses, &pluginapi.ContainerAllocateResponse{})
	}
	return response, nil
}
