package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// reads are the commands that only read, but for snapshot.
var reads = [][]string{
	{"get", "claims"}, {"get", "devices"}, {"get", "pools"}, {"get", "nodes"}, {"get", "classes"},
	{"get", "prioritylevels"}, {"get", "storage"},
	{"explain", "claim", "one"}, {"explain", "pod", "uses-one"}, {"explain", "template", "one"},
	{"fit", "claim", "one"}, {"cel", `device.driver == "gpu.example.com"`},
}

// answer is what a run must look like: exit code, a part of its standard output and one of its standard
// error; "" means that there must be none.
type answer struct {
	code           int
	stdout, stderr string
}

func (want answer) check(t *testing.T, got cluster.Result) {
	t.Helper()
	holds := func(text, part string) bool {
		return part == "" && text == "" || part != "" && strings.Contains(text, part)
	}
	if got.Code != want.code || !holds(got.Stdout, want.stdout) || !holds(got.Stderr, want.stderr) {
		t.Errorf("exit code %d, want %d with %q and %q\n%v", got.Code, want.code, want.stdout, want.stderr, got)
	}
}

// TestReadFlags gives kubectl's flags to every command that reads.
func TestReadFlags(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: []string{"nobody"}})
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 2)+"---\n"+objectsYAML)
	c.ApplyText(t, capacityYAML)
	fits, none := answer{stdout: "can be allocated on node n1"}, answer{code: 1, stderr: `there is one in namespace "default": use -n default`}
	named := answer{code: 2, stderr: "--all-namespaces and --selector narrow what is stuck"}
	cases := []struct {
		args                            []string
		plain, other, everywhere, asked answer // asked: as a user who may read nothing
	}{
		{reads[0], answer{stdout: "uses-one"}, answer{stdout: "no pod uses it"}, answer{stdout: "other       two"}, answer{code: 1, stderr: "cannot list resourceclaims.resource.k8s.io at cluster scope or in namespace default"}},
		{reads[1], answer{stdout: "gpu-1   n1"}, answer{stdout: "gpu-1   n1"}, answer{stdout: "gpu-1   n1"}, answer{code: 1, stderr: "cannot list resourceslices.resource.k8s.io"}},
		{reads[2], answer{stdout: "n1     gpu.example.com   2"}, answer{stdout: "n1     gpu.example.com   2"}, answer{stdout: "n1     gpu.example.com   2"}, answer{code: 1, stderr: "cannot list resourceslices.resource.k8s.io"}},
		{reads[3], answer{stdout: "gpu.example.com 2/2"}, answer{stdout: "gpu.example.com 2/2"}, answer{stdout: "gpu.example.com 2/2"}, answer{code: 1, stderr: "cannot list nodes at cluster scope"}},
		{reads[4], answer{stdout: "gpu.example.com"}, answer{stdout: "gpu.example.com"}, answer{stdout: "gpu.example.com"}, answer{code: 1, stderr: "cannot list deviceclasses.resource.k8s.io"}},
		{reads[5], answer{stdout: "leader-election"}, answer{stdout: "leader-election"}, answer{stdout: "leader-election"}, answer{code: 1, stderr: "cannot list prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"}},
		{reads[6], answer{stdout: "here"}, answer{stderr: "No storage found in namespace \"other\"; 1 in other namespaces"}, answer{stdout: "default     here"}, answer{code: 1, stderr: "cannot list csistoragecapacities.storage.k8s.io"}},
		{reads[7], fits, none, named, answer{code: 1, stderr: "cannot list resourceclaims.resource.k8s.io"}},
		{reads[8], answer{stdout: "can be scheduled on node n1"}, none, named, answer{code: 1, stderr: "cannot list pods"}},
		{reads[9], fits, none, named, answer{code: 1, stderr: "cannot list resourceclaimtemplates.resource.k8s.io"}},
		{reads[10], answer{stdout: "2 more copies"}, none, answer{code: 2, stderr: "unknown shorthand flag: 'A'"}, answer{code: 1, stderr: "cannot list resourceclaims.resource.k8s.io"}},
		{reads[11], answer{stdout: "It matches 2 of 2 devices."}, answer{stdout: "It matches 2 of 2 devices."}, answer{code: 2, stderr: "unknown shorthand flag: 'A'"}, answer{code: 1, stderr: "cannot list resourceslices.resource.k8s.io"}},
	}
	for _, tt := range cases {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			with := func(more ...string) cluster.Result {
				return c.Plugin(t, cluster.Admin, append(append([]string{}, tt.args...), more...)...)
			}
			tt.plain.check(t, with())
			tt.plain.check(t, with("--context", "e2e"))
			tt.other.check(t, with("-n", "other"))
			tt.everywhere.check(t, with("-A"))
			tt.asked.check(t, with("--as", "nobody"))
			answer{code: 1, stderr: "nowhere"}.check(t, with("--context", "nowhere"))
		})
	}
}

