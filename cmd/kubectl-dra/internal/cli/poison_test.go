package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/schematest"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/poison"
)

// runOn runs a command on a file and checks what it prints. What hostile text can make hang takes hours,
// which go test ends.
func runOn(t *testing.T, path string, args ...string) {
	t.Helper()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	flags := []string{"--from", path, "--color=never"}
	if args[0] == "__complete" { // whose last word is what is completed
		args = slices.Concat(args[:2], flags, args[2:])
	} else {
		args = append(args, flags...)
	}
	code := Main(args, streams, demo.Now)
	check := poison.Check
	if strings.Contains(strings.Join(args, " "), "jsonpath") {
		check = poison.CheckCharacters // as kubectl does, so that selectors of several lines stay whole
	}
	if slices.Contains(args, "markdown") {
		if err := checkMarkdown(out.String()); err != nil {
			t.Errorf("%q prints no Markdown: %v", args, err)
		}
	}
	if schematest.PrintsJSON(args) && code != console.ExitUsage {
		if _, err := schematest.Validate(out.Bytes()); err != nil {
			t.Errorf("%q prints what does not follow its schema: %v", args, err)
		}
	}
	text := out.String()
	if args[0] == "__complete" { // the first tab of a line stands before what describes the word
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = strings.Replace(lines[i], "\t", " ", 1)
		}
		text = strings.Join(lines, "\n")
	}
	for _, printed := range []string{text, errOut.String()} {
		if problem := check(printed); problem != "" {
			t.Errorf("%q prints %s", args, problem)
		}
	}
}

// checkMarkdown reports what is not an answer in Markdown: a headline and a block of code.
func checkMarkdown(page string) error {
	if page == "" { // there was no answer
		return nil
	}
	headline, block, _ := strings.Cut(page, "\n\n")
	fence, text, ok := strings.Cut(block, "text\n")
	if !ok || len(fence) < 3 || strings.Trim(fence, "`") != "" || strings.Contains(headline, "\n") {
		return fmt.Errorf("there is no block of code below a headline: %q", page)
	}
	if text, ok = strings.CutSuffix(text, "\n"+fence+"\n"); !ok || strings.Contains(text, fence) {
		return fmt.Errorf("the block of code does not end with the page: %q", page)
	}
	return nil
}

