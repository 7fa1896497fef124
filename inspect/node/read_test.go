package node_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/types"
	deviceplugin "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// listed is what real kubelets answered (1.36.3 and 1.37.1), put together: CDI devices that repeat, an entry
// twice, NUMA node 0 as an empty object, and a claim that is not prepared.
const listed = `{"podResources":[
 {"name":"uses-widget","namespace":"kl-test","containers":[{"name":"main","cpuIds":["3","2"],"memory":[{"memoryType":"memory","size":"4096","topology":{"nodes":[{"ID":"1"}]}}],
   "devices":[{"resourceName":"example.com/widget","deviceIds":["widget-1"],"topology":{"nodes":[{}]}},{"resourceName":"example.com/plain","deviceIds":["p"]}]}]},
 {"name":"stuck","namespace":"kl-test","containers":[{"name":"main","dynamicResources":[{"claimName":"not-yet","claimNamespace":"kl-test"}]}]},
 {"name":"uses-claim","namespace":"kl-test","containers":[{"name":"main","dynamicResources":[{"claimName":"two","claimNamespace":"kl-test","claimResources":[
   {"cdiDevices":[{"name":"example.test/gpu=a"}],"driverName":"gpu.example.test","poolName":"n1","deviceName":"gpu-1"},
   {"cdiDevices":[{"name":"example.test/gpu=a"},{"name":"example.test/gpu=b"}],"driverName":"gpu.example.test","poolName":"n1","deviceName":"gpu-0"},
   {"cdiDevices":[{"name":"example.test/gpu=a"}],"driverName":"gpu.example.test","poolName":"n1","deviceName":"gpu-1"},
   {"driverName":"gpu.example.test","poolName":"n1","deviceName":"gpu-1","shareId":"s"}]}]},{"name":"sidecar"}]}]}`

const allocatable = `{"devices":[{"resourceName":"example.com/widget","deviceIds":["w1"],"topology":{"nodes":[{}]}},
 {"resourceName":"example.com/widget","deviceIds":["w1"],"topology":{"nodes":[{"ID":"1"}]}}],"cpuIds":["1","0"]}`

func message[T proto.Message](t *testing.T, into T, text string) T {
	t.Helper()
	if err := protojson.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
	return into
}

func read(t *testing.T, k *kubelet) *node.View {
	t.Helper()
	return node.Read(t.Context(), node.Options{Dir: k.dir, Sys: filepath.Join(k.dir, "sys")})
}

func dra(pool, device, share string) node.Device {
	return node.Device{DeviceID: inspect.DeviceID{Driver: "gpu.example.test", Pool: pool, Device: device}, Share: share}
}

func TestPodResources(t *testing.T) {
	k := newKubelet(t)
	k.list, k.all = message(t, &podresources.ListPodResourcesResponse{}, listed), message(t, &podresources.AllocatableResourcesResponse{}, allocatable)
	k.servePodResources(t)
	v := read(t, k)
	ref := func(name string) inspect.PodRef { return inspect.PodRef{Namespace: "kl-test", Name: name} }
	claim := func(name string, devices ...node.Device) []node.ClaimUse {
		return []node.ClaimUse{{Claim: inspect.ClaimRef{Namespace: "kl-test", Name: name}, Devices: devices}}
	}
	want := []node.Pod{
		{Ref: ref("stuck"), Containers: []node.Container{{Name: "main", Claims: claim("not-yet")}}},
		{Ref: ref("uses-claim"), Containers: []node.Container{{Name: "main", Claims: claim("two", dra("n1", "gpu-0", ""), dra("n1", "gpu-1", ""), dra("n1", "gpu-1", "s"))},
			{Name: "sidecar"}}},
		{Ref: ref("uses-widget"), Containers: []node.Container{{Name: "main", CPUs: []int64{2, 3}, Memory: []node.Memory{{Type: "memory", Size: 4096, NUMA: []int64{1}}},
			Devices: []node.PluginDevice{{Resource: "example.com/plain", ID: "p"}, {Resource: "example.com/widget", ID: "widget-1", NUMA: []int64{0}}}}}},
	}
	if diff := cmp.Diff(want, v.Pods); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(node.Allocatable{Devices: []node.PluginDevice{{Resource: "example.com/widget", ID: "w1", NUMA: []int64{0, 1}}}, CPUs: []int64{0, 1}}, v.Allocatable); diff != "" {
		t.Errorf("allocatable (-want +got):\n%s", diff)
	}
	if !v.Read(node.PodResources) || v.Read(node.ClaimCheckpoint) || !v.Any() {
		t.Errorf("health: %+v", v.Health)
	}
}

