package cluster

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// KueueManifests reads files of the directory config/components in the module of Kueue.
func KueueManifests(t testing.TB, pattern string) []*unstructured.Unstructured {
	t.Helper()
	module, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatalf("finding the module of Kueue: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(module)), "config/components", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files %s of Kueue: %v", len(files), pattern, err)
	}
	return Decode(t, files...)
}

// AddKueueKinds makes the server serve the kinds of Kueue as its module defines them. Objects are converted
// by the webhook of Kueue's manager at an address; if that is "", they have the same fields at each version.
func (c *Cluster) AddKueueKinds(t testing.TB, webhook string) {
	t.Helper()
	definitions := KueueManifests(t, "crd/bases/*.yaml")
	for _, definition := range definitions {
		if webhook != "" {
			definition.Object["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "Webhook", "webhook": map[string]any{
				"conversionReviewVersions": []any{"v1"}, "clientConfig": map[string]any{"url": webhook + "/convert"},
			}}
		}
		if err := c.Create(t.Context(), definition); err != nil {
			t.Fatal(err)
		}
	}
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
