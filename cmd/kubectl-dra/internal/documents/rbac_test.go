package documents

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

// roleOf is a role of docs/rbac, as its file has it.
func roleOf(t *testing.T, name string) (rules []rbacv1.PolicyRule, file string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "docs", "rbac", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var role rbacv1.ClusterRole
	if err := yaml.UnmarshalStrict(data, &role); err != nil {
		t.Fatal(err)
	}
	return role.Rules, string(data)
}

// readers are the commands that are asked without each rule: of each that reads, one that needs most.
var readers = []string{
	"explain", "explain claim train-1 -n ml", "explain pod train-1 -n ml", "explain pvc checkpoints -n ml", "explain deployment/chat-7b -n infer", "explain statefulset/llm-70b -n infer", "explain daemonset/gpu-health -n infer", "explain replicaset/moderation-7f5c9d6b4 -n infer",
	"explain job/eval -n ml", "explain cronjob/nightly -n ml", "explain replicationcontroller/old -n ml", "__complete explain deployment -n infer c", "__complete explain daemonset -n infer g",
	"__complete explain job -n ml e", "__complete explain cronjob -n ml n",
	"explain -f urgent.yaml", "explain request --as jane --verb list --resource pods", "explain prioritylevel workload-low", "fit claim train-1 -n ml", `cel claim train-1 -n ml`,
	"get claims -A", "get devices", "get nodes", "get pools", "get classes", "get prioritylevels", "get flowschemas", "get storage -A", "get extended", "get usage",
	"check", "node gpu-a-01", "plan pod train-1 -n ml", "plan drain gpu-a-04", "plan make-room claim/train-0 -n ml",
	"snapshot -o saved.pb.gz --force", "top claims --once", "top changes --once", "diff before.pb.gz", "allocate claim train-1 -n ml --dry-run=client",
}

// writers are the commands that are asked without each rule of the role to write.
var writers = []string{
	"allocate claim train-1 -n ml --yes --settle=1ms", "allocate pod whisper-tiny -n infer --reserve --yes --settle=1ms", "deallocate claim notebook-omar -n dev --yes",
}

// lacking is one permission that is taken away.
type lacking struct {
	verb, group, resource, path string
}

// permissions are the single permissions of rules, in their order.
func permissions(rules []rbacv1.PolicyRule) []lacking {
	var out []lacking
	for _, r := range rules {
		for _, url := range r.NonResourceURLs {
			out = append(out, lacking{verb: r.Verbs[0], path: url})
		}
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				out = append(out, lacking{verb: verb, group: r.APIGroups[0], resource: resource})
			}
		}
	}
	return out
}

// without are rules without a permission.
func (l lacking) without(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
	out := []rbacv1.PolicyRule{}
	for _, p := range permissions(rules) {
		if p == l {
			continue
		}
		if p.path != "" {
			out = append(out, rbacv1.PolicyRule{Verbs: []string{p.verb}, NonResourceURLs: []string{p.path}})
		} else {
			out = append(out, rbacv1.PolicyRule{Verbs: []string{p.verb}, APIGroups: []string{p.group}, Resources: []string{p.resource}})
		}
	}
	return out
}

// touches reports whether a request needs the permission.
func (l lacking) touches(a access) bool {
	return l.path != "" && a.path != "" && strings.HasPrefix(a.path, strings.TrimSuffix(l.path, "*")) ||
		l.path == "" && a.path == "" && a.verb == l.verb && a.group == l.group && (a.resource == l.resource || a.resource+"/"+a.subresource == l.resource)
}

func (l lacking) String() string {
	if l.path != "" {
		return l.verb + " `" + l.path + "`"
	}
	return fmt.Sprintf("%s `%s`", l.verb, l.resource)
}

// asking is a command with all permissions: what it prints, and what it asks for.
type asking struct {
	result
	asked []access
}

// askAs runs a command on a server in its first state, with some rules.
func askAs(s *stage, command string, rules []rbacv1.PolicyRule) asking {
	fresh := newServer(s.t)
	s.server.mu.Lock()
	s.server.Server, s.server.workloads = fresh.Server, fresh.workloads
	s.server.mu.Unlock()
	s.server.permit(rules)
	r := s.program(strings.Fields(command)...)
	return asking{r, s.server.requests()}
}

// changing is what differs from run to run.
var changing = regexp.MustCompile(`127\.0\.0\.1:\d+|\bin \d+ms\b`)

func (a *asking) text() string { return changing.ReplaceAllString(a.stdout+a.stderr, "…") }

