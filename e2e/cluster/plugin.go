package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Result is what a run of the plugin left behind.
type Result struct {
	Args           []string
	Stdout, Stderr string
	Code           int
}

// Plugin builds the product and runs it as `kubectl dra ARGS…` as the given user, in an environment
// that has nothing of the caller's but a PATH. It fails the test only when it cannot be run; what it
// answers is for the test to judge.
func (c *Cluster) Plugin(t testing.TB, user string, args ...string) Result {
	t.Helper()
	cmd := c.Command(t, user, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	result := Result{Args: args}
	var exit *exec.ExitError
	if err := cmd.Run(); errors.As(err, &exit) {
		result.Code = exit.ExitCode()
	} else if err != nil {
		t.Fatalf("running kubectl dra: %v", err)
	}
	result.Stdout, result.Stderr = stdout.String(), stderr.String()
	return result
}

// Programs are kubectl, of the default version, and the product, for tests that have no cluster but somebody
// type commands. Both are built first.
func Programs(t testing.TB) (kubectl, product string) {
	t.Helper()
	home, err := root()
	if err != nil {
		t.Fatal(err)
	}
	bin, err := build(home, Default, kubectlCommand)
	if err != nil {
		t.Fatal(err)
	}
	if product, err = plugin(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(bin, "kubectl"), product
}

// Command is what Plugin runs, for tests that do not want to wait for its end.
func (c *Cluster) Command(t testing.TB, user string, args ...string) *exec.Cmd {
	t.Helper()
	binary, err := plugin()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(c.bin, "kubectl"), append([]string{"dra"}, args...)...)
	cmd.Dir = c.dir
	cmd.Env = []string{
		"PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH"),
		"HOME=" + c.dir, "KUBECONFIG=" + c.Kubeconfig(user),
	}
	return cmd
}

// String is the run as it would look in a terminal.
func (r Result) String() string {
	return "$ kubectl dra " + strings.Join(r.Args, " ") + "\n" + r.Stdout + r.Stderr
}

// JSON decodes the standard output, or fails the test.
func (r Result) JSON(t testing.TB, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.Stdout), into); err != nil {
		t.Fatalf("output is not the expected JSON: %v\n%v", err, r)
	}
}
