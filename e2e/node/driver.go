package node

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// DriverOptions say what a driver is called, where it runs and what it offers.
type DriverOptions struct {
	Name string
	// Node is the name of the node, which owns the ResourceSlices.
	Node string
	// KubeletDir is the root directory of its kubelet.
	KubeletDir string
	Client     kubernetes.Interface
	// Devices are the devices of its only pool, which is named as the node is.
	Devices []resourcev1.Device
	// Health has the kubelet watch the health of the devices.
	Health bool
	// Log receives what the driver has to say.
	Log io.Writer
}

// Driver is a DRA driver on one node: it publishes devices as ResourceSlices and gives containers one
// CDI device for each device that is allocated to them.
type Driver struct {
	options DriverOptions
	helper  *kubeletplugin.Helper

	mu       sync.Mutex
	prepared map[types.UID]string
	sick     map[string]string // by device, what is wrong with it
	changed  chan struct{}     // closed when others are sick than before
}

// StartDriver registers a driver with the kubelet and begins to publish its devices. Neither has
// necessarily happened when it returns.
func StartDriver(ctx context.Context, options DriverOptions) (*Driver, error) {
	d := &Driver{options: options, prepared: map[types.UID]string{}, sick: map[string]string{}, changed: make(chan struct{})}
	data := filepath.Join(options.KubeletDir, "plugins", options.Name)
	if err := os.MkdirAll(data, 0o750); err != nil {
		return nil, fmt.Errorf("starting driver %s: %w", options.Name, err)
	}
	logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(options.Log)))
	ctx = klog.NewContext(context.WithoutCancel(ctx), logger) // until Stop
	var err error
	if d.helper, err = kubeletplugin.Start(ctx, d, kubeletplugin.DriverName(options.Name), kubeletplugin.NodeName(options.Node),
		kubeletplugin.KubeClient(options.Client), kubeletplugin.PluginDataDirectoryPath(data), kubeletplugin.HealthService(options.Health),
		kubeletplugin.RegistrarDirectoryPath(filepath.Join(options.KubeletDir, "plugins_registry"))); err != nil {
		return nil, fmt.Errorf("starting driver %s: %w", options.Name, err)
	}
	if err := d.Publish(ctx); err != nil {
		d.Stop()
		return nil, err
	}
	return d, nil
}

// Publish has the devices published now. A driver that does not call it again after its kubelet deleted
// the ResourceSlices publishes them again by itself after [resourceslice.DefaultSyncDelay].
func (d *Driver) Publish(ctx context.Context) error {
	pool := resourceslice.Pool{Slices: []resourceslice.Slice{{Devices: d.options.Devices}}}
	err := d.helper.PublishResources(ctx, resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{d.options.Node: pool}})
	if err != nil {
		return fmt.Errorf("publishing the devices of driver %s: %w", d.options.Name, err)
	}
	return nil
}

// Registered reports whether the kubelet has accepted the driver at some time.
func (d *Driver) Registered() bool {
	status := d.helper.RegistrationStatus()
	return status != nil && status.PluginRegistered
}

// Stop unregisters the driver. Its ResourceSlices stay until the kubelet removes them.
func (d *Driver) Stop() { d.helper.Stop() }

// Prepared returns the claims that are ready for use on the node, by UID, as "namespace/name".
func (d *Driver) Prepared() map[types.UID]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.prepared)
}

// CDIDevice is the name of the CDI device that a container gets for a device of a claim.
func CDIDevice(driver string, claim types.UID, device string) string {
	return fmt.Sprintf("%s/device=%s-%s", driver, claim, device)
}

// PrepareResourceClaims gives each allocated device its CDI device.
func (d *Driver) PrepareResourceClaims(_ context.Context, claims []*resourcev1.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	results := map[types.UID]kubeletplugin.PrepareResult{}
	for _, claim := range claims {
		var result kubeletplugin.PrepareResult
		for _, allocated := range claim.Status.Allocation.Devices.Results {
			if allocated.Driver != d.options.Name {
				continue
			}
			result.Devices = append(result.Devices, kubeletplugin.Device{Requests: []string{allocated.Request},
				PoolName: allocated.Pool, DeviceName: allocated.Device, ShareID: allocated.ShareID,
				CDIDeviceIDs: []string{CDIDevice(d.options.Name, claim.UID, allocated.Device)}})
		}
		results[claim.UID] = result
		d.prepared[claim.UID] = claim.Namespace + "/" + claim.Name
	}
	return results, nil
}

// UnprepareResourceClaims forgets the claims.
func (d *Driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	results := map[types.UID]error{}
	for _, claim := range claims {
		delete(d.prepared, claim.UID)
		results[claim.UID] = nil
	}
	return results, nil
}

// HandleError logs what happens in the background, which a test sees as slices that do not appear.
func (d *Driver) HandleError(ctx context.Context, err error, message string) {
	klog.FromContext(ctx).Error(err, message)
}

// SetHealth says what is wrong with a device, or with "" that nothing is.
func (d *Driver) SetHealth(device, wrong string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sick[device] = wrong; wrong == "" {
		delete(d.sick, device)
	}
	close(d.changed)
	d.changed = make(chan struct{})
}

// health is a report on all devices, and what is closed when it is no longer true.
func (d *Driver) health() (report kubeletplugin.DeviceHealthReport, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, device := range d.options.Devices {
		h := kubeletplugin.DeviceHealth{PoolName: d.options.Node, DeviceName: device.Name, Health: kubeletplugin.HealthStatusHealthy, LastUpdated: time.Now()}
		if wrong := d.sick[device.Name]; wrong != "" {
			h.Health, h.Message = kubeletplugin.HealthStatusUnhealthy, wrong
		}
		report.Devices = append(report.Devices, h)
	}
	return report, d.changed
}

// WatchHealthStatus reports whenever something has changed, and before the kubelet takes the last report for
// too old.
func (d *Driver) WatchHealthStatus(ctx context.Context, reports chan<- kubeletplugin.DeviceHealthReport) error {
	for {
		report, changed := d.health()
		select {
		case <-ctx.Done():
			return nil
		case reports <- report:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		case <-time.After(10 * time.Second):
		}
	}
}