// poisonCommands show all that there is, in all formats.
func poisonCommands(s *inspect.Objects) [][]string {
	var out [][]string
	for _, view := range []string{"claims", "devices", "pools", "nodes", "classes", "prioritylevels", "flowschemas", "storage", "extended"} {
		for _, format := range []string{"wide", "json", "yaml", "name", "custom-columns=A:.name,B:.reason,C:.claims", `jsonpath={range .items[*]}{.name}{"\n"}{end}`} {
			out = append(out, []string{"get", view, "-A", "-o", format})
		}
		out = append(out, []string{"get", view, "-A"})
	}
	for _, view := range []string{"claims", "devices", "nodes", "priority", "storage", "causes", "usage", "changes"} {
		out = append(out, []string{"top", view, "--once"})
	}
	for _, level := range s.PriorityLevels {
		out = append(out, []string{"explain", "prioritylevel", level.Name, "-v"})
	}
	for _, user := range []string{"system:serviceaccount:a:b", "jane"} {
		ask := []string{"explain", "request", "--as", user, "--verb", "get", "--resource"}
		out = append(out, append(ask, "pods/status"), append(ask, "resourceslices", "-o", "yaml"))
	}
	for i, c := range s.Claims {
		formats := []string{"json", "yaml"}
		out = append(out, []string{"explain", "claim", c.Name, "-n", c.Namespace, "-v"}, []string{"explain", "claim", c.Name, "-n", c.Namespace, "-o", "markdown"})
		switch i % 5 {
		case 0, 1:
			out = append(out, []string{"explain", "claim", c.Name, "-n", c.Namespace, "-o", formats[i%2]})
		case 2:
			out = append(out, []string{"fit", "claim", c.Name, "-n", c.Namespace}, []string{"fit", "claim", c.Name, "-n", c.Namespace, "-o", "markdown"})
		case 3:
			out = append(out, []string{"cel", "claim", c.Name, "-n", c.Namespace}, []string{"cel", "claim", c.Name, "-n", c.Namespace, "-o", "markdown"})
		case 4:
			out = append(out, []string{"allocate", "claim", c.Name, "-n", c.Namespace, "-o", formats[i%2]})
		}
	}
	for i, p := range s.Pods {
		if len(p.Spec.ResourceClaims) > 0 && i%3 == 0 {
			out = append(out, []string{"explain", "pod", p.Name, "-n", p.Namespace}, []string{"allocate", "pod", p.Name, "-n", p.Namespace})
		}
	}
	for i, p := range s.Pods {
		if p.Spec.NodeName == "" && i%2 == 0 {
			out = append(out, []string{"plan", "make-room", "pod/" + p.Name, "-n", p.Namespace, "-v"}, []string{"plan", "make-room", "pod/" + p.Name, "-n", p.Namespace, "-o", "json"})
		}
	}
	for _, c := range s.Templates {
		out = append(out, []string{"explain", "template", c.Name, "-n", c.Namespace})
	}
	for _, c := range s.VolumeClaims {
		out = append(out, []string{"explain", "pvc", c.Name, "-n", c.Namespace, "-v"}, []string{"explain", "pvc", c.Name, "-n", c.Namespace, "-o", "json"})
	}
	return append(out,
		[]string{"cel", "device.driver != ''"}, []string{"cel", "device.attributes['x'].y == 1", "-o", "json"},
		[]string{"check", "--severity", "note", "-v"}, []string{"check", "--severity", "note", "-o", "json"},
		[]string{"explain", "-o", "markdown"}, []string{"plan", "pending", "-o", "markdown"}, []string{"check", "--severity", "note", "-o", "markdown"},
		[]string{"plan", "delete", "ml", "-o", "markdown"},
		[]string{"explain", "prioritylevel", "-o", "markdown"}, []string{"explain", "request", "--as", "jane", "--verb", "get", "--resource", "pods", "-o", "markdown"},
		[]string{"plan", "pending", "-v"}, []string{"plan", "pending", "-o", "json"}, []string{"plan", "delete", "ml", "-v"}, []string{"plan", "lose", "node", "--any", "1", "-v"},
		[]string{"explain", "-v"}, []string{"explain", "-o", "json"}, []string{"explain", "claim", "nothing", "-n", "ml"}, []string{"get", "claims", "nothing", "-n", "ml"}, []string{"get", "devices", "-l", "x=y"},
		[]string{"plan", "nodes", "pending", "-v"}, []string{"plan", "nodes", "pending", "-o", "json"},
		[]string{"snapshot", "-o", os.DevNull}, []string{"snapshot", "--anonymize", "-o", os.DevNull},
		[]string{"__complete", "explain", "claim", "-n", "ml", ""}, []string{"__complete", "get", "nodes", ""},
		[]string{"__complete", "cel", "device.attributes[\""}, []string{"__complete", "explain", "claim", "train-0", "-n", "ml", "--fix", ""},
		[]string{"__complete", "explain", "request", "--as", ""}, []string{"__complete", "plan", "lose", "device", ""}, []string{"__complete", "explain", "claim", "-n", ""})
}

