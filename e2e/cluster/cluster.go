package cluster

import (
	"cmp"
	"context"
	cryptorand "crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Admin is the user who may do everything.
const Admin = "admin"

// Default is the control plane that tests use unless they say otherwise: a directory of
// e2e/controlplane.
const Default = "v1.37"

// Options say what kind of cluster to start. The zero value is API server and scheduler of the default
// version with its default gates.
type Options struct {
	// Version is a directory of e2e/controlplane; "" means Default.
	Version string
	// Emulated is the older release that every component behaves like, such as "1.35"; "" is its own.
	Emulated string
	// FeatureGates are passed to every component, as "A=true,B=false".
	FeatureGates string
	// RuntimeConfig is that of kube-apiserver; "" serves every version of every API.
	RuntimeConfig string
	// Users are further users without groups; what they may do is RBAC objects of the test.
	Users []string
	// NoScheduler leaves the scheduler out: pods stay pending.
	NoScheduler bool
	// Controllers are those of kube-controller-manager to run, such as "resourceclaim-controller",
	// which makes claims from templates; none means that it is not started.
	Controllers []string
	// ServerFlags are further flags of kube-apiserver, such as "--max-requests-inflight=30".
	ServerFlags []string
}

// Cluster is a running control plane.
type Cluster struct {
	dir       string
	bin       string // the binaries
	version   string // a directory of e2e/controlplane
	address   string // of the API server
	etcd      string // its address
	processes []*process
	client    kubernetes.Interface
	dynamic   dynamic.Interface
	mapper    meta.RESTMapper

	kubeconfigs sync.Mutex // held while one is written
}

// Start starts a cluster that is stopped when the test ends. Everything that fails here ends the test.
func Start(t testing.TB, options Options) *Cluster {
	t.Helper()
	if options.Version == "" {
		options.Version = Default
	}
	home, err := root()
	if err != nil {
		t.Fatal(err)
	}
	c := &Cluster{dir: t.TempDir(), version: options.Version}
	if c.bin, err = build(home, options.Version, commands...); err != nil {
		t.Fatal(err)
	}
	// Not while the cluster runs: compiling keeps all processors from it for a minute.
	if _, err := plugin(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.stop(t) })
	begin := time.Now()
	if err := c.start(t.Context(), options); err != nil {
		t.Fatalf("starting a cluster: %v", err)
	}
	t.Logf("cluster %s ready after %v", options.Version, time.Since(begin).Round(time.Millisecond))
	return c
}

