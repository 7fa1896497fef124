// Command dradriver is a DRA driver with devices that do not exist: it publishes a ResourceSlice for its
// node and prepares claims by naming a CDI device for each of theirs.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/dynamic-resource-allocation/kubeletplugin"
	"k8s.io/dynamic-resource-allocation/resourceslice"
)

type options struct {
	kubeconfig, node, driver, registry, data string
	devices                                  int
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the API server")
	flag.StringVar(&o.node, "node", "", "name of the node, and of the pool")
	flag.StringVar(&o.driver, "driver", "gpu.example.com", "name of the driver")
	flag.StringVar(&o.registry, "registry", "", "directory in which the kubelet looks for plugins")
	flag.StringVar(&o.data, "data", "", "directory for the socket of the driver")
	flag.IntVar(&o.devices, "devices", 2, "number of devices")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := o.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (o *options) run(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.data, 0o750); err != nil {
		return err
	}
	helper, err := kubeletplugin.Start(ctx, &driver{name: o.driver}, kubeletplugin.DriverName(o.driver), kubeletplugin.NodeName(o.node),
		kubeletplugin.KubeClient(client), kubeletplugin.RegistrarDirectoryPath(o.registry), kubeletplugin.PluginDataDirectoryPath(o.data),
		kubeletplugin.HealthService(false))
	if err != nil {
		return err
	}
	defer helper.Stop()
	err = helper.PublishResources(ctx, resourceslice.DriverResources{Pools: map[string]resourceslice.Pool{
		o.node: {Slices: []resourceslice.Slice{{Devices: o.list()}}},
	}})
	if err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

func (o *options) list() []resourcev1.Device {
	var out []resourcev1.Device
	for i := range o.devices {
		index := int64(i)
		out = append(out, resourcev1.Device{
			Name:       fmt.Sprint("gpu-", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"index": {IntValue: &index}},
			Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
		})
	}
	return out
}

type driver struct{ name string }

var _ kubeletplugin.DRAPlugin = (*driver)(nil)

// PrepareResourceClaims names a CDI device for each device of this driver in the claims.
func (d *driver) PrepareResourceClaims(_ context.Context, claims []*resourcev1.ResourceClaim) (map[types.UID]kubeletplugin.PrepareResult, error) {
	out := map[types.UID]kubeletplugin.PrepareResult{}
	for _, claim := range claims {
		var prepared kubeletplugin.PrepareResult
		for _, r := range claim.Status.Allocation.Devices.Results {
			if r.Driver == d.name {
				prepared.Devices = append(prepared.Devices, kubeletplugin.Device{
					Requests: []string{r.Request}, PoolName: r.Pool, DeviceName: r.Device, CDIDeviceIDs: []string{d.name + "/device=" + r.Pool + "-" + r.Device},
				})
			}
		}
		fmt.Println("prepared", claim.Namespace+"/"+claim.Name)
		out[claim.UID] = prepared
	}
	return out, nil
}

// UnprepareResourceClaims has nothing to undo.
func (d *driver) UnprepareResourceClaims(_ context.Context, claims []kubeletplugin.NamespacedObject) (map[types.UID]error, error) {
	out := map[types.UID]error{}
	for _, claim := range claims {
		fmt.Println("unprepared", claim.String())
		out[claim.UID] = nil
	}
	return out, nil
}

// HandleError prints what went wrong in the background.
func (d *driver) HandleError(_ context.Context, err error, message string) {
	fmt.Fprintln(os.Stderr, message+":", err)
}

// WatchHealthStatus says that these devices have no health.
func (d *driver) WatchHealthStatus(context.Context, chan<- kubeletplugin.DeviceHealthReport) error {
	return kubeletplugin.ErrHealthNotSupported
}
