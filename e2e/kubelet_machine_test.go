package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
	"github.com/kubectl-dra/kubectl-dra/e2e/node"
)

// The drivers of every node, and what its device plugin offers.
const (
	gpuDriver = "gpu.example.com"
	nicDriver = "nic.example.com"
	widgets   = "example.com/widget"
)

// machine is a node with everything that runs on it.
type machine struct {
	*cluster.Kubelet
	drivers    map[string]*node.Driver
	publishing publishing
}

// publishing is how the drivers of a node reach the API server. A driver publishes devices again half a
// minute after its kubelet has deleted their slices; it can be held up, so that nothing has to be done within
// that time.
type publishing struct {
	mu   sync.Mutex
	held chan struct{} // until it is closed, no slice is created; nil lets all pass
}

// hold keeps drivers from creating slices until the function that it returns is called.
func (p *publishing) hold() (release func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	held := make(chan struct{})
	p.held = held
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.held = nil
		close(held)
	})
}

// client is the client of a driver.
func (p *publishing) client(t *testing.T, c *cluster.Cluster) kubernetes.Interface {
	t.Helper()
	config := c.Config(cluster.Admin)
	config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			p.mu.Lock()
			held := p.held
			p.mu.Unlock()
			if held != nil && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/resourceslices") {
				select {
				case <-held:
				case <-r.Context().Done():
				}
			}
			return inner.RoundTrip(r)
		})
	})
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// furnish starts the drivers and the device plugin of a node.
func furnish(t *testing.T, c *cluster.Cluster, k *cluster.Kubelet) *machine {
	t.Helper()
	m := &machine{Kubelet: k, drivers: map[string]*node.Driver{}}
	m.start(t, c, gpuDriver, gpus())
	m.start(t, c, nicDriver, nics())
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	p, err := node.StartDevicePlugin(ctx, k.Dir, widgets, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Stop)
	return m
}

// start starts a driver, which ends with the test and says what went wrong in its log.
func (m *machine) start(t *testing.T, c *cluster.Cluster, driver string, devices []resourcev1.Device) {
	t.Helper()
	d, err := node.StartDriver(t.Context(), node.DriverOptions{Name: driver, Node: m.Name, KubeletDir: m.Dir,
		Client: m.publishing.client(t, c), Devices: devices, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	m.drivers[driver] = d
}

// gpus are two exclusive devices and one that claims share by its memory.
func gpus() []resourcev1.Device {
	var devices []resourcev1.Device
	for i := range 2 {
		devices = append(devices, resourcev1.Device{Name: fmt.Sprint("gpu-", i),
			Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{
				"model": {StringValue: new("whole")}, "index": {IntValue: new(int64(i))}, "driverVersion": {VersionValue: new("1.2.3")}, "ecc": {BoolValue: new(true)}},
			Capacity: map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("40Gi")}},
		})
	}
	return append(devices, resourcev1.Device{Name: "shared", AllowMultipleAllocations: new(true),
		Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: new("shared")}},
		Capacity:   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{"memory": {Value: resource.MustParse("10Gi")}},
	})
}

func nics() []resourcev1.Device {
	return []resourcev1.Device{{Name: "nic-0", Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"gbps": {IntValue: new(int64(100))}}}}
}

// registered waits until the kubelet knows the drivers and the device plugin, and the slices are there.
func (m *machine) registered(t *testing.T, c *cluster.Cluster, name string) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		for driver, d := range m.drivers {
			if !d.Registered() {
				return fmt.Errorf("the kubelet of %s does not know driver %s", name, driver)
			}
		}
		return errors.Join(slicesOf(ctx, c, name, gpuDriver, nicDriver), m.offersWidgets(ctx, c))
	})
}

