package krew

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

var distFlag = flag.String("dist", "", "the directory of a release, made by make snapshot")

// manifest is the part of a krew manifest that is looked at.
type manifest struct {
	Spec struct {
		Version   string     `json:"version"`
		Caveats   string     `json:"caveats"`
		Platforms []platform `json:"platforms"`
	} `json:"spec"`
}

type platform struct {
	URI      string `json:"uri"`
	SHA256   string `json:"sha256"`
	Bin      string `json:"bin"`
	Selector struct {
		MatchLabels struct{ OS, Arch string } `json:"matchLabels"`
	} `json:"selector"`
}

func (p platform) archive() string { return path.Base(p.URI) }

// machine is a home directory with krew in it, beside kubectl.
type machine struct {
	dist, manifest string
	parsed         manifest
	home, bin      string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if *distFlag == "" {
		t.Skip("needs a release: make snapshot, then -dist")
	}
	dist, err := filepath.Abs(*distFlag)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{dist: dist, manifest: filepath.Join(dist, "krew", "dra.yaml"), home: t.TempDir(), bin: t.TempDir()}
	if err := yaml.Unmarshal(read(t, m.manifest), &m.parsed); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-buildvcs=false", "-o", m.bin+string(filepath.Separator), "tool")
	build.Dir = filepath.Join("..", "..", "internal", "tools", "krew")
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building krew: %v\n%s", err, out)
	}
	if err := os.Rename(filepath.Join(m.bin, "krew"), filepath.Join(m.bin, "kubectl-krew")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(cluster.BuildKubectl(t), filepath.Join(m.bin, "kubectl")); err != nil {
		t.Fatal(err)
	}
	return m
}

// krewBin is where krew puts plugins, which its documentation says to add to the PATH.
func (m *machine) krewBin() string { return filepath.Join(m.home, ".krew", "bin") }

// run runs a program in an environment that has nothing of the caller's but the end of the PATH.
func (m *machine) run(t *testing.T, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	if name != "sh" {
		cmd.Path = filepath.Join(m.bin, name)
		cmd.Err = nil
	}
	cmd.Dir = m.home
	cmd.Env = []string{"HOME=" + m.home, "KREW_NO_UPGRADE_CHECK=1", "KREW_DEFAULT_INDEX_URI=file://" + m.index(),
		"PATH=" + strings.Join([]string{m.bin, m.krewBin(), filepath.Join(m.home, ".local", "bin"), os.Getenv("PATH")}, string(os.PathListSeparator))}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	code := 0
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	t.Logf("$ %s %s\n%s", name, strings.Join(args, " "), &out)
	return out.String(), code
}

