package documents

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli"
	reading "github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
)

const commandFolder = "docs/commands"

// generated is the first line of pages that nobody edits.
const generated = "<!-- Written by make generate from the help of the program: change that instead. -->\n\n"

// besides are the pages that say more of a command, with what they say.
var besides = map[string][]string{
	"":                      {"README.md", "which page answers which question", "json.md", "for scripts"},
	"allocate":              {"allocate.md", "what happens beside a running scheduler", "rbac.md", "a role to write"},
	"cel":                   {"selectors.md", "writing selectors in the lab, with ten tasks"},
	"check":                 {"check.md", "all that it looks for"},
	"completion":            {"completion.md", "completion in each shell"},
	"deallocate":            {"allocate.md", "what happens beside a running scheduler", "rbac.md", "a role to write"},
	"diff":                  {"history.md", "the past: logs, moments, and what flipped a verdict"},
	"explain":               {"explain.md", "how to read an explanation", "reasons.md", "reason codes, with examples", "fixes.md", "kinds of fixes, with examples"},
	"explain prioritylevel": {"priority.md", "API Priority and Fairness"},
	"explain request":       {"priority.md", "API Priority and Fairness"},
	"fit":                   {"explain.md#how-many-more-fit", "how it counts"},
	"get":                   {"priority.md", "priority levels and FlowSchemas"},
	"node":                  {"node.md", "where to run it, and what each part says"},
	"plan":                  {"plan.md", "what each answer means"},
	"record":                {"history.md", "the past: logs, moments, and what flipped a verdict"},
	"snapshot":              {"snapshots.md", "what is in a snapshot, and what is left of it when it is anonymized"},
	"top":                   {"top.md", "keys, and tasks beside kubectl and k9s"},
}

// notRun says of commands why their examples cannot be run on a stage; exits, which exit code they may end
// with.
var (
	notRun = map[string]string{
		"completion": "it changes the shell",
		"node":       "most of it needs the kubelet of a node",
		"node cni":   "it reads the files of a node",
	}
	exits = map[string]string{
		"plan": "1 where it depends on the nodes that kube-scheduler chooses", "plan make-room": "1 where not all could be tried", "plan nodes": "1 where not all could be tried",
		"plan drain": "1 where it depends on the nodes that kube-scheduler chooses", "plan lose": "1 where not all could be tried", "plan taint": "1 where it depends on the nodes that kube-scheduler chooses",
		"plan delete":     "1 where it depends on the nodes that kube-scheduler chooses",
		"explain request": "1 for --verify, which the API server of the tests cannot answer",
	}
)

// described are the commands that have a page, with their subcommands.
func described(root *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() && c.Name() != "options" {
			out = append(append(out, c), described(c)...)
		}
	}
	return out
}

// nameOf is a command without the name of the program, such as "plan drain".
func nameOf(c *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(c.CommandPath(), "kubectl dra"), " ")
}

func fileOf(c *cobra.Command) string { return strings.ReplaceAll(nameOf(c), " ", "-") + ".md" }

// TestWrittenCommands compares the pages of commands with the help of the program. With -update it also asks
// what the examples read of a server.
func TestWrittenCommands(t *testing.T) {
	program := cli.Commands()
	commands := described(program)
	if len(commands) < 20 {
		t.Fatalf("only %d commands", len(commands))
	}
	files := []string{"README.md", "flags.md"}
	for _, c := range commands {
		files = append(files, fileOf(c))
		t.Run(nameOf(c), func(t *testing.T) { written(t, commandFolder+"/"+fileOf(c), commandPage(t, c)) })
	}
	written(t, commandFolder+"/README.md", commandIndex(commands))
	written(t, commandFolder+"/flags.md", flagsPage(program))
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(commandFolder)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(files, e.Name()) {
			t.Errorf("%s/%s is of no command: remove it", commandFolder, e.Name())
		}
	}
}

// commandPage is the page of a command.
func commandPage(t *testing.T, c *cobra.Command) string {
	t.Helper()
	name := nameOf(c)
	var b strings.Builder
	fmt.Fprintf(&b, "%s# kubectl dra %s\n\n%s.\n\n```text\n%s\n```\n", generated, name, c.Short, c.UseLine())
	about, codes := description(c.Long)
	if about != "" {
		b.WriteString("\n" + about)
	}
	if c.HasExample() {
		b.WriteString("\n## Examples\n\n" + exampleBlocks(name, c.Example))
	}
	if flags := c.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		b.WriteString("\n## Flags\n\n" + flagTable(flags) + "\n[Flags that every command has](flags.md) say which cluster is asked, or which files.\n")
	}
	fmt.Fprintf(&b, "\n## Exit codes\n\n%s", exitCodes(codes))
	if reads := readsOf(t, c); reads != "" {
		b.WriteString("\n## What it reads\n\n" + reads)
	}
	b.WriteString("\n## See also\n\n")
	for _, l := range related(c) {
		b.WriteString("- " + l + "\n")
	}
	return b.String()
}

