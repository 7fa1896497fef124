package e2e

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// screenOutput is what a terminal was sent. It may be read while it is written.
type screenOutput struct {
	mu   sync.Mutex
	data bytes.Buffer
}

func (s *screenOutput) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.Write(p)
}

func (s *screenOutput) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.String()
}

// TestTop runs the terminal UI in a pseudo terminal against a real server: it follows what happens, and allocates
// and deallocates behind its confirmation.
func TestTop(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("there is no program script(1) to get a pseudo terminal from")
	}
	c := cluster.Start(t, cluster.Options{NoScheduler: true})
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 2))
	c.ApplyText(t, `
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: waiting, namespace: default}
spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}
`)
	plugin := c.Command(t, cluster.Admin, "top")
	cmd := exec.CommandContext(t.Context(), script, "-qfec", "stty cols 120 rows 30; exec "+strings.Join(plugin.Args, " "), "/dev/null")
	cmd.Env, cmd.Dir = append(plugin.Env, "TERM=xterm-256color", "NO_COLOR=1"), plugin.Dir
	keys, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out := &screenOutput{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	shows := func(text string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !strings.Contains(out.String(), text); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%q does not appear; the terminal got:\n%q", text, out.String())
			}
		}
	}
	press := func(key string) {
		t.Helper()
		if _, err := io.WriteString(keys, key); err != nil {
			t.Fatal(err)
		}
	}
	allocated := func(want bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
			claim, err := c.Client().ResourceV1().ResourceClaims("default").Get(t.Context(), "waiting", metav1.GetOptions{})
			if err == nil && (claim.Status.Allocation != nil) == want && len(claim.Annotations) == 0 {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("the claim is not as wanted (allocated %v): %v %+v", want, err, claim)
			}
		}
	}

	shows("1 claim")
	press("a")
	shows("write this to the cluster?")
	shows("gpu.example.com/n1/gpu-0")
	press("y")
	allocated(true)
	shows("allocated: default/waiting has gpu.example.com/n1/gpu-0")
	press("d")
	shows("To be cleared:")
	press("y")
	allocated(false)
	c.ApplyText(t, fmt.Sprintf("apiVersion: resource.k8s.io/v1\nkind: ResourceClaim\nmetadata: {name: %s, namespace: default}\nspec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu}}]}}\n", "latecomer"))
	shows("latecomer")
	press("q")
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("it ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatalf("q does not end it; the terminal got:\n%q", out.String())
	}
	if !strings.Contains(out.String(), "\x1b[?1049l") {
		t.Error("the terminal was not restored: the alternate screen is still on")
	}
}
