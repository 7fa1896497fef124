package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/e2e/node"
)

// Kubelet is a running kubelet with a container runtime of its own. It sees its directory as
// /var/lib/kubelet, so several run beside each other, and beside one that the machine may have.
type Kubelet struct {
	// Name is that of its node.
	Name string
	// Dir is its root directory, as seen from outside and from inside.
	Dir string
	// Runtime runs its containers, also while the kubelet is stopped.
	Runtime *node.Runtime

	options KubeletOptions
	home    string // of everything it may write
	cluster *Cluster
	space   isolation
	binary  string
	port    string // of its health check
	process *process
}

// KubeletOptions say how a kubelet is configured beyond what all are.
type KubeletOptions struct {
	// FeatureGates are those of the kubelet.
	FeatureGates map[string]bool
	// Configuration are further lines of its KubeletConfiguration.
	Configuration string
}

// BuildKubelet compiles the kubelet of the default version, which keeps all processors busy for a minute the
// first time: better before the test runs beside others, whose clusters would have to wait. The test is
// skipped where the kernel allows no mount namespaces.
func BuildKubelet(t testing.TB) {
	t.Helper()
	if _, err := isolate(); err != nil {
		t.Skipf("kubelets need mount namespaces (root or unprivileged user namespaces): %v", err)
	}
	home, err := root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := build(home, Default, kubelet); err != nil {
		t.Fatal(err)
	}
}

// StartKubelets starts one kubelet for each name and returns when their nodes take pods. All of it ends
// with the test. The test is skipped where the kernel allows no mount namespaces.
func (c *Cluster) StartKubelets(t testing.TB, names ...string) []*Kubelet {
	t.Helper()
	return c.StartKubeletsWith(t, KubeletOptions{}, names...)
}

// StartKubeletsWith is StartKubelets with options, which are the same for each.
func (c *Cluster) StartKubeletsWith(t testing.TB, options KubeletOptions, names ...string) []*Kubelet {
	t.Helper()
	space, err := isolate()
	if err != nil {
		t.Skipf("kubelets need mount namespaces (root or unprivileged user namespaces): %v", err)
	}
	home, err := root()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := build(home, c.version, kubelet)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	var kubelets []*Kubelet
	for _, name := range names {
		k := &Kubelet{Name: name, options: options, cluster: c, space: space, binary: filepath.Join(bin, "kubelet")}
		if err := k.prepare(t); err != nil {
			t.Fatalf("preparing kubelet %s: %v", name, err)
		}
		t.Cleanup(func() { k.end(t) })
		k.Start(t)
		kubelets = append(kubelets, k)
	}
	for _, k := range kubelets {
		k.join(t)
	}
	t.Logf("%d kubelets ready after %v", len(names), time.Since(begin).Round(time.Millisecond))
	return kubelets
}

// prepare makes the directories, the runtime and the configuration. The directory is not that of the
// test, whose name could be too long for a unix socket.
func (k *Kubelet) prepare(t testing.TB) error {
	var err error
	if k.home, err = os.MkdirTemp("", "dra-"); err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(k.home); err != nil {
			t.Errorf("removing the directory of kubelet %s: %v", k.Name, err)
		}
	})
	k.Dir = filepath.Join(k.home, "lib", "kubelet")
	for _, dir := range []string{k.Dir, filepath.Join(k.Dir, "plugins_registry"), filepath.Join(k.home, "log", "pods"), filepath.Join(k.home, "volumeplugins")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := writeKernelParameters(filepath.Join(k.home, "sysctl")); err != nil {
		return err
	}
	if k.Runtime, err = node.StartRuntime(k.home); err != nil {
		return err
	}
	t.Cleanup(k.Runtime.Stop)
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	k.port = ports[1]
	return os.WriteFile(filepath.Join(k.home, "kubelet.yaml"), []byte(k.configuration(ports[0])), 0o600)
}