// TestNoTextReachesTheTerminal plants hostile text in every field of the objects of the demo cluster.
func TestNoTextReachesTheTerminal(t *testing.T) {
	worlds := poison.Plant(func() inspect.Objects {
		objects, err := demo.Objects()
		if err != nil {
			t.Fatal(err)
		}
		return objects
	}, poison.Text)
	fields := 0
	for i := range worlds {
		fields += len(worlds[i].Fields)
	}
	if fields < 150 {
		t.Errorf("only %d fields were tried", fields)
	}
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain.json")
	if err := os.WriteFile(plain, encode(t, &objects), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range worlds {
		path := filepath.Join(t.TempDir(), "world.json")
		if err := os.WriteFile(path, encode(t, &worlds[i].Objects), 0o600); err != nil {
			t.Fatal(err)
		}
		commands := append(poisonCommands(&worlds[i].Objects), []string{"diff", plain, "-v"}, []string{"diff", plain, "-o", "json"}, []string{"diff", plain, "-o", "markdown"})
		for n, args := range commands {
			every := effort.InFull(1, 96)
			if args[0] == "plan" { // which takes seconds each
				every = effort.InFull(4, 96)
			}
			if (n+i)%every == 0 {
				runOn(t, path, args...)
			}
		}
	}
	t.Logf("%d fields in %d worlds", fields, len(worlds))
}

// TestNoTextOfQueuesReachesTheTerminal plants hostile text in every field of a cluster with queues of Kueue.
func TestNoTextOfQueuesReachesTheTerminal(t *testing.T) {
	archive, err := txtar.ParseFile("../../testdata/script/queuesquota.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var cluster []byte
	for _, f := range archive.Files {
		if f.Name == "cluster.yaml" {
			cluster = f.Data
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	worlds := poison.Plant(func() inspect.Objects {
		read, err := manifest.ReadBytes("cluster.yaml", cluster, manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return read.Objects
	}, poison.Text)
	config := []string{"--kueue-config", filepath.Join(dir, "kueue.yaml")}
	n := 0
	for i := range worlds {
		o := &worlds[i].Objects
		path := filepath.Join(t.TempDir(), "world.json")
		if err := os.WriteFile(path, encode(t, o), 0o600); err != nil {
			t.Fatal(err)
		}
		commands := [][]string{{"get", "queues", "-A"}, {"get", "workloads", "-A", "-o", "wide"}, {"get", "workloads", "-A", "-o", "json"}, {"get", "queues", "-A", "-o", "yaml"}}
		for _, q := range o.ClusterQueues {
			commands = append(commands, []string{"explain", "clusterqueue", q.Name, "-v"}, []string{"explain", "queue", q.Name, "-o", "json"})
		}
		for _, name := range []string{"held", "little", "taint", "limit"} {
			file := filepath.Join(dir, name+".yaml")
			commands = append(commands, []string{"explain", "-f", file, "-v"}, []string{"explain", "-f", file, "-o", "json"})
		}
		for _, args := range commands {
			if n++; n%effort.InFull(1, 12) == 0 {
				runOn(t, path, append(args, config...)...)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d commands", n)
	}
}

// TestFullObjects plants hostile text in every field that the API has, of all kinds, all at once and one by
// one.
func TestFullObjects(t *testing.T) {
	for _, k := range inspect.Kinds() {
		t.Run(k.Name, func(t *testing.T) {
			full := func() any { o := k.New(); fillAll(o); return o }
			one := len(poison.Strings(full()))
			for i := range one + 1 {
				if i < one && i%effort.InFull(1, 80) != 0 {
					continue
				}
				object := full()
				for n, leaf := range poison.Strings(object) {
					if i == n || i == one && !strings.HasSuffix(leaf.Path, "{key}") && !strings.HasPrefix(leaf.Path, "metadata.name") {
						leaf.Set(poison.Text)
					}
				}
				tryObject(t, k, object, nil)
			}
		})
	}
}

// TestNoNumberHangs puts numbers that take hours to parse into every quantity that the API has.
func TestNoNumberHangs(t *testing.T) {
	tried := 0
	for _, k := range inspect.Kinds() {
		object := k.New()
		fillAll(object)
		raw := withKind(t, k, object)
		n := bytes.Count(raw, []byte(`"`+marker+`"`))
		tried += n
		for i := range n {
			for j, number := range numbers() {
				if (i+j)%effort.InUsual(2, 1) != 0 || j > 0 && (i+j)%effort.InFull(1, 64) != 0 {
					continue
				}
				tryObject(t, k, object, func(raw []byte) []byte { return replaceNth(raw, `"`+marker+`"`, i, `"`+number+`"`) })
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d quantities were tried", tried)
	}
	t.Logf("%d quantities", tried)
}

// tryObject asks about a single object.
func tryObject(t *testing.T, k inspect.Kind, object any, change func([]byte) []byte) {
	t.Helper()
	raw := withKind(t, k, object)
	if change != nil {
		raw = change(raw)
	}
	path := filepath.Join(t.TempDir(), "object.json")
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	view := map[string]string{
		"ResourceClaim": "claims", "DeviceClass": "classes", "ResourceSlice": "devices", "Node": "nodes",
		"PriorityLevelConfiguration": "prioritylevels", "FlowSchema": "flowschemas", "CSIStorageCapacity": "storage", "StorageClass": "storage",
		"Workload": "workloads", "ClusterQueue": "queues", "LocalQueue": "queues", "Cohort": "queues", "ResourceFlavor": "queues",
	}[k.Name]
	if view == "" {
		view = "claims"
	}
	runOn(t, path, "get", view, "-A", "-o", "yaml")
	if k.Name == "Pod" || k.Name == "Node" {
		runOn(t, path, "get", "extended", "-o", "wide")
	}
	if view == "queues" {
		runOn(t, path, "explain", "queue", "x", "-n", "x")
	}
	runOn(t, path, "explain", "-f", path, "-v")
	if effort.Full() {
		runOn(t, path, "get", view, "-A", "-o", "wide")
		runOn(t, path, "top", "--once")
		runOn(t, path, "allocate", "claim", "x", "-n", "x")
		runOn(t, path, "snapshot", "--anonymize", "-o", os.DevNull)
	}
}

// replaceNth replaces the nth occurrence, from 0.
func replaceNth(raw []byte, old string, n int, by string) []byte {
	parts := bytes.SplitAfterN(raw, []byte(old), n+2)
	parts[n] = append(bytes.TrimSuffix(parts[n], []byte(old)), by...)
	return bytes.Join(parts, nil)
}