// must is run for what has to end with the given exit status and say something.
func (m *machine) must(t *testing.T, code int, says, name string, args ...string) {
	t.Helper()
	out, got := m.run(t, name, args...)
	if got != code || !strings.Contains(out, says) {
		t.Errorf("%s %s: exit status %d, want %d; want it to say %q:\n%s", name, strings.Join(args, " "), got, code, says, out)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRelease has krew's own tools take a release, and uses what they install.
func TestRelease(t *testing.T) {
	m := newMachine(t)
	t.Run("manifest", m.testManifest)
	t.Run("every platform", m.testEveryPlatform)
	t.Run("install", m.testInstall)
}

// testManifest: krew's validation takes the manifest, and it names the archives that were built, with their
// checksums.
func (m *machine) testManifest(t *testing.T) {
	m.must(t, 0, "structural validation OK", "validate-krew-manifest", "-manifest", m.manifest, "-skip-install")
	if len(m.parsed.Spec.Platforms) != 6 {
		t.Errorf("%d platforms, want 6", len(m.parsed.Spec.Platforms))
	}
	for _, p := range m.parsed.Spec.Platforms {
		labels := p.Selector.MatchLabels
		if !strings.Contains(p.archive(), "_"+m.parsed.Spec.Version+"_"+labels.OS+"_"+labels.Arch+".") {
			t.Errorf("%s/%s gets the archive %s", labels.OS, labels.Arch, p.archive())
		}
		if sum := fmt.Sprintf("%x", sha256.Sum256(read(t, filepath.Join(m.dist, p.archive())))); sum != p.SHA256 {
			t.Errorf("%s: sum %s, the manifest says %s", p.archive(), sum, p.SHA256)
		}
	}
}

// testEveryPlatform: krew's validation downloads each archive, unpacks it as on the platform that it is for,
// and finds the program and the licence in it.
func (m *machine) testEveryPlatform(t *testing.T) {
	manifest := filepath.Join(t.TempDir(), "dra.yaml")
	write(t, manifest, m.served(t))
	m.must(t, 0, "all 6 spec.platforms installed fine", "validate-krew-manifest", "-manifest", manifest)
}

// testInstall does what a user of krew does: installs, asks, completes, and uninstalls; first the archive of
// this platform, then from an index that has the plugin, as the README says.
func (m *machine) testInstall(t *testing.T) {
	m.addIndex(t)
	m.must(t, 0, "Installed plugin: dra", "kubectl", "krew", "install", "--manifest="+m.manifest, "--archive="+m.archiveHere(t))
	m.must(t, 0, "dra", "kubectl", "krew", "list")
	m.must(t, 0, filepath.Join(m.krewBin(), "kubectl-dra"), "kubectl", "plugin", "list")
	m.must(t, 0, m.parsed.Spec.Version, "kubectl", "dra", "version", "--client")
	m.must(t, 3, "ml/train-0 needs 5 devices", "kubectl", "dra", "explain", "claim", "train-0", "-n", "ml", "--demo")

	// What krew prints after the installation says how to complete. A link in krew's own directory, which it
	// knows nothing of, would make it refuse all work when no plugin is left.
	m.must(t, 0, "", "sh", "-euc", commands(m.parsed.Spec.Caveats))
	complete := []string{"__complete", "dra", "explain", "claim", "--demo", "-n", "ml", "tr"}
	m.must(t, 0, "train-0", "kubectl", complete...)
	m.must(t, 0, "Uninstalled plugin: dra", "kubectl", "krew", "uninstall", "dra")
	m.must(t, 1, `unknown command "dra"`, "kubectl", "dra", "version", "--client")

	m.must(t, 0, "Installed plugin: dra", "kubectl", "krew", "install", "dra")
	m.must(t, 0, m.parsed.Spec.Version, "kubectl", "dra", "version", "--client")
	m.must(t, 0, "train-0", "kubectl", complete...) // the link is there still
}

// archiveHere is the archive that the manifest has for this platform.
func (m *machine) archiveHere(t *testing.T) string {
	t.Helper()
	for _, p := range m.parsed.Spec.Platforms {
		if p.Selector.MatchLabels.OS == runtime.GOOS && p.Selector.MatchLabels.Arch == runtime.GOARCH {
			return filepath.Join(m.dist, p.archive())
		}
	}
	t.Fatalf("no archive for %s/%s", runtime.GOOS, runtime.GOARCH)
	return ""
}

// served is the manifest with addresses of this process, which serves the archives until the test ends.
func (m *machine) served(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(m.dist)))
	t.Cleanup(server.Close)
	text := string(read(t, m.manifest))
	for _, p := range m.parsed.Spec.Platforms {
		text = strings.ReplaceAll(text, p.URI, server.URL+"/"+p.archive())
	}
	return text
}

// addIndex gives krew an index with this plugin in the place of its own.
func (m *machine) addIndex(t *testing.T) {
	t.Helper()
	plugins := filepath.Join(m.index(), "plugins")
	if err := os.MkdirAll(plugins, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(plugins, "dra.yaml"), m.served(t))
	m.must(t, 0, "", "sh", "-euc", "git init -q "+m.index()+"; cd "+m.index()+
		"; git add plugins; git -c user.name=nobody -c user.email=nobody@example.com commit -qm plugins")
	m.must(t, 0, "", "kubectl", "krew", "update")
}

func (m *machine) index() string { return filepath.Join(m.home, "index") }

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// commands are the commands among the lines of a text about completion.
func commands(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "mkdir ") || strings.HasPrefix(line, "ln -s ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n")
}
