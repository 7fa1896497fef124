package node

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxAnswer is how large an answer may be, in bytes. The limit of gRPC, 4 MiB, is too small for kubelets that list devices
	// again and again.
	maxAnswer = 64 << 20
	// kubeletTimeout and pluginTimeout bound calls.
	kubeletTimeout = 10 * time.Second
	pluginTimeout  = 2 * time.Second
)

// dial connects to a unix socket when it is first used.
func dial(socket string) (*grpc.ClientConn, error) {
	if _, err := os.Stat(socket); err != nil {
		return nil, err
	}
	return grpc.NewClient("passthrough:///kubelet", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		}), grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxAnswer)))
}

// plainError is the message of an answer of gRPC without what surrounds it.
func plainError(err error) error {
	if s, ok := status.FromError(err); ok && err != nil {
		return errors.New(s.Code().String() + ": " + s.Message())
	}
	return err
}

// readPodResources asks the kubelet who has what.
func (v *View) readPodResources(ctx context.Context, socket string) {
	connection, err := dial(socket)
	if err != nil {
		v.Health[PodResources], v.Health[Allocatables] = healthOf(PodResources, err), healthOf(Allocatables, err)
		return
	}
	defer func() { _ = connection.Close() }()
	ctx, cancel := context.WithTimeout(ctx, kubeletTimeout)
	defer cancel()
	client := podresources.NewPodResourcesListerClient(connection)
	list, err := client.List(ctx, &podresources.ListPodResourcesRequest{})
	v.Health[PodResources] = healthOf(PodResources, plainError(err))
	for _, p := range list.GetPodResources() {
		v.Pods = append(v.Pods, podOf(p))
	}
	slices.SortStableFunc(v.Pods, func(a, b Pod) int {
		return cmp.Or(cmp.Compare(a.Ref.Namespace, b.Ref.Namespace), cmp.Compare(a.Ref.Name, b.Ref.Name))
	})
	all, err := client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{})
	v.Health[Allocatables] = healthOf(Allocatables, plainError(err))
	v.Allocatable = Allocatable{Devices: devicesOf(all.GetDevices()), CPUs: unique(all.GetCpuIds()), Memory: memoryOf(all.GetMemory())}
}

func podOf(p *podresources.PodResources) Pod {
	out := Pod{Ref: inspect.PodRef{Namespace: p.GetNamespace(), Name: p.GetName()}, CPUs: unique(p.GetCpuIds()), Memory: memoryOf(p.GetMemory())}
	for _, c := range p.GetContainers() {
		out.Containers = append(out.Containers, Container{Name: c.GetName(), Devices: devicesOf(c.GetDevices()),
			CPUs: unique(c.GetCpuIds()), Memory: memoryOf(c.GetMemory()), Claims: claimsOf(c.GetDynamicResources())})
	}
	return out
}

// numaOf are the NUMA nodes of a topology. One without an ID is node 0.
func numaOf(t *podresources.TopologyInfo) []int64 {
	var out []int64
	for _, n := range t.GetNodes() {
		out = append(out, n.GetID())
	}
	return unique(out)
}

func devicesOf(in []*podresources.ContainerDevices) []PluginDevice {
	var out []PluginDevice
	for _, d := range in {
		for _, id := range d.GetDeviceIds() {
			out = append(out, PluginDevice{d.GetResourceName(), id, numaOf(d.GetTopology())})
		}
	}
	return uniqueDevices(out)
}

// uniqueDevices sorts devices and puts those together that are listed once for each of their NUMA nodes.
func uniqueDevices(in []PluginDevice) []PluginDevice {
	slices.SortStableFunc(in, func(a, b PluginDevice) int {
		return cmp.Or(cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.ID, b.ID))
	})
	var out []PluginDevice
	for _, d := range in {
		if last := len(out) - 1; last >= 0 && out[last].Resource == d.Resource && out[last].ID == d.ID {
			out[last].NUMA = unique(slices.Concat(out[last].NUMA, d.NUMA))
			continue
		}
		out = append(out, d)
	}
	return out
}

func memoryOf(in []*podresources.ContainerMemory) []Memory {
	var out []Memory
	for _, m := range in {
		out = append(out, Memory{m.GetMemoryType(), m.GetSize(), numaOf(m.GetTopology())})
	}
	slices.SortStableFunc(out, func(a, b Memory) int { return cmp.Or(cmp.Compare(a.Type, b.Type), slices.Compare(a.NUMA, b.NUMA)) })
	return out
}

// claimsOf puts the entries of each claim together, and drops devices that are there again.
func claimsOf(in []*podresources.DynamicResource) []ClaimUse {
	var out []ClaimUse
	for _, r := range in {
		ref := inspect.ClaimRef{Namespace: r.GetClaimNamespace(), Name: r.GetClaimName()}
		at := slices.IndexFunc(out, func(u ClaimUse) bool { return u.Claim == ref })
		if at < 0 {
			at = len(out)
			out = append(out, ClaimUse{Claim: ref})
		}
		for _, d := range r.GetClaimResources() {
			out[at].Devices = append(out[at].Devices, Device{
				inspect.DeviceID{Driver: d.GetDriverName(), Pool: d.GetPoolName(), Device: d.GetDeviceName()}, d.GetShareId()})
		}
	}
	for i := range out {
		slices.SortFunc(out[i].Devices, Device.Compare)
		out[i].Devices = slices.Compact(out[i].Devices)
	}
	slices.SortFunc(out, func(a, b ClaimUse) int {
		return cmp.Or(cmp.Compare(a.Claim.Namespace, b.Claim.Namespace), cmp.Compare(a.Claim.Name, b.Claim.Name))
	})
	return out
}
