package cluster

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// AddKueueKinds makes the server serve the kinds of Kueue as its module defines them. Without the webhook of
// its manager nothing is converted: an object has the same fields at each version.
func (c *Cluster) AddKueueKinds(t testing.TB) {
	t.Helper()
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatalf("finding the module of Kueue: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(module)), "config/components/crd/bases/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d definitions of Kueue's kinds: %v", len(files), err)
	}
	definitions := Decode(t, files...)
	c.Apply(t, files...)
	Eventually(t, func(context.Context) error {
		if err := c.discover(); err != nil {
			return err
		}
		for _, definition := range definitions {
			spec := definition.Object["spec"].(map[string]any)
			kind := schema.GroupKind{Group: spec["group"].(string), Kind: spec["names"].(map[string]any)["kind"].(string)}
			if _, err := c.mapper.RESTMapping(kind); err != nil {
				return fmt.Errorf("a kind of Kueue is not served yet: %w", err)
			}
		}
		return nil
	})
}