var exitSentence = regexp.MustCompile(`(?s)^Exit codes: (.*)\.$`)

// description is the long text of a help as Markdown, and what it says of exit codes.
func description(long string) (about, codes string) {
	var b strings.Builder
	for _, paragraph := range strings.Split(strings.TrimSpace(long), "\n\n") {
		if m := exitSentence.FindStringSubmatch(paragraph); m != nil {
			codes = strings.Join(strings.Fields(m[1]), " ")
			continue
		}
		switch {
		case strings.HasPrefix(paragraph, "  - "):
			b.WriteString(quoted(unindented(paragraph)) + "\n\n")
		case strings.HasPrefix(paragraph, "  "):
			b.WriteString("```text\n" + unindented(paragraph) + "\n```\n\n")
		default:
			b.WriteString(quoted(paragraph) + "\n\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n"), codes
}

func unindented(paragraph string) string {
	return strings.TrimPrefix(strings.ReplaceAll(paragraph, "\n  ", "\n"), "  ")
}

var (
	flagInText = regexp.MustCompile(`(^|[\s(])(--?[a-zA-Z][-a-z]*(?:=[^\s,.;)]+| (?:[A-Z]+|yaml|json|jsonpath)\b)?)`)
	pageInText = regexp.MustCompile(`\bdocs/([a-z]+\.md)\b`)
)

// quoted is a text of a help with its flags as code and its pages as links.
func quoted(text string) string {
	text = strings.NewReplacer("<", "&lt;", "*", "\\*", "[", "\\[", "|", "\\|").Replace(text)
	text = pageInText.ReplaceAllString(text, "[$1](../$1)")
	return flagInText.ReplaceAllString(text, "$1`$2`")
}

// exampleBlocks is a block for each example, and above each what it is for.
func exampleBlocks(name, examples string) string {
	var b strings.Builder
	for _, example := range strings.Split(unindented(strings.TrimRight(examples, "\n")), "\n\n") {
		if why := notRun[name]; why != "" {
			fmt.Fprintf(&b, "<!-- not run: %s -->\n", why)
		}
		if code := exits[name]; code != "" {
			fmt.Fprintf(&b, "<!-- exits: %s -->\n", code)
		}
		fmt.Fprintf(&b, "```sh\n%s\n```\n\n", strings.TrimSpace(example))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// flagTable is a table of flags.
func flagTable(flags *pflag.FlagSet) string {
	var b strings.Builder
	b.WriteString("| flag | type | default | meaning |\n|---|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		name := "`--" + f.Name + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		value := f.DefValue
		if slices.Contains([]string{"", "[]", "false", "0"}, value) {
			value = ""
		} else {
			value = "`" + value + "`"
		}
		if f.NoOptDefVal != "" && f.Value.Type() != "bool" && f.Value.Type() != "count" {
			value = strings.TrimPrefix(value+", ", ", ") + "alone `" + f.NoOptDefVal + "`"
		}
		_, usage := pflag.UnquoteUsage(f)
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, f.Value.Type(), value, strings.Join(strings.Fields(quoted(usage)), " "))
	})
	return b.String()
}

var exitCode = regexp.MustCompile(`(?:^|[,;:]\s+)(\d)\s`)

// exitCodes is a table of exit codes: those that the help tells, and those that all commands have.
func exitCodes(sentence string) string {
	meaning := map[string]string{"0": "it has answered", "1": "it has failed"}
	order := []string{"0", "1"}
	if sentence != "" {
		order = nil
		at := exitCode.FindAllStringSubmatchIndex(sentence, -1)
		for i, m := range at {
			end := len(sentence)
			if i+1 < len(at) {
				end = at[i+1][0]
			}
			code := sentence[m[2]:m[3]]
			order = append(order, code)
			meaning[code] = strings.TrimSpace(sentence[m[1]:end])
		}
	}
	var b strings.Builder
	b.WriteString("| code | means |\n|---|---|\n")
	for _, code := range order {
		fmt.Fprintf(&b, "| %s | %s |\n", code, quoted(meaning[code]))
	}
	b.WriteString("| 2 | the command line is wrong |\n| 130, 143 | it was interrupted: by Ctrl-C, by SIGTERM |\n")
	return b.String()
}

// related are links to commands and pages.
func related(c *cobra.Command) []string {
	var out []string
	link := func(to *cobra.Command) {
		out = append(out, fmt.Sprintf("[kubectl dra %s](%s): %s", nameOf(to), fileOf(to), quoted(lowered(to.Short))))
	}
	if parent := c.Parent(); parent.HasParent() {
		link(parent)
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			link(sub)
		}
	}
	for p := c; p.HasParent(); p = p.Parent() {
		if more := besides[nameOf(p)]; more != nil {
			for i := 0; i < len(more); i += 2 {
				if file, _, _ := strings.Cut(more[i], "#"); !exists("docs/" + file) {
					continue // not written yet
				}
				out = append(out, fmt.Sprintf("[%s](../%s): %s", strings.Split(more[i], "#")[0], more[i], more[i+1]))
			}
			break
		}
	}
	return append(out, "[All commands](README.md)")
}

// lowered begins with a small letter, unless the word is an abbreviation.
func lowered(s string) string {
	if len(s) < 2 || s[1] < 'a' || s[1] > 'z' {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// exists reports whether the repository has a file.
func exists(name string) bool {
	_, err := os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// commandIndex is the page that names all commands.
func commandIndex(commands []*cobra.Command) string {
	var b strings.Builder
	b.WriteString(generated + "# Commands\n\n`kubectl dra COMMAND --help` says the same in a terminal. Every command takes [these flags](flags.md).\n\n| command | does |\n|---|---|\n")
	for _, c := range commands {
		fmt.Fprintf(&b, "| [%s](%s) | %s |\n", nameOf(c), fileOf(c), quoted(lowered(c.Short)))
	}
	b.WriteString("\n## Exit codes\n\nMost commands end with 0 when they have answered, and with 3 when the answer is no. The page of each says what its codes mean.\n\n")
	return b.String() + exitCodes("0 it has answered, 3 the answer is no, 1 it has failed, or the scheduler would give up with an error")
}

// flagsPage is the page of the flags that every command has.
func flagsPage(root *cobra.Command) string {
	ours, kubectls := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	root.PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(reading.ClusterFlags, f.Name) || slices.Contains([]string{"namespace", "token", "disable-compression", "request-timeout"}, f.Name) {
			kubectls.AddFlag(f)
		} else {
			ours.AddFlag(f)
		}
	})
	return generated + "# Flags that every command has\n\n## What is read\n\n" + flagTable(ours) +
		"\n## Which cluster is asked\n\nThese are kubectl's, and mean what they mean there.\n\n" + flagTable(kubectls) + "\n[All commands](README.md)\n"
}

// readsOf says what a command asks an API server for: with -update, as make generate has it, what its
// examples ask the server of a stage for, otherwise what the page says.
func readsOf(t *testing.T, c *cobra.Command) string {
	t.Helper()
	if !*update {
		page, err := os.ReadFile(filepath.Join(root, commandFolder, fileOf(c)))
		if err != nil {
			t.Fatal(err)
		}
		_, section, _ := strings.Cut(string(page), "\n## What it reads\n\n")
		section, _, _ = strings.Cut(section, "\n## See also")
		return section
	}
	list, err := statements(c.Example)
	if err != nil {
		t.Fatalf("the examples are no shell: %v", err)
	}
	sh := newShell(newStage(t))
	var asked []access
	for i := range list {
		sh.server.requests()
		_ = sh.runner.Run(t.Context(), list[i].node) // TestBlocks looks at how it ends
		asked = append(asked, sh.server.requests()...)
	}
	return accessTable(asked)
}

// accessTable says which permissions requests need. There are none for discovery and /version, which
// everybody may read.
func accessTable(asked []access) string {
	verbs := map[string][]string{}
	for _, a := range asked {
		key := a.path
		switch {
		case a.resource == "selfsubjectaccessreviews" || a.path != "" && permits([]rbacv1.PolicyRule{}, a):
			continue
		case a.path == "":
			key = a.resource
			if a.subresource != "" {
				key += "/" + a.subresource
			}
			key = fmt.Sprintf("`%s` | %s", key, groupName(a.group))
		default:
			key = fmt.Sprintf("`%s` | –", key)
		}
		verbs[key] = append(verbs[key], a.verb)
	}
	if len(verbs) == 0 {
		return ""
	}
	keys := make([]string, 0, len(verbs))
	for key := range verbs {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b string) int {
		_, groupA, _ := strings.Cut(a, " | ")
		_, groupB, _ := strings.Cut(b, " | ")
		return strings.Compare(groupA+a, groupB+b)
	})
	var b strings.Builder
	b.WriteString("Of a cluster, what its examples ask the API server for. [What is lost without each](../rbac.md), and a role for all of it.\n\n| resource | API group | verbs |\n|---|---|---|\n")
	for _, key := range keys {
		slices.Sort(verbs[key])
		fmt.Fprintf(&b, "| %s | %s |\n", key, strings.Join(slices.Compact(verbs[key]), ", "))
	}
	return b.String()
}

func groupName(group string) string {
	if group == "" {
		return "core"
	}
	return group
}
