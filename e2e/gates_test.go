package e2e

import (
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
	on                bool
}

// TestGateDefaults holds the gates that inspect knows against the tables of Kubernetes itself, read from its
// sources, for every release that is modelled.
func TestGateDefaults(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		controlPlane   string
		oldest, newest int
	}{{"v1.34", 34, 34}, {"v1.37", 34, 37}} {
		stages := upstreamGates(t, of.controlPlane)
		for minor := of.oldest; minor <= of.newest; minor++ {
			features := inspect.DefaultFeatures(minor)
			for _, gate := range inspect.Gates() {
				known, on := false, false
				for _, s := range stages[string(gate)] {
					if s.since <= minor && s.compatible < minor {
						known, on = true, s.on
					}
				}
				if features.Knows(gate) != known || features.Enabled(gate) != on {
					t.Errorf("1.%d, %s: known %t, on %t; the sources of %s say %t, %t",
						minor, gate, features.Knows(gate), features.Enabled(gate), of.controlPlane, known, on)
				}
			}
		}
	}
}

// upstreamGates reads the table from the sources of the Kubernetes that a control plane is built from.
func upstreamGates(t *testing.T, controlPlane string) map[string][]gateStage {
	t.Helper()
	in := func(args ...string) []byte {
		command := exec.CommandContext(t.Context(), "go", args...)
		command.Dir, command.Env = filepath.Join("controlplane", controlPlane), append(command.Environ(), "GOWORK=off")
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%v: %v", command, err)
		}
		return out
	}
	in("mod", "download", "k8s.io/kubernetes") // where nothing was built of it yet
	dir := in("list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes")
	path := filepath.Join(strings.TrimSpace(string(dir)), "pkg", "features", "kube_features.go")
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