// TestLargeAnswer lists more than gRPC takes unless it is told to.
func TestLargeAnswer(t *testing.T) {
	k := newKubelet(t)
	k.list = &podresources.ListPodResourcesResponse{PodResources: []*podresources.PodResources{{Name: strings.Repeat("n", 5<<20)}}}
	k.servePodResources(t)
	if v := read(t, k); len(v.Pods) != 1 {
		t.Errorf("health: %+v", v.Health[node.PodResources])
	}
}

func TestPodResourcesFail(t *testing.T) {
	k := newKubelet(t)
	k.err = errors.New("rate limit\x1b[31m exceeded")
	k.servePodResources(t)
	v := read(t, k)
	if h := v.Health[node.PodResources]; h.State != inspect.Broken || !strings.HasPrefix(h.Message, "Unknown: rate limit") || strings.Contains(h.Message, "\x1b") {
		t.Errorf("health %+v, want the safe text of the error", h)
	}
	k.hang = true
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if h := node.Read(ctx, node.Options{Dir: k.dir}).Health[node.PodResources]; h.State != inspect.Broken || h.Message != "it did not answer in time" {
		t.Errorf("health of a kubelet that hangs: %+v", h)
	}
}

// TestHangingNode has a kubelet and plugins that take connections and never answer, more of them than are
// asked at once. All is told of within the time of the kubelet, and what answers beside them is known.
func TestHangingNode(t *testing.T) {
	t.Parallel() // it waits most of the time
	k := newKubelet(t)
	hang := func(name string) {
		path := filepath.Join(k.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", path) // the kernel takes connections by itself
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
	}
	hang("pod-resources/kubelet.sock")
	hang("pods-api/pods-api.sock")
	for i := range 70 {
		hang(fmt.Sprintf("plugins_registry/a%d.sock", i))
		hang(fmt.Sprintf("device-plugins/a%d.sock", i))
	}
	k.serve(t, "plugins_registry/z.sock", func(s *grpc.Server) {
		registration.RegisterRegistrationServer(s, &registered{info: &registration.PluginInfo{Type: node.DRAPlugin, Name: "gpu.example.test"}})
	})
	k.write(t, string(node.CPUCheckpoint), cpuState)
	start := time.Now()
	v := read(t, k)
	v.ReadPods(t.Context(), node.Options{Dir: k.dir}, []inspect.PodRef{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}})
	if took := time.Since(start); took > 40*time.Second { // 10 s for the kubelet and 2 s for the first pod; one after the other it would be more than 60
		t.Errorf("it took %v", took)
	}
	for _, s := range []node.Source{node.PodResources, node.Allocatables, node.PodsAPI} {
		if h := v.Health[s]; h.State != inspect.Broken || h.Message != "it did not answer in time" {
			t.Errorf("%s: %+v", s, h)
		}
	}
	if got := len(v.Unanswered()); got != 140 || len(v.Plugins) != 141 || v.CPUs == nil {
		t.Errorf("%d of %d plugins did not answer, CPUs %v; want 140 of 141, and CPUs", got, len(v.Plugins), v.CPUs)
	}
}

const (
	deviceState = `{"Data":{"PodDeviceEntries":[{"PodUID":"u1","ContainerName":"main","ResourceName":"example.com/widget","DeviceIDs":{"0":["w2","w1"],"1":["w1"],"-1":["w3"]},"AllocResp":"Eg=="}],` +
		`"RegisteredDevices":{"example.com/widget":["w2","w1"],"example.com/gone":null}},"Checksum":1}`
	claimState = `{"kind":"DRACheckpoint","apiVersion":"checkpoint.dra.kubelet.k8s.io/v1","ClaimInfoStateList":[{"ClaimUID":"c1","ClaimName":"two","Namespace":"ml","PodUIDs":{"u2":{},"u1":{}},` +
		`"DriverState":{"gpu.example.test":{"Devices":[{"PoolName":"n1","DeviceName":"gpu-1","ShareID":"s","RequestNames":["a"],"CDIDeviceIDs":["x=1"]},{"PoolName":"n1","DeviceName":"gpu-0","ShareID":null,"RequestNames":null,"CDIDeviceIDs":null}]},"net.example.test":{"Devices":null}}}]}`
	cpuState    = `{"policyName":"static","defaultCpuSet":"0-1,4","entries":{"u1":{"main":"2-3"}},"checksum":7}`
	newCPUState = `{"policyName":"old","defaultCpuSet":"","checksum":7,"data":"{\"policyName\":\"static\",\"defaultCpuSet\":\"0-1,4\",\"entries\":{\"u1\":{\"main\":\"2-3\"}},\"baselines\":{}}","dataChecksum":9}`
	memoryState = `{"policyName":"Static","machineState":{"0":{"numberOfAssignments":1,"memoryMap":{},"cells":[0]}},"entries":{"u1":{"main":[{"numaAffinity":[1,0],"type":"memory","size":512}]}},"checksum":1}`
)

