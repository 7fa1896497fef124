package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Node is a real kubelet with a container runtime that runs nothing.
type Node struct {
	Name string
	// Dir is the directory that the kubelet takes for /var/lib/kubelet.
	Dir string
	// runtime is the process of the container runtime, which prints the CDI devices of containers.
	runtime *process
}

// CDIDevices returns what the kubelet has asked the container runtime for, one line "namespace/pod
// container device" for each CDI device, in the order of the requests.
func (n *Node) CDIDevices(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile(n.runtime.log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// unshare are the flags that give a process mounts of its own: as root, or in a user namespace.
func unshare() ([]string, error) {
	flags := []string{"--mount"}
	if os.Getuid() != 0 {
		flags = []string{"--user", "--map-root-user", "--mount"}
	}
	if out, err := exec.Command("unshare", append(flags, "true")...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("unshare %s: %w: %s", strings.Join(flags, " "), err, out)
	}
	return flags, nil
}

// StartNode starts a kubelet, with a DRA driver gpu.example.com that publishes some devices and a device
// plugin for example.com/widget, and waits until the node is ready. The test is skipped where a process
// cannot have mounts of its own, without which a kubelet would write to the machine.
func (c *Cluster) StartNode(t testing.TB, name string, devices int) *Node {
	t.Helper()
	private, err := unshare()
	if err != nil {
		t.Skipf("kubelets need mounts of their own, and this machine does not allow that: %v", err)
	}
	n := &Node{Name: name, Dir: c.path(filepath.Join(name, "lib", "kubelet"))}
	if err := c.startNode(n, private, devices); err != nil {
		t.Fatalf("starting node %s: %v", name, err)
	}
	c.waitForNode(t, name, devices)
	return n
}

func (c *Cluster) startNode(n *Node, private []string, devices int) error {
	home, err := root()
	if err != nil {
		return err
	}
	bin, err := build(home, c.version, kubelet)
	if err != nil {
		return err
	}
	helpers := map[string]string{}
	for _, name := range []string{"containers", "dradriver", "deviceplugin"} {
		if helpers[name], err = buildOwn(home, "./node/"+name); err != nil {
			return err
		}
	}
	dir := filepath.Dir(filepath.Dir(n.Dir))
	if err := c.writeKubeletFiles(dir); err != nil {
		return err
	}
	start := func(name, binary string, args ...string) (*process, error) {
		p, err := startNamed(name, dir, binary, args...)
		if err == nil {
			c.processes = append(c.processes, p)
		}
		return p, err
	}
	if n.runtime, err = start("containers", helpers["containers"], "--socket="+filepath.Join(dir, "cri.sock")); err != nil {
		return err
	}
	script := append(private, "sh", "-e", "-c", mounts, "sh", dir, filepath.Join(bin, "kubelet"),
		"--config="+filepath.Join(dir, "config.yaml"), "--kubeconfig="+c.Kubeconfig(Admin), "--cert-dir="+filepath.Join(dir, "certs"),
		"--hostname-override="+n.Name, "--v=2")
	if _, err = start("kubelet", "unshare", script...); err != nil {
		return err
	}
	if _, err = start("dradriver", helpers["dradriver"], "--kubeconfig="+c.Kubeconfig(Admin), "--node="+n.Name, fmt.Sprintf("--devices=%d", devices),
		"--registry="+filepath.Join(n.Dir, "plugins_registry"), "--data="+filepath.Join(n.Dir, "plugins", "gpu.example.com")); err != nil {
		return err
	}
	_, err = start("deviceplugin", helpers["deviceplugin"], "--dir="+filepath.Join(n.Dir, "device-plugins"))
	return err
}

// mounts replaces, for the kubelet alone, what it would write to: its directory (the one for device
// plugins cannot be chosen), /var/log, and kernel settings, which it sets to what they are here.
const mounts = `
dir=$1; shift
mount --bind "$dir/lib" /var/lib
mount --bind "$dir/log" /var/log
for setting in vm/overcommit_memory kernel/panic kernel/panic_on_oops; do
  mount --bind "$dir/sys/${setting#*/}" /proc/sys/$setting
done
exec "$@"`

// writeKubeletFiles writes the configuration of a kubelet and what is mounted for it.
func (c *Cluster) writeKubeletFiles(dir string) error {
	for _, name := range []string{"lib/kubelet/device-plugins", "lib/kubelet/plugins_registry", "lib/kubelet/plugins", "log", "sys", "certs"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o750); err != nil {
			return err
		}
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	gates := ""
	if os.Getuid() != 0 {
		gates = "featureGates: {KubeletInUserNamespace: true}"
	}
	files := map[string]string{
		"sys/overcommit_memory": "1", "sys/panic": "10", "sys/panic_on_oops": "1",
		"config.yaml": fmt.Sprintf(kubeletConfig, filepath.Join(dir, "cri.sock"), ports[0], ports[1], filepath.Join(dir, "log"), dir, gates),
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	return nil
}

const kubeletConfig = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: unix://%s
address: 127.0.0.1
port: %s
healthzBindAddress: 127.0.0.1
healthzPort: %s
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
failCgroupV1: false
failSwapOn: false
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
oomScoreAdj: 0
maxOpenFiles: 65536
podLogsDir: %s/pods
volumePluginDir: %s/volumeplugins
nodeStatusUpdateFrequency: 1s
evictionHard: {memory.available: 0%%, nodefs.available: 0%%, nodefs.inodesFree: 0%%, imagefs.available: 0%%}
%s
`

// waitForNode waits until a node is ready, has its devices and takes pods.
func (c *Cluster) waitForNode(t testing.TB, name string, devices int) {
	t.Helper()
	Eventually(t, 60*time.Second, func(ctx context.Context) error {
		if err := c.alive(); err != nil {
			t.Fatal(err)
		}
		node, err := c.client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status != corev1.ConditionTrue {
				return fmt.Errorf("node %s is not ready: %s", name, condition.Message)
			}
		}
		if n := node.Status.Allocatable.Name("example.com/widget", ""); n.IsZero() {
			return fmt.Errorf("the device plugin of node %s has not registered", name)
		}
		slices, err := c.client.ResourceV1().ResourceSlices().List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + name})
		if err != nil {
			return err
		}
		if len(slices.Items) != 1 || len(slices.Items[0].Spec.Devices) != devices {
			return fmt.Errorf("the driver of node %s has not published its devices", name)
		}
		// The controller that would take the taint of a new node off is not there.
		_, err = c.client.CoreV1().Nodes().Patch(ctx, name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
		return err
	})
}