// TestRolesAreEnough: with the roles, commands say what they say to who may do everything. A rule that no
// command asks for would be too much.
func TestRolesAreEnough(t *testing.T) {
	read, _ := roleOf(t, "read")
	write, _ := roleOf(t, "write")
	audit, _ := roleOf(t, "audit")
	s := newStage(t)
	for _, c := range []struct {
		commands []string
		rules    []rbacv1.PolicyRule
	}{{readers, read}, {writers, slices.Concat(read, write)}, {[]string{"check --severity note"}, slices.Concat(read, audit)}} {
		for i, command := range c.commands {
			if i%effort.InFull(1, effort.InUsual(6, 3)) > 0 && len(c.commands) > 3 {
				continue
			}
			all, some := askAs(s, command, nil), askAs(s, command, c.rules)
			if all.code == 1 && all.stdout == "" {
				t.Errorf("kubectl dra %s fails for an admin: %s", command, all.stderr)
			}
			if all.code != some.code || all.text() != some.text() {
				t.Errorf("kubectl dra %s ends with exit code %d for an admin and %d with the roles of docs/rbac, which lack a rule:%s", command, all.code, some.code, firstDifference(some.text(), all.text()))
			}
		}
	}
}

// loss is what a command says without a permission.
type loss struct {
	lacking  lacking
	outcome  string
	commands []string
	says     string
}

// lossesOf asks each command without each permission that it needs.
func lossesOf(t *testing.T, commands []string, base, rules []rbacv1.PolicyRule) []*loss {
	t.Helper()
	s := newStage(t)
	full := slices.Concat(base, rules)
	honest := make([]asking, len(commands))
	for i, command := range commands {
		honest[i] = askAs(s, command, full)
	}
	var out []*loss
	for _, l := range permissions(rules) {
		if l.verb == "watch" {
			continue // what follows a cluster lists instead: the fault watch-403 of docs/reliability.md
		}
		first := len(out)
		for i, command := range commands {
			implied := l.resource == "resourceclaims/binding" || l.resource == "devicetaintrules" && l.verb != "list" // asked for by a review
			if !implied && !slices.ContainsFunc(honest[i].asked, l.touches) {
				continue
			}
			got := askAs(s, command, append(slices.Clone(base), l.without(rules)...))
			outcome, says := compared(l, &honest[i], &got)
			if outcome == "" {
				continue
			}
			at := slices.IndexFunc(out[first:], func(x *loss) bool { return x.outcome == outcome && x.says == says })
			if at < 0 {
				at = len(out) - first
				out = append(out, &loss{lacking: l, outcome: outcome, says: says})
			}
			out[first+at].commands = append(out[first+at].commands, command)
		}
		if len(out) == first {
			out = append(out, &loss{lacking: l})
		}
	}
	return out
}

// compared says what became of an answer without a permission, and the paragraph that tells it.
func compared(l lacking, honest, got *asking) (outcome, says string) {
	if got.code == honest.code && got.text() == honest.text() {
		return "", ""
	}
	switch {
	case honest.args[0] == "__complete":
		return "no names are completed", ""
	case honest.args[0] == "snapshot":
		outcome = "the file has none"
	case got.code == 1 && got.stdout == "":
		outcome = "fails"
	case got.code != honest.code:
		outcome = fmt.Sprintf("exit code %d instead of %d", got.code, honest.code)
	case got.stdout == honest.stdout:
		outcome = "the same answer, with a remark"
	default:
		outcome = "partial"
	}
	return outcome, telling(l, paragraphs(honest.text()), paragraphs(changing.ReplaceAllString(got.stderr+"\n"+got.stdout, "…")))
}

// telling is the paragraph, of those that are new, that names the permission, or else one that says that
// something is not permitted, or else the first.
func telling(l lacking, before, now []string) string {
	now = slices.DeleteFunc(now, func(text string) bool { return slices.Contains(before, text) })
	name := cmp.Or(l.path, l.resource)
	for _, words := range [][]string{{"cannot " + l.verb, strings.TrimSuffix(name, "*")}, {"may not"}, {"cannot " + l.verb}, {"orbidden"}, {""}} {
		for _, text := range now {
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) }) {
				return text
			}
		}
	}
	return ""
}

// paragraphs are the lines of an output as they were before they were wrapped: a line continues the one
// before if it is indented more than its paragraph, and if its first word had no room there.
func paragraphs(output string) []string {
	const width = 80
	var out []string
	last, indent := "", 0 // the line before, and the indentation of its paragraph
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, " \n")
		text := strings.TrimSpace(line)
		first, _, _ := strings.Cut(text, " ")
		switch n, by := styled.Width(last), len(line)-len(strings.TrimLeft(line, " ")); {
		case text == "":
		case last != "" && n <= width && n+1+styled.Width(first) > width && by > indent:
			out[len(out)-1] += " " + text
		default:
			out, indent = append(out, text), by
		}
		last = line
	}
	return out
}

