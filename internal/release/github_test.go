package release

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, name string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(read(t, name)), into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s: %v", pattern, err)
	}
	for i, file := range files {
		if files[i], err = filepath.Rel(root, file); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// form is an issue form as GitHub reads it. GitHub shows a form with anything else in it as a blank page.
type form struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Labels      []string `json:"labels"`
	Body        []struct {
		Type       string `json:"type"`
		ID         string `json:"id"`
		Attributes struct {
			Label       string `json:"label"`
			Description string `json:"description"`
			Placeholder string `json:"placeholder"`
			Render      string `json:"render"`
			Value       string `json:"value"`
		} `json:"attributes"`
		Validations struct {
			Required bool `json:"required"`
		} `json:"validations"`
	} `json:"body"`
}

// TestIssueForms: GitHub takes the forms, and each asks for a snapshot that anybody may see.
func TestIssueForms(t *testing.T) {
	for _, name := range glob(t, ".github/ISSUE_TEMPLATE/*.yml") {
		if filepath.Base(name) == "config.yml" {
			continue
		}
		var f form
		parse(t, name, &f)
		if f.Name == "" || f.Description == "" || len(f.Labels) == 0 || len(f.Body) == 0 {
			t.Errorf("%s: needs a name, a description, labels and a body", name)
		}
		ids, asked := map[string]bool{}, false
		for _, field := range f.Body {
			switch field.Type {
			case "markdown":
				if field.Attributes.Value == "" {
					t.Errorf("%s: an empty text", name)
				}
				continue
			case "textarea", "input":
			default:
				t.Errorf("%s: fields are not of type %q", name, field.Type)
			}
			if field.ID == "" || ids[field.ID] || field.Attributes.Label == "" {
				t.Errorf("%s: field %q needs an id of its own and a label", name, field.ID)
			}
			ids[field.ID] = true
			asked = asked || strings.Contains(field.Attributes.Description, "kubectl dra snapshot --anonymize -o snapshot.json.gz")
		}
		if !asked {
			t.Errorf("%s does not say how to make an anonymized snapshot", name)
		}
	}
}

// workflow is the part of a workflow that is looked at; actionlint reads all of it (make workflows).
type workflow struct {
	Permissions map[string]string `json:"permissions"`
	Jobs        map[string]struct {
		Uses        string            `json:"uses"`
		Permissions map[string]string `json:"permissions"`
		Strategy    struct {
			Matrix struct {
				Part []string `json:"part"`
			} `json:"matrix"`
		} `json:"strategy"`
		Steps []struct {
			Uses string `json:"uses"`
			Run  string `json:"run"`
		} `json:"steps"`
	} `json:"jobs"`
}

func parseWorkflow(t *testing.T, name string) workflow {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, name)), &w); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return w
}

// TestWorkflowsMayLittle: by default a job may read the repository; one that may write runs nothing that is
// in it. Actions are named by version, which a branch of theirs is not.
func TestWorkflowsMayLittle(t *testing.T) {
	version := regexp.MustCompile(`^([\w.-]+/[\w./-]+)@(v\d+(\.\d+\.\d+)?|[0-9a-f]{40})$`)
	for _, name := range glob(t, ".github/workflows/*.yml") {
		w := parseWorkflow(t, name)
		if len(w.Permissions) != 1 || w.Permissions["contents"] != "read" {
			t.Errorf("%s: permissions %v, want contents: read", name, w.Permissions)
		}
		for id, job := range w.Jobs {
			writes := slices.ContainsFunc([]string{"contents", "id-token", "attestations", "packages", "pull-requests", "issues"},
				func(scope string) bool { return job.Permissions[scope] == "write" })
			for _, step := range job.Steps {
				if step.Uses != "" && !version.MatchString(step.Uses) {
					t.Errorf("%s: job %s uses %s, which is no version", name, id, step.Uses)
				}
				if writes && (strings.HasPrefix(step.Uses, "actions/checkout@") || strings.Contains(step.Run, "make ") || strings.Contains(step.Run, ".ci/")) {
					t.Errorf("%s: job %s may write and runs what is in the repository", name, id)
				}
			}
		}
	}
}

// TestWorkflowRunsEveryPart: a part of .ci/run that no job runs would be run by nobody.
func TestWorkflowRunsEveryPart(t *testing.T) {
	list := regexp.MustCompile(`(?m)^parts=\((.*)\)$`).FindStringSubmatch(read(t, ".ci/run"))
	if list == nil {
		t.Fatal(".ci/run has no list of parts")
	}
	w := parseWorkflow(t, ".github/workflows/ci.yml")
	var run []string
	for _, parts := range w.Jobs["part"].Strategy.Matrix.Part {
		run = append(run, strings.Fields(parts)...)
	}
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			if part, ok := strings.CutPrefix(step.Run, ".ci/run "); ok && !strings.Contains(part, "$") {
				run = append(run, part)
			}
		}
	}
	for _, part := range strings.Fields(list[1]) {
		if !slices.Contains(run, part) {
			t.Errorf("no job runs .ci/run %s", part)
		}
		if !regexp.MustCompile(`(?m)^` + part + `\(\) \{$`).MatchString(read(t, ".ci/run")) {
			t.Errorf(".ci/run has no function %s", part)
		}
	}
}

// TestDependabotLooksWhereModulesAre: every tool has a module of its own, and Dependabot knows the folder.
func TestDependabotLooksWhereModulesAre(t *testing.T) {
	var config struct {
		Updates []struct {
			Ecosystem   string   `json:"package-ecosystem"`
			Directory   string   `json:"directory"`
			Directories []string `json:"directories"`
		} `json:"updates"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".github/dependabot.yml")), &config); err != nil {
		t.Fatal(err)
	}
	for _, update := range config.Updates {
		if update.Ecosystem != "gomod" {
			continue
		}
		for _, dir := range append(update.Directories, update.Directory) {
			if dir != "" {
				glob(t, filepath.Join(dir, "go.mod"))
			}
		}
	}
}

// TestMakeTargetsAreDocumented: the table in CONTRIBUTING.md names every target that make help lists, and no
// other.
func TestMakeTargetsAreDocumented(t *testing.T) {
	var targets []string
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		targets = append(targets, m[1])
	}
	contributing := read(t, "CONTRIBUTING.md")
	for _, target := range targets {
		if target != "help" && !strings.Contains(contributing, "| `make "+target+"` |") {
			t.Errorf("CONTRIBUTING.md has no line for make %s", target)
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `make ([a-z0-9-]+)` \\|").FindAllStringSubmatch(contributing, -1) {
		if !slices.Contains(targets, m[1]) {
			t.Errorf("CONTRIBUTING.md names make %s, which does not exist", m[1])
		}
	}
}

// TestToolsArePinned: each tool is a module with checksums, and the Makefile or a test builds it.
func TestToolsArePinned(t *testing.T) {
	for _, name := range glob(t, "internal/tools/*/go.mod") {
		dir := filepath.Dir(name)
		if _, err := os.Stat(filepath.Join(root, dir, "go.sum")); err != nil {
			t.Error(err)
		}
		if !regexp.MustCompile(`(?m)^tool `).MatchString(read(t, name)) && !strings.Contains(read(t, name), "tool (") {
			t.Errorf("%s names no tool", name)
		}
		tool := filepath.Base(dir)
		if !strings.Contains(read(t, "Makefile"), "$(call tool,"+tool+")") && !strings.Contains(read(t, "e2e/krew/krew_test.go"), `"internal", "tools", "`+tool+`"`) {
			t.Errorf("nothing builds %s", tool)
		}
	}
}
