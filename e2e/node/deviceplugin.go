package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// AllocatedEnv is the environment variable in which a [DevicePlugin] tells a container its devices,
// separated by commas.
const AllocatedEnv = "ALLOCATED_DEVICES"

// DevicePlugin offers devices under one resource name, and does so again whenever the kubelet
// has forgotten it.
type DevicePlugin struct {
	pluginapi.UnimplementedDevicePluginServer
	resource string
	dir      string // of the sockets
	cancel   context.CancelFunc
	done     sync.WaitGroup

	mu      sync.Mutex
	devices []*pluginapi.Device
	changed chan struct{} // closed when devices are others than before
}

// StartDevicePlugin offers count devices, named device-0 and so on, to the kubelet whose root directory
// is given. It returns when the kubelet knows the resource name.
func StartDevicePlugin(ctx context.Context, kubeletDir, resource string, count int) (*DevicePlugin, error) {
	p := &DevicePlugin{resource: resource, dir: filepath.Join(kubeletDir, "device-plugins"), changed: make(chan struct{})}
	for i := range count {
		p.devices = append(p.devices, &pluginapi.Device{ID: fmt.Sprint("device-", i), Health: pluginapi.Healthy,
			Topology: &pluginapi.TopologyInfo{Nodes: []*pluginapi.NUMANode{{ID: 0}}}})
	}
	server, err := p.offer(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting the device plugin for %s: %w", resource, err)
	}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.done.Go(func() { p.keep(ctx, server) })
	return p, nil
}

// Stop withdraws the devices.
func (p *DevicePlugin) Stop() {
	p.cancel()
	p.done.Wait()
}

func (p *DevicePlugin) socket() string {
	return filepath.Join(p.dir, strings.ReplaceAll(p.resource, "/", "_")+".sock")
}

// keep offers the devices again when the socket is gone: a kubelet that starts empties its directory.
func (p *DevicePlugin) keep(ctx context.Context, server *grpc.Server) {
	for {
		select {
		case <-ctx.Done():
			server.Stop()
			return
		case <-time.After(100 * time.Millisecond):
		}
		if _, err := os.Stat(p.socket()); err == nil {
			continue
		}
		server.Stop()
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		if again, err := p.offer(attempt); err == nil {
			server = again
		}
		cancel()
	}
}

// offer serves the socket and tells the kubelet about it.
func (p *DevicePlugin) offer(ctx context.Context) (*grpc.Server, error) {
	server := grpc.NewServer()
	pluginapi.RegisterDevicePluginServer(server, p)
	if err := serve(server, p.socket()); err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient("unix://"+filepath.Join(p.dir, "kubelet.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		server.Stop()
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	_, err = pluginapi.NewRegistrationClient(connection).Register(ctx, &pluginapi.RegisterRequest{
		Version: pluginapi.Version, Endpoint: filepath.Base(p.socket()), ResourceName: p.resource}, grpc.WaitForReady(true))
	if err != nil {
		server.Stop()
		return nil, err
	}
	return server, nil
}

// GetDevicePluginOptions asks for no further calls.
func (p *DevicePlugin) GetDevicePluginOptions(context.Context, *pluginapi.Empty) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{}, nil
}

// SetHealth says of a device whether it is healthy. All are in the beginning.
func (p *DevicePlugin) SetHealth(id string, healthy bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var devices []*pluginapi.Device
	for _, d := range p.devices {
		health := d.GetHealth()
		if d.GetID() == id {
			health = map[bool]string{true: pluginapi.Healthy, false: pluginapi.Unhealthy}[healthy]
		}
		devices = append(devices, &pluginapi.Device{ID: d.GetID(), Health: health, Topology: d.GetTopology()})
	}
	p.devices = devices
	close(p.changed)
	p.changed = make(chan struct{})
}

// ListAndWatch lists the devices whenever the health of one has changed.
func (p *DevicePlugin) ListAndWatch(_ *pluginapi.Empty, stream grpc.ServerStreamingServer[pluginapi.ListAndWatchResponse]) error {
	for {
		p.mu.Lock()
		devices, changed := p.devices, p.changed
		p.mu.Unlock()
		if err := stream.Send(&pluginapi.ListAndWatchResponse{Devices: devices}); err != nil {
			return err
		}
		select {
		case <-stream.Context().Done():
			return nil
		case <-changed:
		}
	}
}

// Allocate tells each container its devices in [AllocatedEnv].
func (p *DevicePlugin) Allocate(_ context.Context, request *pluginapi.AllocateRequest) (*pluginapi.AllocateResponse, error) {
	response := &pluginapi.AllocateResponse{}
	for _, container := range request.GetContainerRequests() {
		response.ContainerResponses = append(response.ContainerResponses, &pluginapi.ContainerAllocateResponse{
			Envs: map[string]string{AllocatedEnv: strings.Join(container.GetDevicesIds(), ",")}})
	}
	return response, nil
}