// TestParagraphs: what was wrapped is put together again, and what was not is left apart.
func TestParagraphs(t *testing.T) {
	const long = "cannot list devicetaintrules.resource.k8s.io at cluster scope: devices may"
	for name, c := range map[string]struct {
		output string
		want   []string
	}{
		"wrapped":                      {"? " + long + " be\n  tainted\n", []string{"? " + long + " be tainted"}},
		"a line that is not full":      {"Nodes\n    2  gpu-a-02\n", []string{"Nodes", "2  gpu-a-02"}},
		"as full, and of the next":     {"   " + long + " b\n   another\n", []string{long + " b", "another"}},
		"indented less than the start": {"   " + long + " be\n     tainted,\n   so\n", []string{long + " be tainted,", "so"}},
		"a line that was not wrapped":  {"error: " + long + " be tainted\n  hint\n", []string{"error: " + long + " be tainted", "hint"}},
		"a blank line":                 {long + " be ta\n\n  Nodes\n", []string{long + " be ta", "Nodes"}},
	} {
		if got := paragraphs(c.output); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// lossTable is the table of a role.
func lossTable(losses []*loss) string {
	var b strings.Builder
	b.WriteString("| without | these commands | what becomes of the answer | it says |\n|---|---|---|---|\n")
	var last lacking
	for _, l := range losses {
		title := "**" + l.lacking.String() + "**"
		if l.lacking == last {
			title = ""
		}
		last = l.lacking
		if l.outcome == "" {
			fmt.Fprintf(&b, "| %s | – | nothing changes | |\n", title)
			continue
		}
		var names []string
		for _, c := range l.commands {
			names = append(names, shortName(c))
		}
		says := ""
		if l.says != "" {
			says = "`" + strings.NewReplacer("|", `\|`, "`", "'").Replace(l.says) + "`"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", title, strings.Join(slices.Compact(names), ", "), l.outcome, says)
	}
	return b.String()
}

// shortName is a command without what it is about.
func shortName(command string) string {
	words := strings.Fields(command)
	if words[0] == "__complete" {
		return "completion"
	}
	n := 1
	if len(words) > 1 && !strings.HasPrefix(words[1], "-") && slices.Contains([]string{"get", "explain", "plan", "top"}, words[0]) {
		n = 2
	}
	return strings.Join(words[:n], " ")
}

const rbacIntro = "cmd/kubectl-dra/internal/documents/testdata/rbac.txt"

// TestWrittenRoles compares docs/rbac.md with the files of the roles and with what commands say without each
// permission: in the full run of all permissions, otherwise only that the page has them all.
func TestWrittenRoles(t *testing.T) {
	intro, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(rbacIntro)))
	if err != nil {
		t.Fatal(err)
	}
	read, readFile := roleOf(t, "read")
	write, writeFile := roleOf(t, "write")
	_, auditFile := roleOf(t, "audit")
	_, schedulerFile := roleOf(t, "scheduler")
	_, kueueFile := roleOf(t, "kueue")
	text := strings.NewReplacer("READ.YAML\n", readFile, "WRITE.YAML\n", writeFile, "AUDIT.YAML\n", auditFile, "SCHEDULER.YAML\n", schedulerFile, "KUEUE.YAML\n", kueueFile).Replace(string(intro))
	if !*update {
		page, err := os.ReadFile(filepath.Join(root, "docs/rbac.md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range permissions(slices.Concat(read, write)) {
			if l.verb != "watch" && !strings.Contains(string(page), "**"+l.String()+"**") {
				t.Errorf("docs/rbac.md does not say what is lost without %s: run make generate", l)
			}
		}
		before, _, _ := strings.Cut(text, "READ-LOSSES")
		if !strings.Contains(string(page), strings.TrimSpace(before)) {
			t.Errorf("docs/rbac.md does not begin with %s and the roles of docs/rbac: run make generate", rbacIntro)
		}
		return
	}
	text = strings.NewReplacer("READ-LOSSES\n", lossTable(lossesOf(t, readers, nil, read)), "WRITE-LOSSES\n", lossTable(lossesOf(t, writers, read, write))).Replace(text)
	written(t, "docs/rbac.md", writtenFromSource+text)
}
