package e2e

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hinshun/vt10x"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// screenOutput is what a terminal was sent, and everything that it has shown: what a program sends for a
// new picture depends on the picture before, and so on what happened to come first. It may be read while it
// is written.
type screenOutput struct {
	mu     sync.Mutex
	data   bytes.Buffer
	screen vt10x.Terminal
	shown  strings.Builder
}

func (s *screenOutput) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.screen.Write(p); err != nil {
		return 0, err
	}
	s.shown.WriteString(s.screen.String())
	return s.data.Write(p)
}

func (s *screenOutput) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.data.String()
}

// shows reports whether a text has been on the screen.
func (s *screenOutput) shows(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.shown.String(), text)
}

// TestTop runs the terminal UI in a pseudo terminal against a real server: it follows what happens, and
// allocates and deallocates behind its confirmation.
func TestTop(t *testing.T) {
	script, err := exec.LookPath("script")
	if err != nil {
		t.Skip("there is no program script(1) to get a pseudo terminal from")
	}
	t.Parallel()
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
	out := &screenOutput{screen: vt10x.New(vt10x.WithSize(120, 30))}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	shows := func(text string) {
		t.Helper()
		cluster.Eventually(t, func(context.Context) error {
			if !out.shows(text) {
				return fmt.Errorf("%q does not appear; the terminal got:\n%q", text, out.String())
			}
			return nil
		})
	}
	press := func(key string) {
		t.Helper()
		if _, err := io.WriteString(keys, key); err != nil {
			t.Fatal(err)
		}
	}
	allocated := func(want bool) {
		t.Helper()
		cluster.Eventually(t, func(ctx context.Context) error {
			claim, err := c.Client().ResourceV1().ResourceClaims("default").Get(ctx, "waiting", metav1.GetOptions{})
			if err == nil && ((claim.Status.Allocation != nil) != want || len(claim.Annotations) > 0) {
				err = fmt.Errorf("the claim is not as wanted (allocated %v): %+v", want, claim)
			}
			return err
		})
	}

	shows("1 claim")
	shows("● live") // everything has been read
	press("A")
	shows("write this to the cluster?")
	shows("gpu.example.com/n1/gpu-0")
	press("yes\r")
	allocated(true)
	shows("allocated: default/waiting has gpu.example.com/n1/gpu-0")
	press("D")
	shows("To be cleared:")
	press("yes\r")
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
	case <-time.After(2 * time.Minute):
		t.Fatalf("q does not end it; the terminal got:\n%q", out.String())
	}
	if !strings.Contains(out.String(), "\x1b[?1049l") {
		t.Error("the terminal was not restored: the alternate screen is still on")
	}
}