// configuration is that of a kubelet which has no control groups, limits and disks to look after.
func (k *Kubelet) configuration(port string) string {
	all := map[string]bool{"KubeletInUserNamespace": k.space.user}
	maps.Copy(all, k.options.FeatureGates)
	gates, err := json.Marshal(all)
	if err != nil {
		panic(err) // a map of this type can be written
	}
	return fmt.Sprintf(`apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
containerRuntimeEndpoint: %s
address: 127.0.0.1
port: %s
healthzBindAddress: 127.0.0.1
healthzPort: %s
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupsPerQOS: false
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
localStorageCapacityIsolation: false
makeIPTablesUtilChains: false
oomScoreAdj: 0
maxOpenFiles: 65536
evictionHard: {memory.available: 0%%, nodefs.available: 0%%, nodefs.inodesFree: 0%%, imagefs.available: 0%%}
nodeStatusUpdateFrequency: 1s
syncFrequency: 2s
podLogsDir: %s
volumePluginDir: %s
featureGates: %s
%s`, k.Runtime.Endpoint(), port, k.port, filepath.Join(k.home, "log", "pods"), filepath.Join(k.home, "volumeplugins"), gates, k.options.Configuration)
}

// Start starts the kubelet and waits until it is healthy.
func (k *Kubelet) Start(t testing.TB) {
	t.Helper()
	// Log errors about a machine that has no cgroups of its own are expected; see the README.
	cmd := exec.Command("/bin/sh", "-c", enter, "sh", k.home, k.binary, "--config="+filepath.Join(k.home, "kubelet.yaml"),
		"--kubeconfig="+k.cluster.Kubeconfig(Admin), "--root-dir="+k.Dir, "--cert-dir="+filepath.Join(k.home, "pki"),
		"--hostname-override="+k.Name, "--v=2")
	cmd.SysProcAttr = k.space.attributes()
	var err error
	if k.process, err = launch("kubelet-"+k.Name, k.home, cmd); err != nil {
		t.Fatalf("starting kubelet %s: %v", k.Name, err)
	}
	Eventually(t, func(ctx context.Context) error {
		if k.process.ended() {
			t.Fatalf("kubelet %s ended: %v\n%s", k.Name, k.process.cmd.ProcessState, k.process.tail(15))
		}
		return k.healthy(ctx)
	})
}

// healthy asks the health check, which is on a port that was free before.
func (k *Kubelet) healthy(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+k.port+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }() // nothing in it is read
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("health check of kubelet %s: %s", k.Name, response.Status)
	}
	return nil
}

// Stop ends the kubelet; its runtime goes on. Start starts it again, with all that it has on its disk.
func (k *Kubelet) Stop() { k.process.stop(5 * time.Second) }

func (k *Kubelet) end(t testing.TB) {
	if k.process == nil {
		return
	}
	k.Stop()
	if t.Failed() {
		t.Logf("end of the log of kubelet %s:\n%s", k.Name, k.process.tail(15))
	}
}

// join waits until the node is ready and lets pods onto it: admission taints every new node as not
// ready, and the controller that would undo it is not there.
func (k *Kubelet) join(t testing.TB) {
	t.Helper()
	nodes := k.cluster.client.CoreV1().Nodes()
	Eventually(t, func(ctx context.Context) error {
		node, err := nodes.Get(ctx, k.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if !ready(node) {
			return fmt.Errorf("node %s is not ready: %v", k.Name, node.Status.Conditions)
		}
		if len(node.Spec.Taints) == 0 {
			return nil
		}
		_, err = nodes.Patch(ctx, k.Name, types.MergePatchType, []byte(`{"spec":{"taints":null}}`), metav1.PatchOptions{})
		return errors.Join(err, fmt.Errorf("node %s had taints", k.Name))
	})
}

func ready(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// kernelParameters are what a kubelet wants of the kernel. It finds these values in its mount namespace
// and leaves the machine as it is.
var kernelParameters = map[string]string{
	"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
	"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
}

func writeKernelParameters(dir string) error {
	for name, value := range kernelParameters {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// enter is the script that becomes a kubelet: its arguments are the home of the kubelet and its command
// line. Every mount is in the namespace that the process has to itself.
const enter = `set -e
home=$1; shift
mount --make-rprivate /
cd "$home/sysctl"
for parameter in */* */*/*; do
  if [ -f "$parameter" ] && [ -e "/proc/sys/$parameter" ]; then mount --bind "$parameter" "/proc/sys/$parameter"; fi
done
cd "$home"
mount --bind log /var/log
mount --bind lib /var/lib
exec "$@"`
