package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

const (
	// maxAnswer is how large an answer may be, in bytes. The limit of gRPC, 4 MiB, is too small for kubelets
	// that list devices again and again.
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

// asking is what is asked over a connection.
type asking = func(context.Context, *grpc.ClientConn) error

// atSocket asks whoever serves a socket, for so long.
func atSocket(ctx context.Context, socket string, patience time.Duration, ask asking) error {
	connection, err := dial(socket)
	if err != nil {
		return err
	}
	defer func() { _ = connection.Close() }()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return ask(ctx, connection)
}

// errNoAnswer is what is said of whoever takes a connection and hangs. gRPC names the step at which it
// waited, which nobody knows.
var errNoAnswer = errors.New("it did not answer in time")

// plainError is the message of an answer of gRPC without what surrounds it.
func plainError(err error) error {
	if s, ok := status.FromError(err); ok && err != nil {
		if s.Code() == codes.DeadlineExceeded {
			return errNoAnswer
		}
		return errors.New(s.Code().String() + ": " + s.Message())
	}
	return err
}

// retries and retryAfter are how often and after how long a call is made again that the kubelet refuses since
// there are too many: it takes 100 a second from all its clients together.
const (
	retries    = 5
	retryAfter = 100 * time.Millisecond
)

// patient makes a call, again if there are too many at the moment.
func patient[A any](ctx context.Context, call func() (A, error)) (A, error) {
	for try := 0; ; try++ {
		answer, err := call()
		if status.Code(err) != codes.ResourceExhausted || !strings.Contains(err.Error(), "rate limit") || try == retries {
			return answer, plainError(err)
		}
		select {
		case <-ctx.Done():
			return answer, plainError(err)
		case <-time.After(retryAfter):
		}
	}
}

// readPodResources asks the kubelet who has what: all pods, or only is one if that is named.
func (r *reading) readPodResources(ctx context.Context, socket string, only inspect.PodRef) {
	failed := atSocket(ctx, socket, kubeletTimeout, func(ctx context.Context, c *grpc.ClientConn) (err error) {
		client := podresources.NewPodResourcesListerClient(c)
		if only != (inspect.PodRef{}) {
			r.Pods, err = getPod(ctx, client, only)
		} else {
			r.Pods, err = listPods(ctx, client)
		}
		r.health(PodResources, err)
		if info, failed := os.Stat(socket); err == nil && failed == nil {
			r.Started = info.ModTime()
		}
		all, err := patient(ctx, func() (*podresources.AllocatableResourcesResponse, error) {
			return client.GetAllocatableResources(ctx, &podresources.AllocatableResourcesRequest{})
		})
		r.health(Allocatables, err)
		r.Allocatable = Allocatable{Devices: devicesOf(all.GetDevices()), CPUs: unique(all.GetCpuIds())}
		return nil
	})
	if failed != nil {
		r.health(PodResources, failed)
		r.health(Allocatables, failed)
	}
}

func listPods(ctx context.Context, client podresources.PodResourcesListerClient) ([]Pod, error) {
	list, err := patient(ctx, func() (*podresources.ListPodResourcesResponse, error) {
		return client.List(ctx, &podresources.ListPodResourcesRequest{})
	})
	var out []Pod
	for _, p := range list.GetPodResources() {
		out = append(out, podOf(p))
	}
	sortPods(out)
	return out, err
}

func sortPods(pods []Pod) {
	slices.SortStableFunc(pods, func(a, b Pod) int { return a.Ref.Compare(b.Ref) })
}

// getPod asks for one pod. Kubelets before 1.34 may not serve that, and list it among all. Of a pod that the
// kubelet does not know it returns nothing, and no error.
func getPod(ctx context.Context, client podresources.PodResourcesListerClient, ref inspect.PodRef) ([]Pod, error) {
	pod, err := getOne(ctx, client, ref)
	switch {
	case err == nil:
		return []Pod{podOf(pod)}, nil
	case strings.Contains(err.Error(), notFound(ref)):
		return nil, nil
	}
	all, listed := listPods(ctx, client)
	if listed != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p Pod) bool { return p.Ref != ref }), nil
}

// notFound is how a kubelet says that it does not know a pod (1.37.1, pkg/kubelet/apis/podresources). The
// code of the answer is Unknown.
func notFound(ref inspect.PodRef) string {
	return fmt.Sprintf("pod %s in namespace %s not found", ref.Name, ref.Namespace)
}

// ReadPods asks for pods one by one where the kubelet could not list them all, as when the answer is too
// large, and it says so in the Health of PodResources. refs are the pods that the node is known to have.
func (v *View) ReadPods(ctx context.Context, o Options, refs []inspect.PodRef) {
	h := v.Health[PodResources]
	if h.State != inspect.Broken || len(refs) == 0 || o.Pod != (inspect.PodRef{}) {
		return
	}
	o = o.withDefaults()
	_ = atSocket(ctx, o.Socket, kubeletTimeout, func(ctx context.Context, connection *grpc.ClientConn) error {
		client := podresources.NewPodResourcesListerClient(connection)
		v.Pods = nil
		for _, ref := range refs {
			one, cancel := context.WithTimeout(ctx, pluginTimeout) // a kubelet that works needs little
			pod, err := getOne(one, client, ref)
			cancel()
			if errors.Is(err, errNoAnswer) {
				break // nor will it of the others
			}
			if err == nil {
				v.Pods = append(v.Pods, podOf(pod))
			}
		}
		return nil
	})
	if len(v.Pods) == 0 {
		return
	}
	sortPods(v.Pods)
	h.Message += fmt.Sprintf("; asked one by one, it told of %d of %d pods", len(v.Pods), len(refs))
	v.Health[PodResources] = h
}

// getOne asks for one pod.
func getOne(ctx context.Context, client podresources.PodResourcesListerClient, ref inspect.PodRef) (*podresources.PodResources, error) {
	answer, err := patient(ctx, func() (*podresources.GetPodResourcesResponse, error) {
		return client.Get(ctx, &podresources.GetPodResourcesRequest{PodName: ref.Name, PodNamespace: ref.Namespace})
	})
	return answer.GetPodResources(), err
}

func podOf(p *podresources.PodResources) Pod {
	out := Pod{Ref: inspect.PodRef{Namespace: p.GetNamespace(), Name: p.GetName()},
		CPUs: unique(p.GetCpuIds())}
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
	slices.SortFunc(out, func(a, b ClaimUse) int { return a.Claim.Compare(b.Claim) })
	return out
}