// start starts the parts in their order and waits until the API server is ready.
func (c *Cluster) start(ctx context.Context, options Options) error {
	ports, err := freePorts(3)
	if err != nil {
		return err
	}
	c.address = "https://127.0.0.1:" + ports[2]
	if err := c.writeKeys(); err != nil {
		return err
	}
	if err := c.writeTokens(append([]string{Admin}, options.Users...)); err != nil {
		return err
	}
	etcd := "http://127.0.0.1:" + ports[0]
	c.etcd = etcd
	if err := c.run("etcd", "--data-dir="+c.path("etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls="+etcd, "--advertise-client-urls="+etcd,
		"--listen-peer-urls=http://127.0.0.1:"+ports[1], "--initial-advertise-peer-urls=http://127.0.0.1:"+ports[1],
		"--initial-cluster=default=http://127.0.0.1:"+ports[1]); err != nil {
		return err
	}
	common := options.common()
	server := slices.Concat(common, []string{"--etcd-servers=" + etcd, "--bind-address=127.0.0.1", "--secure-port=" + ports[2],
		"--cert-dir=" + c.path("certs"), "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/24",
		"--token-auth-file=" + c.path("tokens.csv"), "--authorization-mode=RBAC", "--runtime-config=" + cmp.Or(options.RuntimeConfig, "api/all=true"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-signing-key-file=" + c.path("sa.key"),
		"--service-account-key-file=" + c.path("sa.key"), "--disable-admission-plugins=ServiceAccount"}, options.ServerFlags)
	if err := c.run("kube-apiserver", server...); err != nil {
		return err
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	if !options.NoScheduler {
		if err := c.run("kube-scheduler", append(common, "--kubeconfig="+c.Kubeconfig(Admin), "--leader-elect=false",
			"--secure-port=0", "--v=2")...); err != nil {
			return err
		}
	}
	if len(options.Controllers) > 0 {
		return c.run("kube-controller-manager", append(common, "--kubeconfig="+c.Kubeconfig(Admin), "--leader-elect=false",
			"--secure-port=0", "--controllers="+strings.Join(options.Controllers, ","))...)
	}
	return nil
}

// common are the flags of every component of Kubernetes.
func (o *Options) common() []string {
	flags := []string{"--feature-gates=" + o.FeatureGates}
	if o.Emulated != "" {
		flags = append(flags, "--emulated-version="+o.Emulated)
	}
	return slices.Clip(flags)
}

func (c *Cluster) path(name string) string { return filepath.Join(c.dir, name) }

func (c *Cluster) run(name string, args ...string) error {
	p, err := startProcess(c.dir, filepath.Join(c.bin, name), args...)
	if err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	return nil
}

// Run starts another program as a part of the cluster.
func (c *Cluster) Run(t testing.TB, binary string, args ...string) {
	t.Helper()
	p, err := startProcess(c.dir, binary, args...)
	if err != nil {
		t.Fatal(err)
	}
	c.processes = append(c.processes, p)
}

// FreePorts returns loopback ports that nothing listens on, each to one caller only.
func FreePorts(t testing.TB, n int) []string {
	t.Helper()
	ports, err := freePorts(n)
	if err != nil {
		t.Fatal(err)
	}
	return ports
}

// connect waits until the API server is ready and makes the clients and kubeconfig files.
func (c *Cluster) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		if err := c.alive(); err != nil {
			return err
		}
		err := c.ready(ctx)
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the API server: %w", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	var err error
	if c.client, err = kubernetes.NewForConfig(c.Config(Admin)); err != nil {
		return err
	}
	if c.dynamic, err = dynamic.NewForConfig(c.Config(Admin)); err != nil {
		return err
	}
	return c.discover()
}

// discover learns which kinds the server serves.
func (c *Cluster) discover() error {
	groups, err := restmapper.GetAPIGroupResources(c.client.Discovery())
	c.mapper = restmapper.NewDiscoveryRESTMapper(groups)
	return err
}

// alive returns an error when a part of the control plane has ended by itself.
func (c *Cluster) alive() error {
	for _, p := range c.processes {
		if p.ended() {
			return fmt.Errorf("%s ended: %v", p.name, p.cmd.ProcessState)
		}
	}
	return nil
}

func (c *Cluster) ready(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.Config(Admin))
	if err != nil {
		return err // the certificate may not have been written yet
	}
	if err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error(); err != nil {
		return err
	}
	// The server makes it in the background, and may be ready before.
	_, err = client.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})
	return err
}

// stop ends the processes, the last one first, and shows their logs if the test failed.
func (c *Cluster) stop(t testing.TB) {
	for _, p := range c.processes {
		if t.Failed() {
			t.Logf("end of the log of %s:\n%s", p.name, p.tail(15))
		}
	}
	for _, p := range slices.Backward(c.processes) {
		if p.name == "kube-apiserver" {
			p.stop(0) // it would wait for watchers for a minute, and nothing in it is worth keeping
		} else {
			p.stop(5 * time.Second)
		}
		if s := p.cmd.ProcessState; s != nil {
			t.Logf("%s took %v of CPU", p.name, (s.UserTime() + s.SystemTime()).Round(100*time.Millisecond))
		}
	}
}

// Restart kills a part of the control plane, leaves it dead for a while, and starts it again as it was. For
// the API server it waits until that is ready.
func (c *Cluster) Restart(t testing.TB, name string, pause time.Duration) {
	t.Helper()
	c.Halt(t, name)
	time.Sleep(pause)
	c.Resume(t, name)
}

// Halt kills a part of the control plane.
func (c *Cluster) Halt(t testing.TB, name string) {
	t.Helper()
	c.processes[c.part(t, name)].stop(0)
}

// Resume starts a part of the control plane that was halted, as it was.
func (c *Cluster) Resume(t testing.TB, name string) {
	t.Helper()
	at := c.part(t, name)
	old := c.processes[at]
	p, err := startProcess(c.dir, old.cmd.Path, old.cmd.Args[1:]...)
	if err != nil {
		t.Fatalf("restarting %s: %v", name, err)
	}
	c.processes[at] = p
	if name != "kube-apiserver" {
		return
	}
	if err := c.connect(t.Context()); err != nil {
		t.Fatalf("restarting %s: %v", name, err)
	}
}

