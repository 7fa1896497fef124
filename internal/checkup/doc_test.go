package checkup_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-dra/kubectl-dra/internal/checkup"
)

const docPath = "../../docs/check.md"

const docHead = `# What ` + "`kubectl dra check`" + ` looks for

` + "`kubectl dra check`" + ` looks for what is wrong with the devices of a cluster, whether or not a pod is waiting because of it. Each finding has a
stable code and one of three severities:

- **error**: something does not work now: devices cannot be allocated, pods cannot start, or the scheduler gives up
- **warning**: something works but should be put right: nobody uses the devices that a claim holds, or something will fail soon
- **note**: something that the cluster's admin should know and that may be intended; shown with ` + "`--severity=note`" + `

A finding is a fact about the objects at the moment when they were read; where something only seems to be so, the finding says "seems". Checks that could
not be made, because something was not read or files have nothing of a kind, are named at the end. The exit code is 0 if nothing was found, and then nothing
is printed on standard output. It is 3 if something was found, and 1 if nothing was found but not every check was made, or there was nothing to check.

Who may grant admin access is read from RBAC, which is not part of a snapshot. So with ` + "`--severity=note`" + ` the roles and bindings are listed too (or taken from
the files of ` + "`--from`" + `); of the roles in docs/rbac, only [audit.yaml](rbac/audit.yaml) permits that.

` + "```" + `
kubectl dra check                                # the cluster, all namespaces
kubectl dra check -n ml --severity note -v       # one namespace, with evidence
kubectl dra check --only PoolIncomplete,PoolInvalid
kubectl dra check --from snapshot.pb.gz          # a snapshot of another cluster
kubectl dra check -f deploy/                     # the manifests of a driver, for its CI
kubectl dra check --baseline known.json          # only what is new since -o json printed known.json
kubectl dra check --target 1.38                  # before an upgrade; for what the upgrade changes alone:
kubectl dra check --target 1.38 --severity note --only VersionRemoved,OldVersionWritten,UpgradeGates,UpgradeVerdict,UpgradeFinding
kubectl dra check --target 1.37.2                # what a patch release changes for these objects, also an older one
kubectl dra check --taint-rule rule.yaml         # what a DeviceTaintRule would do: which pods it evicts, and when
` + "```" + `

## In the CI of a driver

` + "`check -f deploy/`" + ` needs no cluster, and ends with exit code 3 if something is found.

## All checks

With ` + "`-f`" + ` only the checks marked "files" below are made, because the others need a cluster. This table is written from internal/checkup by ` + "`go test ./internal/checkup -update`" + `.

| code | severity | what it means, and *what to do* | for example |
|---|---|---|---|
`

// TestDocument fails when docs/check.md is not what the rules say.
func TestDocument(t *testing.T) {
	var b strings.Builder
	b.WriteString(docHead)
	for _, rule := range checkup.Rules() {
		severity := string(rule.Severity)
		if rule.Files() {
			severity += ", files"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s *%s* | %s |\n", rule.Code, severity, cell(rule.About), cell(rule.Remedy), cell(example(t, rule.Code)))
	}
	if *update {
		if err := os.WriteFile(docPath, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(docPath)
	if err != nil || string(got) != b.String() {
		t.Errorf("%s is out of date (%v); run go test ./internal/checkup -update", docPath, err)
	}
}

// cell is a text as it stands in a table.
func cell(s string) string {
	return strings.NewReplacer("|", "\\|", "<", "&lt;", "*", "\\*", "[", "\\[").Replace(s)
}

// example is what the planted fault of a code is told as.
func example(t *testing.T, code checkup.Code) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "faults", string(code)+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(archive.Files[len(archive.Files)-1].Data), "\n") {
		_, text, found := strings.Cut(line, " "+string(code)+" ")
		if found {
			return text[:strings.LastIndex(text, " [")]
		}
	}
	t.Fatalf("no example of %s", code)
	return ""
}
