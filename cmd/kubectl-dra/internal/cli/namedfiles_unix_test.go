//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// kubeconfigOfNobody is of a server that does not exist.
const kubeconfigOfNobody = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {}}]
contexts: [{name: c, context: {cluster: c, user: u, namespace: from-a-pipe}}]
current-context: c
`

// TestKubeconfigInAPipe: a kubeconfig may be what another program writes, as in --kubeconfig <(…).
func TestKubeconfigInAPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() { done <- os.WriteFile(pipe, []byte(kubeconfigOfNobody), 0o600) }()
	_, code, notes := printedBy("explain", "claim", "a", "--kubeconfig", pipe)
	if code != 1 || !strings.Contains(notes, "127.0.0.1:1") {
		t.Errorf("exit code %d, want an error about the server of the kubeconfig:\n%s", code, notes)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestCredentialsInAPipe: certificates, keys and tokens are read from files only, whoever names them.
func TestCredentialsInAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe, kubeconfig := filepath.Join(dir, "pipe"), filepath.Join(dir, "kubeconfig")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	ofUser := func(field string) string {
		return strings.Replace(kubeconfigOfNobody, "user: {}", "user: {"+field+": "+pipe+"}", 1)
	}
	for name, test := range map[string]struct {
		kubeconfig string
		flags      []string
	}{
		"authority":           {strings.Replace(kubeconfigOfNobody, "cluster: {", "cluster: {certificate-authority: "+pipe+", ", 1), nil},
		"certificate":         {ofUser("client-certificate"), nil},
		"key":                 {ofUser("client-key"), nil},
		"token":               {ofUser("tokenFile"), nil},
		"flag of authority":   {kubeconfigOfNobody, []string{"--certificate-authority", pipe}},
		"flag of certificate": {kubeconfigOfNobody, []string{"--client-certificate", pipe, "--client-key", pipe}},
	} {
		if err := os.WriteFile(kubeconfig, []byte(test.kubeconfig), 0o600); err != nil {
			t.Fatal(err)
		}
		_, code, notes := printedBy(append([]string{"get", "claims", "--kubeconfig", kubeconfig}, test.flags...)...)
		if code != 1 || !strings.Contains(notes, pipe+" is not a regular file") {
			t.Errorf("%s: exit code %d, want an error about the pipe:\n%s", name, code, notes)
		}
	}
}

// TestNamedFilesEnd: wherever a user names a file, a pipe that nobody writes to is not waited for without
// end, and a device without end is not read to its end.
func TestNamedFilesEnd(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	const silent = "it is a pipe that nobody writes to"
	for name, args := range map[string][]string{
		"--from":               {"get", "claims", "--from", "FILE"},
		"-f":                   {"explain", "--demo", "-f", "FILE"},
		"diff":                 {"diff", "FILE", "--demo"},
		"expression":           {"cel", "--demo", "-f", "FILE"},
		"baseline":             {"check", "--demo", "--baseline", "FILE"},
		"kubeconfig":           {"get", "claims", "--kubeconfig", "FILE"},
		"flags of the kubelet": {"node", "cni", "--cni-conf-dir", t.TempDir(), "--kubelet-flags", "FILE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for file, says := range map[string]string{pipe: silent, "/dev/zero": ""} {
				given := slices.Clone(args)
				for i := range given {
					given[i] = strings.ReplaceAll(given[i], "FILE", file)
				}
				done := make(chan struct{})
				var code int
				var notes string
				go func() {
					defer close(done)
					_, code, notes = printedBy(given...)
				}()
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Fatalf("%v does not end", given)
				}
				if code == 0 || !strings.Contains(notes, says) {
					t.Errorf("%v: exit code %d, want an error that says %q:\n%s", given, code, says, notes)
				}
			}
		})
	}
}