func (m *machine) offersWidgets(ctx context.Context, c *cluster.Cluster) error {
	object, err := c.Client().CoreV1().Nodes().Get(ctx, m.Name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if n := object.Status.Allocatable[widgets]; n.Value() != 2 {
		return fmt.Errorf("node %s offers %v %s, want 2", m.Name, n.Value(), widgets)
	}
	return nil
}

// slicesOf returns an error unless exactly these drivers have a slice on the node.
func slicesOf(ctx context.Context, c *cluster.Cluster, node string, drivers ...string) error {
	list, err := c.Client().ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil {
		return err
	}
	var have []string
	for i := range list.Items {
		have = append(have, list.Items[i].Spec.Driver)
	}
	slices.Sort(have)
	if !slices.Equal(have, drivers) {
		return fmt.Errorf("drivers with slices on node %s: %v, want %v", node, have, drivers)
	}
	return nil
}

// must runs the plugin and fails the test when it does not end with the given code.
func must(t *testing.T, c *cluster.Cluster, code int, args ...string) cluster.Result {
	t.Helper()
	result := c.Plugin(t, cluster.Admin, args...)
	if result.Code != code {
		t.Fatalf("exit code %d, want %d\n%v", result.Code, code, result)
	}
	return result
}

// told checks that the runtime was told to inject exactly the devices of the claims into the only
// container of a pod, and that the drivers prepared them.
func told(t *testing.T, m *machine, pod string, claims ...*resourcev1.ResourceClaim) {
	t.Helper()
	var want []string
	for _, claim := range claims {
		for _, result := range claim.Status.Allocation.Devices.Results {
			want = append(want, node.CDIDevice(result.Driver, claim.UID, result.Device))
			if m.drivers[result.Driver].Prepared()[claim.UID] != "default/"+claim.Name {
				t.Errorf("driver %s has not prepared claim %s", result.Driver, claim.Name)
			}
		}
	}
	created := m.Runtime.Containers("default", pod)
	if len(created) != 1 {
		t.Fatalf("the runtime of %s created %d containers for pod %s, want 1", m.Name, len(created), pod)
	}
	slices.Sort(want)
	slices.Sort(created[0].CDI)
	if diff := cmp.Diff(want, created[0].CDI); diff != "" {
		t.Errorf("CDI devices of pod %s on %s (-allocated +injected):\n%s", pod, m.Name, diff)
	}
}

// claimPod is a pod with one container that uses all its claims.
func claimPod(name, spec string, claims ...string) string {
	var uses []string
	for _, claim := range claims {
		first, _, _ := strings.Cut(claim, ",")
		uses = append(uses, first+"}")
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: {name: %s}
spec:
  %s
  terminationGracePeriodSeconds: 1
  resourceClaims: [%s]
  containers: [{name: main, image: example.com/none, resources: {claims: [%s]}}]
`, name, spec, strings.Join(claims, ", "), strings.Join(uses, ", "))
}

// runs waits until a pod runs and returns its node.
func runs(t *testing.T, c *cluster.Cluster, name string) (on string) {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		pod, err := c.Client().CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("pod %s is %s on node %q: %v %v", name, pod.Status.Phase, pod.Spec.NodeName, pod.Status.Conditions, pod.Status.ContainerStatuses)
		}
		on = pod.Spec.NodeName
		return nil
	})
	return on
}

// finish deletes a pod and waits until nothing is left of it: its claims are neither prepared on the node
// nor reserved nor, for the controller takes that away with the last pod, allocated.
func finish(t *testing.T, c *cluster.Cluster, m *machine, name string) {
	t.Helper()
	pods := c.Client().CoreV1().Pods("default")
	used := claimsOf(t, c, name)
	if err := pods.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	cluster.Eventually(t, func(ctx context.Context) error {
		if _, err := pods.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return errors.Join(err, fmt.Errorf("pod %s still exists", name))
		}
		claims, err := c.Client().ResourceV1().ResourceClaims("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range claims.Items {
			if claim := &claims.Items[i]; used[claim.Name] && claim.Status.Allocation != nil {
				return fmt.Errorf("claim %s of pod %s is still allocated: %v", claim.Name, name, claim.Status.ReservedFor)
			}
		}
		for driver, d := range m.drivers {
			for _, claim := range d.Prepared() {
				if used[strings.TrimPrefix(claim, "default/")] {
					return fmt.Errorf("claim %s is still prepared by driver %s on %s", claim, driver, m.Name)
				}
			}
		}
		return nil
	})
}

// claimsOf returns the names of the claims that are reserved for a pod.
func claimsOf(t *testing.T, c *cluster.Cluster, pod string) map[string]bool {
	t.Helper()
	claims, err := c.Client().ResourceV1().ResourceClaims("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for i := range claims.Items {
		for _, consumer := range claims.Items[i].Status.ReservedFor {
			if consumer.Name == pod {
				names[claims.Items[i].Name] = true
			}
		}
	}
	if len(names) == 0 {
		t.Fatalf("no claim is reserved for pod %s", pod)
	}
	return names
}

// listedClaim is a row of `get claims`.
type listedClaim struct {
	Name, State, Node string
	Pods              []string
}

func claimRow(t *testing.T, c *cluster.Cluster, name string) listedClaim {
	t.Helper()
	var list struct{ Items []listedClaim }
	result := must(t, c, 0, "get", "claims", "-o", "json")
	result.JSON(t, &list)
	i := slices.IndexFunc(list.Items, func(row listedClaim) bool { return row.Name == name })
	if i < 0 {
		t.Fatalf("claim %s is not listed\n%v", name, result)
	}
	return list.Items[i]
}
