package replay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// hostile are names that some shell would evaluate, take for a flag, or break a line at. There are two of
// each with a beginning in common, which shells put on the line as it is.
var hostile = []string{
	"$(touch pwned)", "`touch pwned`", "(touch pwned)", ";touch pwned;", "|touch pwned #", "&touch pwned&", "${IFS:=$(touch pwned)}", "<(touch pwned)",
	"'$(touch pwned)'", "\"$(touch pwned)\"", "a b", "-rf", "--from=/etc/passwd", "=ls", "~root", "*", "!!", "%self", "#x", "tab\there", "new\nline", "\x1b]0;pwned\x07", "back\\slash",
	"{a,b}", "[a-z]", "^a", "line\r", "\u202eevil",
}

// hostileFiles writes objects with hostile names, drivers, pools, devices, attributes and values, beside one
// of each that is not.
func hostileFiles(t *testing.T) (objects, kubeconfig string) {
	t.Helper()
	var b, contexts strings.Builder
	text := func(i int, end string) string { return fmt.Sprintf("%q", hostile[i]+end) }
	for i := range hostile {
		for _, end := range []string{"1", "2"} {
			name := text(i, end)
			fmt.Fprintf(&b, "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s, namespace: default}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n---\n", name)
			fmt.Fprintf(&b, "{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: x, namespace: %s}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}\n---\n", name)
			fmt.Fprintf(&b, "{apiVersion: v1, kind: Node, metadata: {name: %s}}\n---\n", name)
			fmt.Fprintf(&b, "{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: %s}, spec: {}}\n---\n", name)
			fmt.Fprintf(&b, `{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: %s}, spec: {driver: %s, nodeName: %s, pool: {name: %s, generation: 1, resourceSliceCount: 1}, devices: [{name: %s, attributes: {%q: {string: %s}, model: {string: %s}}}]}}`+"\n---\n",
				name, name, name, name, name, hostile[i]+"/"+hostile[i]+end, name, name)
			fmt.Fprintf(&contexts, "- {name: %s, context: {cluster: c}}\n", name)
		}
	}
	b.WriteString(`{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: s}, spec: {driver: gpu.example.com, nodeName: n1, pool: {name: n1, generation: 1, resourceSliceCount: 1}, devices: [{name: gpu-0, attributes: {model: {string: A100}}}]}}` + "\n---\n")
	b.WriteString(`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: honest, namespace: default}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}}` + "\n")
	dir := t.TempDir()
	objects, kubeconfig = filepath.Join(dir, "objects.yaml"), filepath.Join(dir, "config")
	config := "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: \"http://127.0.0.1:1\"}}]\ncontexts:\n" + contexts.String()
	for path, text := range map[string]string{objects: b.String(), kubeconfig: config} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return objects, kubeconfig
}

// TestHostileNames presses TAB where hostile names would be offered: nothing of them comes onto the line or
// is run. What is on the line is what the shell evaluates at the next TAB.
func TestHostileNames(t *testing.T) {
	objects, config := hostileFiles(t)
	lines := []string{
		"explain claim --from objects.yaml ", "explain --from objects.yaml claim/", "explain claim --from objects.yaml -n ", "explain claim --from objects.yaml x --node ", "plan drain --from objects.yaml ",
		"cel --from objects.yaml --class ", "plan lose device --from objects.yaml ", "cel --from objects.yaml --driver ", "plan lose pool --from objects.yaml ", "get devices --from objects.yaml ",
		"get claims --context ",
	}
	begun := []string{"", `\$`, `'$`, `'`, `"`, `\;`, `\(`, "a", "-"}
	eachShell(t, []string{"KUBECONFIG=" + config}, func(t *testing.T, s *shell) {
		place(t, filepath.Join(s.home, "objects.yaml"), objects)
		s.tab(t, "kubectl dra explain claim --from objects.yaml hon", "honest", func(screen string) bool {
			return strings.HasSuffix(strings.TrimSpace(typed(screen)), " honest")
		})
		for i, line := range lines {
			for j, word := range begun {
				if i%4 == j%4 || word == "" { // each with some
					s.press(t, line+word)
				}
			}
		}
	})
}

// press types a line, presses TAB twice, and fails if a name was run or is anywhere to be seen.
func (s *shell) press(t *testing.T, line string) {
	t.Helper()
	const end = "@@" // is typed last, and shown once all before it is done
	s.clear(t)
	s.send(t, "kubectl dra "+line)
	s.settle()
	s.send(t, "\t\t"+end)
	screen := s.wait(t, end+" behind "+line, func(screen string) bool { return strings.Contains(screen, end) })
	if strings.Contains(screen, "pwned") {
		t.Errorf("TAB behind %q shows:\n%s", line, screen)
	}
	if _, err := os.Stat(filepath.Join(s.home, "pwned")); err == nil {
		t.Fatalf("TAB behind %q ran what a name says", line)
	}
}