// TestSnapshot asks the live cluster and a snapshot of it the same questions.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Options{NoScheduler: true})
	c.AddNode(t, "n1", nil)
	c.ApplyText(t, sliceYAML("gpu.example.com", "n1", 2)+"---\n"+objectsYAML)
	file := filepath.Join(t.TempDir(), "cluster.json.gz")
	if result := c.Plugin(t, cluster.Admin, "snapshot", "-o", file); result.Code != 0 {
		t.Fatalf("%v", result)
	}
	for _, args := range reads {
		if args[0] != "cel" {
			args = append(append([]string{}, args...), "-o", "json")
		}
		live := c.Plugin(t, cluster.Admin, args...)
		saved := c.Plugin(t, "stranger", append(append([]string{}, args...), "--from", file)...)
		if args[1] == "prioritylevels" { // the load of the levels changes with every request
			continue
		}
		if diff := cmp.Diff(ageless(live.Stdout), ageless(saved.Stdout)); diff != "" || live.Code != 0 || saved.Code != 0 {
			t.Errorf("live and from a snapshot (-live +snapshot):\n%s\n%v", diff, saved)
		}
	}
}

// TestServedVersions reads servers that serve DRA only at an older version, or not at all.
func TestServedVersions(t *testing.T) {
	t.Parallel()
	var first []string
	for _, version := range []string{"v1", "v1beta2", "v1beta1"} {
		t.Run("only "+version, func(t *testing.T) {
			c := cluster.Start(t, cluster.Options{NoScheduler: true, RuntimeConfig: onlyServe(version)})
			c.AddNode(t, "n1", nil)
			c.ApplyText(t, atVersion(sliceYAML("gpu.example.com", "n1", 2)+"---\n"+objectsYAML, version))
			c.ApplyText(t, capacityYAML)
			var all []string
			for _, args := range reads {
				result := c.Plugin(t, cluster.Admin, args...)
				if result.Code != 0 || result.Stderr != "" {
					t.Errorf("want exit code 0 and nothing on stderr\n%v", result)
				}
				if args[1] != "prioritylevels" {
					all = append(all, ageless(result.String()))
				}
			}
			if first == nil {
				first = all
			}
			if diff := cmp.Diff(first, all); diff != "" {
				t.Errorf("answers differ from those of v1 (-v1 +%s):\n%s", version, diff)
			}
		})
	}
	t.Run("no DRA", func(t *testing.T) { readWithoutDRA(t) })
}

const capacityYAML = `{apiVersion: storage.k8s.io/v1, kind: CSIStorageCapacity, metadata: {name: here}, storageClassName: fast,
 nodeTopology: {}, capacity: 1Gi}`

func readWithoutDRA(t *testing.T) {
	c := cluster.Start(t, cluster.Options{NoScheduler: true, RuntimeConfig: onlyServe("")})
	c.AddNode(t, "n1", nil)
	for _, args := range append([][]string{{"snapshot", "-o", c.Kubeconfig(cluster.Admin) + ".snapshot"}}, reads...) {
		result := c.Plugin(t, cluster.Admin, args...)
		said := strings.Contains(result.Stderr, "this server does not serve resource")
		said = said || strings.Contains(result.Stderr, "this server does not serve deviceclasses")
		switch args[1] {
		case "prioritylevels", "storage":
			if result.Code != 0 {
				t.Errorf("want an answer, which has nothing to do with DRA\n%v", result)
			}
		case "pod": // the pod does not exist
		default:
			if !said {
				t.Errorf("nothing says that the server does not serve DRA\n%v", result)
			}
		}
	}
}

// onlyServe is the runtime configuration of a server with DRA at one version, or none.
func onlyServe(version string) string {
	var parts []string
	for _, v := range []string{"v1", "v1beta2", "v1beta1"} {
		parts = append(parts, fmt.Sprintf("resource.k8s.io/%s=%t", v, v == version))
	}
	return strings.Join(parts, ",")
}

// atVersion rewrites YAML of resource.k8s.io/v1 for an older version. At v1beta1 a request was flat and
// what a device has was below "basic".
func atVersion(text, version string) string {
	text = strings.ReplaceAll(text, "resource.k8s.io/v1\n", "resource.k8s.io/"+version+"\n")
	if version == "v1beta1" {
		text = strings.ReplaceAll(text, "exactly: {deviceClassName: gpu}", "deviceClassName: gpu")
		text = strings.ReplaceAll(text, ", attributes: ", ", basic: {attributes: ")
		text = strings.ReplaceAll(text, "{value: 40Gi}}}", "{value: 40Gi}}}}")
	}
	return text
}