func TestCheckpoints(t *testing.T) {
	k := newKubelet(t)
	k.write(t, "device-plugins/kubelet_internal_checkpoint", deviceState)
	k.write(t, "dra_manager_state", sealed(claimState))
	k.write(t, "cpu_manager_state", cpuState)
	k.write(t, "memory_manager_state", memoryState)
	v := read(t, k)
	want := &node.View{
		Registered: []node.RegisteredDevices{{Resource: "example.com/gone"}, {Resource: "example.com/widget", IDs: []string{"w1", "w2"}}},
		Claims: []node.PreparedClaim{{Claim: inspect.ClaimRef{Namespace: "ml", Name: "two"}, UID: "c1", Pods: []types.UID{"u1", "u2"},
			Drivers: []string{"gpu.example.test", "net.example.test"}, Devices: []node.PreparedDevice{
				{Device: dra("n1", "gpu-0", "")}, {Device: dra("n1", "gpu-1", "s"), CDI: []string{"x=1"}}}}},
		CPUs:   &node.CPUState{Policy: "static", Shared: []int64{0, 1, 4}, Exclusive: []int64{2, 3}},
		Health: v.Health,
	}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("view (-want +got):\n%s", diff)
	}
	if newer, err := node.ParseCPUs([]byte(newCPUState)); err != nil || !cmp.Equal(newer, want.CPUs) {
		t.Errorf("the CPU state of 1.37: %+v %v", newer, err)
	}
}

// TestBrokenFiles has each checkpoint be something else than the kubelet writes.
func TestBrokenFiles(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte(cpuState), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, break_ := range map[string]func(path string) error{
		"no JSON":             func(path string) error { return os.WriteFile(path, []byte("{"), 0o600) },
		"empty":               func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"null":                func(path string) error { return os.WriteFile(path, []byte("null"), 0o600) },
		"a directory":         func(path string) error { return os.Mkdir(path, 0o700) },
		"a pipe":              makePipe,
		"a link out of there": func(path string) error { return os.Symlink(outside, path) },
		"too large": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 33<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKubelet(t)
			if err := os.Mkdir(filepath.Join(k.dir, "device-plugins"), 0o700); err != nil {
				t.Fatal(err)
			}
			files := []node.Source{node.DeviceCheckpoint, node.ClaimCheckpoint, node.CPUCheckpoint, node.MemoryCheckpoint}
			for _, file := range files {
				if err := break_(filepath.Join(k.dir, string(file))); err != nil {
					t.Fatal(err)
				}
			}
			v := read(t, k)
			for _, file := range files {
				h := v.Health[file]
				if h.State != inspect.Broken || h.Message == "" || name == "too large" && !strings.Contains(h.Message, "larger than 32 MiB") {
					t.Errorf("%s: %+v, want Broken", file, h)
				}
			}
			if v.CPUs != nil || v.Claims != nil || v.Registered != nil {
				t.Errorf("view %+v, want nothing of these files", v)
			}
		})
	}
	if _, err := node.ParseClaims([]byte(strings.Replace(sealed(claimState), "gpu-1", "gpu-2", 1))); err == nil || !strings.Contains(err.Error(), "checksum") {
		t.Errorf("changed content: %v, want a wrong checksum", err)
	}
}

