package e2e

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// gateStage is an entry of upstream's table: from a release on, a gate has that default, provided that the
// control plane need not be compatible with anything older than another release.
type gateStage struct {
	since, compatible int // minor releases; compatible is 0 if there is no such condition
	on, locked        bool
}

// TestGateDefaults holds the gates that inspect knows against the tables of Kubernetes itself, read from its
// sources, for every release that is modelled. What a gate that is gone stood for is on.
func TestGateDefaults(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		controlPlane   string
		oldest, newest int
	}{{"v1.34", 34, 34}, {"v1.37", 34, 37}, {"", inspect.PreviewMinor, inspect.PreviewMinor}} {
		stages := upstreamGates(t, of.controlPlane)
		for minor := of.oldest; minor <= of.newest; minor++ {
			features := inspect.DefaultFeatures(minor)
			for _, gate := range inspect.Gates() {
				known, on, locked := false, false, false
				for _, s := range stages[string(gate)] {
					if s.since <= minor && s.compatible < minor {
						known, on, locked = true, s.on, s.locked
					}
				}
				if gone := features.Locked(gate) && !features.Knows(gate); gone {
					on, locked = true, true
				}
				if features.Knows(gate) != known || features.Enabled(gate) != on || features.Locked(gate) != locked {
					t.Errorf("1.%d, %s: known %t, on %t, locked %t; the sources of %q say %t, %t, %t",
						minor, gate, features.Knows(gate), features.Enabled(gate), features.Locked(gate), of.controlPlane, known, on, locked)
				}
			}
		}
	}
}

// upstreamGates reads the table from the sources of the Kubernetes that a control plane is built from, or
// without one from those of the preview, which need a newer Go.
func upstreamGates(t *testing.T, controlPlane string) map[string][]gateStage {
	t.Helper()
	module, toolchain := "k8s.io/kubernetes", "GOTOOLCHAIN=local"
	if controlPlane == "" {
		controlPlane, module, toolchain = "v1.37", module+"@v"+inspect.PreviewVersion, "GOTOOLCHAIN=go1.27.3"
	}
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json", module)
	command.Dir, command.Env = filepath.Join("controlplane", controlPlane), append(command.Environ(), "GOWORK=off", toolchain)
	out, err := command.Output()
	var downloaded struct{ Dir string }
	if err := errors.Join(err, json.Unmarshal(out, &downloaded)); err != nil {
		t.Fatalf("%v: %v", command, err)
	}
	path := filepath.Join(downloaded.Dir, "pkg", "features", "kube_features.go")
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string][]gateStage{}
	ast.Inspect(file, func(n ast.Node) bool {
		entry, ok := n.(*ast.KeyValueExpr)
		if !ok {
			return true
		}
		gate, ok := entry.Key.(*ast.Ident)
		list, isList := entry.Value.(*ast.CompositeLit)
		if !ok || !isList {
			return true
		}
		for _, item := range list.Elts {
			if stage, ok := item.(*ast.CompositeLit); ok {
				stages[gate.Name] = append(stages[gate.Name], stageOf(t, stage))
			}
		}
		return false
	})
	if len(stages) < 100 {
		t.Fatalf("%s has %d gates, fewer than there are", path, len(stages))
	}
	return stages
}

func stageOf(t *testing.T, stage *ast.CompositeLit) gateStage {
	t.Helper()
	var out gateStage
	for _, field := range stage.Elts {
		field, ok := field.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		switch name := field.Key.(*ast.Ident).Name; name {
		case "Default":
			out.on = field.Value.(*ast.Ident).Name == "true"
		case "LockToDefault":
			out.locked = field.Value.(*ast.Ident).Name == "true"
		case "Version", "MinCompatibilityVersion":
			text := field.Value.(*ast.CallExpr).Args[0].(*ast.BasicLit).Value
			minor := int(version.MustParseGeneric(strings.Trim(text, `"`)).Minor())
			if name == "Version" {
				out.since = minor
			} else {
				out.compatible = minor
			}
		}
	}
	return out
}