// Configure kills the scheduler and has it, once it is resumed, run with a KubeSchedulerConfiguration, of
// which everything but how to reach the server and that it runs alone is given. It returns the file.
func (c *Cluster) Configure(t testing.TB, profiles string) string {
	t.Helper()
	c.Halt(t, "kube-scheduler")
	path := c.path("scheduler.yaml")
	text := "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nleaderElection: {leaderElect: false}\n" +
		fmt.Sprintf("clientConnection: {kubeconfig: %q, qps: 200, burst: 400}\n", c.Kubeconfig(Admin)) + profiles
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	old := c.processes[c.part(t, "kube-scheduler")].cmd
	keep := func(arg string) bool {
		return !strings.HasPrefix(arg, "--kubeconfig=") && !strings.HasPrefix(arg, "--leader-elect=") && !strings.HasPrefix(arg, "--config=")
	}
	args := []string{"--config=" + path}
	for _, arg := range old.Args[1:] {
		if keep(arg) {
			args = append(args, arg)
		}
	}
	old.Args = append(old.Args[:1:1], args...)
	return path
}

// part is the index of a part of the control plane.
func (c *Cluster) part(t testing.TB, name string) int {
	t.Helper()
	at := slices.IndexFunc(c.processes, func(p *process) bool { return p.name == name })
	if at < 0 {
		t.Fatalf("%s is no part of this cluster", name)
	}
	return at
}

// SetGates starts the API server again with other feature gates.
func (c *Cluster) SetGates(t testing.TB, gates string) {
	t.Helper()
	for _, p := range c.processes {
		for i, arg := range p.cmd.Args {
			if p.name == "kube-apiserver" && strings.HasPrefix(arg, "--feature-gates=") {
				p.cmd.Args[i] = "--feature-gates=" + gates
			}
		}
	}
	c.Restart(t, "kube-apiserver", 0)
}

// Client returns a client of the admin.
func (c *Cluster) Client() kubernetes.Interface { return c.client }

// Config returns how to connect as a user.
func (c *Cluster) Config(user string) *rest.Config {
	return &rest.Config{Host: c.address, BearerToken: token(user), QPS: 200, Burst: 400,
		WarningHandler:  rest.NoWarnings{}, // old versions are used on purpose
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.path("certs/apiserver.crt")}}
}

// Kubeconfig returns the path of a kubeconfig file of a user. The file is written once: a component may
// be about to read it.
func (c *Cluster) Kubeconfig(user string) string {
	c.kubeconfigs.Lock()
	defer c.kubeconfigs.Unlock()
	path := c.path(user + ".kubeconfig")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{Server: c.address, CertificateAuthority: c.path("certs/apiserver.crt")}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: token(user)}
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: user, Namespace: "default"}
	config.CurrentContext = "e2e"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		panic(fmt.Sprintf("writing %s: %v", path, err)) // into the directory of the test: the disk is full
	}
	return path
}

func token(user string) string { return "token-of-" + user }

// writeTokens writes the file that the API server knows users from.
func (c *Cluster) writeTokens(users []string) error {
	var lines strings.Builder
	for _, user := range users {
		group := ""
		if user == Admin {
			group = "system:masters"
		}
		fmt.Fprintf(&lines, "%s,%s,%s,%q\n", token(user), user, user, group)
	}
	return os.WriteFile(c.path("tokens.csv"), []byte(lines.String()), 0o600)
}

// writeKeys writes the key that service accounts are signed with; the API server insists on one.
func (c *Cluster) writeKeys() error {
	key, err := rsa.GenerateKey(cryptorand.Reader, 2048)
	if err != nil {
		return err
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return os.WriteFile(c.path("sa.key"), pem.EncodeToMemory(block), 0o600)
}

// Ports below those that the system gives to outgoing connections (from 32768 on): one of these could be
// taken between the moment that it was found free and the moment that a part of the cluster listens on it.
const firstPort, lastPort = 20000, 32000

// givenPorts are those that this process has given out.
var givenPorts sync.Map

// freePorts returns loopback ports that nothing listens on, each to one caller only.
func freePorts(n int) ([]string, error) {
	var ports []string
	for range lastPort - firstPort {
		if len(ports) == n {
			return ports, nil
		}
		port := firstPort + rand.IntN(lastPort-firstPort)
		if _, given := givenPorts.LoadOrStore(port, true); given {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return nil, fmt.Errorf("closing port %d: %w", port, err)
		}
		ports = append(ports, strconv.Itoa(port))
	}
	return nil, fmt.Errorf("finding %d free ports from %d to %d: there are not enough", n, firstPort, lastPort)
}
