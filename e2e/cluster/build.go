package cluster

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"sync"
	"testing"
)

// commands are what is built of a control plane, by import path.
var commands = []string{
	"./etcd",
	"k8s.io/kubernetes/cmd/kube-apiserver",
	"k8s.io/kubernetes/cmd/kube-scheduler",
	"k8s.io/kubernetes/cmd/kube-controller-manager",
	kubectlCommand,
}

const kubectlCommand = "k8s.io/kubernetes/cmd/kubectl"

// kubelet is built only for tests that start nodes.
const kubelet = "k8s.io/kubernetes/cmd/kubelet"

// building is held while commands are compiled: tests that run at the same time want the same ones.
var building sync.Mutex

// BuildKueue compiles the manager of Kueue, unless that has been done, and returns where it is.
func BuildKueue(t testing.TB) string {
	t.Helper()
	home, err := root()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := build(home, "kueue", "sigs.k8s.io/kueue/cmd/kueue")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "kueue")
}

// build compiles commands of the module e2e/controlplane/<minor> and returns the directory of the
// binaries. They are kept in the user's cache directory under a name that depends on the module,
// the Go version and the platform, so that this happens once.
func build(root, minor string, commands ...string) (string, error) {
	module := filepath.Join(root, "controlplane", minor)
	version, key, err := identify(module)
	if err != nil {
		return "", fmt.Errorf("building the control plane %s: %w", minor, err)
	}
	cache, err := cacheDir(root)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(cache, version.full+"-"+key)
	building.Lock()
	defer building.Unlock()
	for _, command := range commands {
		binary := filepath.Join(dir, filepath.Base(command))
		if _, err := os.Stat(binary); err == nil {
			continue
		}
		fmt.Fprintf(os.Stderr, "building %s %s (minutes the first time)\n", filepath.Base(command), version.full)
		if err := goBuild(module, command, binary, version.ldflags()); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// cacheDir is where binaries are kept.
func cacheDir(root string) (string, error) {
	if cache, err := os.UserCacheDir(); err == nil {
		return filepath.Join(cache, "kubectl-dra-e2e"), nil
	}
	return filepath.Abs(filepath.Join(root, ".cache")) // no home directory
}

// release is a version of Kubernetes, or of Kueue, which is not stamped and has no major and minor.
type release struct{ full, major, minor string }

// ldflags stamp the version into the binaries. Without it they call themselves v0.0.0, and gates that
// depend on the version that is emulated are off.
func (r release) ldflags() string {
	if r.minor == "" {
		return "-s -w"
	}
	const pkg = "k8s.io/component-base/version"
	return fmt.Sprintf("-s -w -X %[1]s.gitVersion=%s -X %[1]s.gitMajor=%s -X %[1]s.gitMinor=%s -X %[1]s.gitTreeState=clean",
		pkg, r.full, r.major, r.minor)
}

var (
	kubernetesRequirement = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes (v(\d+)\.(\d+)\.\d+)$`)
	kueueRequirement      = regexp.MustCompile(`(?m)^require sigs\.k8s\.io/(kueue) (v[\d.]+)$`)
)

// identify reads which release a control-plane module builds, and a key of everything that decides
// what the binaries are.
func identify(module string) (release, string, error) {
	sum := sha256.New()
	var version release
	for _, name := range []string{"go.mod", "go.sum", filepath.Join("etcd", "main.go")} {
		data, err := os.ReadFile(filepath.Join(module, name))
		if version.full != "" && version.minor == "" && errors.Is(err, fs.ErrNotExist) {
			continue // Kueue needs no etcd of its own
		}
		if err != nil {
			return release{}, "", err
		}
		_, _ = sum.Write(data) // a hash never fails
		if m := kubernetesRequirement.FindSubmatch(data); m != nil && name == "go.mod" {
			version = release{full: string(m[1]), major: string(m[2]), minor: string(m[3])}
		} else if m := kueueRequirement.FindSubmatch(data); m != nil && name == "go.mod" {
			version = release{full: fmt.Sprintf("%s-%s", m[1], m[2])}
		}
	}
	if version.full == "" {
		return release{}, "", fmt.Errorf("%s/go.mod requires neither Kubernetes nor Kueue", module)
	}
	_, _ = fmt.Fprint(sum, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return version, fmt.Sprintf("%x", sum.Sum(nil))[:12], nil
}

// goBuild compiles a command, outside any workspace. The binary appears only when it is complete.
func goBuild(dir, command, binary, ldflags string) error {
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return err
	}
	unfinished := fmt.Sprintf("%s.%d", binary, os.Getpid())
	cmd := exec.Command("go", "build", "-ldflags", ldflags, "-o", unfinished, command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("building %s: %w\n%s", command, err, out)
	}
	return os.Rename(unfinished, binary)
}

// root returns the directory of this module, which tests run below.
var root = sync.OnceValues(func() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "controlplane")); err == nil {
			return dir, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the e2e directory: tests have to run inside it")
		}
		dir = parent
	}
})

// plugin builds the product once per test process and returns the binary, in a directory of its own
// in the cache: each working tree has one, so that two can be tested at the same time.
var plugin = sync.OnceValues(func() (string, error) {
	root, err := root()
	if err != nil {
		return "", err
	}
	cache, err := cacheDir(root)
	if err != nil {
		return "", err
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return "", err
	}
	tree := fmt.Sprintf("%x", sha256.Sum256([]byte(root)))[:12]
	binary := filepath.Join(cache, "plugin-"+tree, "kubectl-dra")
	return binary, goBuild(filepath.Dir(root), "./cmd/kubectl-dra", binary, "-s -w")
})
