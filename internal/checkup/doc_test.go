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

` + "`kubectl dra check`" + ` looks for what is wrong with the devices of a cluster, whether or not anybody waits for them. Each finding has a code,
which is stable, and one of three severities:

- **error**: something does not work now: devices that cannot be had, pods that cannot start, the scheduler giving up
- **warning**: something works and should not be so: devices that are kept for nobody, what will fail soon
- **note**: what somebody who looks after the cluster should know, and that may well be wanted; told with ` + "`--severity=note`" + `

A finding is a fact of the objects that were read, at that moment; where something only seems to be so, it says that. What could not be looked
for, because something could not be read, is named at the end. The command exits with 0 if nothing was found, and then prints nothing on
standard output; with 3 if something was; with 1 if nothing was, but not everything could be read, or the files of ` + "`-f`" + ` hold nothing to look at.

Who may grant admin access is found in RBAC, which no snapshot carries: with ` + "`--severity=note`" + ` the roles and bindings are listed too (or taken from
the files of ` + "`--from`" + `), which only the role in [deploy/rbac/audit.yaml](../deploy/rbac/audit.yaml) permits.

` + "```" + `
kubectl dra check                                # the cluster, all namespaces
kubectl dra check -n ml --severity note -v       # what concerns a namespace, with evidence
kubectl dra check --only PoolIncomplete,PoolInvalid
kubectl dra check --from snapshot.pb.gz          # a snapshot of another cluster
kubectl dra check -f deploy/ -o sarif            # the manifests of a driver, for its CI
kubectl dra check --baseline known.json          # only what is not in known.json, which -o json printed
kubectl dra check --target 1.38                  # before an upgrade
kubectl dra check --watch gpu.example.com        # what a driver publishes, while it is being tried
kubectl dra check --taint-rule rule.yaml         # what a DeviceTaintRule would do: whom it evicts, and when
` + "```" + `

With ` + "`-f`" + ` only what is marked "files" below is looked for: the rest needs a cluster. Written from internal/checkup by ` + "`go test ./internal/checkup -update`" + `.

| code | severity | what it says, and what to do | for example |
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