func TestPlugins(t *testing.T) {
	k := newKubelet(t)
	driver := &registered{info: &registration.PluginInfo{Type: node.DRAPlugin, Name: "gpu.example.test", Endpoint: "/x/dra.sock", SupportedVersions: []string{"v1.DRAPlugin", "v1beta1.DRAPlugin"}}}
	k.serve(t, "plugins_registry/gpu-reg.sock", func(s *grpc.Server) { registration.RegisterRegistrationServer(s, driver) })
	k.serve(t, "plugins_registry/deep/csi.sock", func(s *grpc.Server) {
		registration.RegisterRegistrationServer(s, &registered{info: &registration.PluginInfo{Type: node.CSIPlugin, Name: "csi.example.test"}})
	})
	k.serve(t, "plugins_registry/.hidden.sock", func(*grpc.Server) {})
	device := &plugin{}
	k.serve(t, "device-plugins/widget.sock", func(s *grpc.Server) { deviceplugin.RegisterDevicePluginServer(s, device) })
	k.serve(t, "device-plugins/kubelet.sock", func(*grpc.Server) {})
	left := filepath.Join(k.dir, "plugins_registry", "left.sock")
	if fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); err != nil || syscall.Bind(fd, &syscall.SockaddrUnix{Name: left}) != nil || syscall.Close(fd) != nil {
		t.Fatal("cannot leave a socket behind")
	}
	v := read(t, k)
	var got []string
	for _, p := range v.Plugins {
		got = append(got, strings.Join([]string{p.Type, p.Name, p.Socket, p.Endpoint, strings.Join(p.Versions, " "), strings.Join(p.Options, " "), string(p.Health.State)}, "|"))
		if p.Since.IsZero() {
			t.Errorf("%s has no time", p.Socket)
		}
	}
	want := []string{
		"||plugins_registry/left.sock||||Broken",
		"CSIPlugin|csi.example.test|plugins_registry/deep/csi.sock||||Synced",
		"DRAPlugin|gpu.example.test|plugins_registry/gpu-reg.sock|/x/dra.sock|v1.DRAPlugin v1beta1.DRAPlugin||Synced",
		"DevicePlugin||device-plugins/widget.sock||v1beta1|GetPreferredAllocationAvailable|Synced",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	if device.streams.Load() != 0 || driver.notified.Load() != 0 {
		t.Error("a call was made that is the kubelet's")
	}
	if left := v.Unanswered(); len(left) != 1 || !strings.Contains(left[0].Health.Message, "refused") {
		t.Errorf("unanswered: %+v", left)
	}
}

func TestNoKubelet(t *testing.T) {
	v := node.Read(t.Context(), node.Options{Dir: filepath.Join(t.TempDir(), "none"), Sys: filepath.Join(t.TempDir(), "none")})
	for _, s := range node.Sources() {
		if v.Health[s].State != inspect.NotServed {
			t.Errorf("%s: %+v, want that there is none", s, v.Health[s])
		}
	}
	if v.Any() {
		t.Error("something was read")
	}
}

// TestTopology has a node with CPUs, one without, and what is no node.
func TestTopology(t *testing.T) {
	k := newKubelet(t)
	k.write(t, "sys/devices/system/node/node0/cpulist", "0,2\n")
	k.write(t, "sys/devices/system/node/node1/cpulist", "1,3\n")
	k.write(t, "sys/devices/system/node/node2/cpulist", "\n")
	k.write(t, "sys/devices/system/node/possible", "0-2\n")
	v := read(t, k)
	if diff := cmp.Diff(map[int64]int64{0: 0, 1: 1, 2: 0, 3: 1}, v.NUMAOfCPU); diff != "" || !v.Read(node.Topology) || v.Any() {
		t.Errorf("CPUs by NUMA node (-want +got):\n%s", diff)
	}
	k.write(t, "sys/devices/system/node/node1/cpulist", "0-99999999999")
	if v := read(t, k); v.NUMAOfCPU != nil || v.Health[node.Topology].State != inspect.Broken {
		t.Errorf("a broken list became %v, %+v", v.NUMAOfCPU, v.Health[node.Topology])
	}
}

func TestCPUSets(t *testing.T) {
	for _, text := range []string{"", "0", "0-3", "0-1,4,8-9"} {
		cpus, err := node.ParseCPUSet(text)
		if got := node.FormatCPUSet(cpus); err != nil || got != text {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "3-1", "-1", "0-4294967295", "0-65535,0-65535,0-65535", "1,"} {
		if cpus, err := node.ParseCPUSet(text); err == nil {
			t.Errorf("%q became %d CPUs", text, len(cpus))
		}
	}
}

func FuzzCheckpoints(f *testing.F) {
	for _, seed := range []string{deviceState, sealed(claimState), cpuState, newCPUState, memoryState, "null", `{"Data":null}`, `{"Data":"null"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if registered, err := node.ParseDevices(data); err != nil && registered != nil {
			t.Error("a broken file has devices")
		}
		for _, content := range []string{string(data), sealed(string(data))} {
			claims, err := node.ParseClaims([]byte(content))
			if err != nil && claims != nil {
				t.Error("a broken file has claims")
			}
			for _, c := range claims {
				for i := 1; i < len(c.Devices); i++ {
					if c.Devices[i-1].Compare(c.Devices[i].Device) >= 0 {
						t.Errorf("devices %v are not sorted, each once", c.Devices)
					}
				}
			}
		}
		if state, err := node.ParseCPUs(data); err == nil {
			if again, err := node.ParseCPUSet(node.FormatCPUSet(state.Shared)); err != nil || !cmp.Equal(again, state.Shared) {
				t.Errorf("%v became %v", state.Shared, again)
			}
		}
		_ = node.CheckMemory(data)
	})
}
