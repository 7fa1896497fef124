package release

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const root = "../.."

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// goreleaser is the part of .goreleaser.yaml that has to agree with the source. goreleaser itself checks
// the rest: make release-check.
type goreleaser struct {
	Version int `json:"version"`
	Builds  []struct {
		Main    string   `json:"main"`
		Binary  string   `json:"binary"`
		LDFlags []string `json:"ldflags"`
	} `json:"builds"`
	Archives []struct {
		Files []struct {
			Source string `json:"src"`
		} `json:"files"`
	} `json:"archives"`
	SBOMs []struct {
		Cmd string `json:"cmd"`
	} `json:"sboms"`
}

func TestGoreleaserAgreesWithTheSource(t *testing.T) {
	var config goreleaser
	if err := yaml.Unmarshal([]byte(read(t, ".goreleaser.yaml")), &config); err != nil {
		t.Fatal(err)
	}
	if config.Version != 2 || len(config.Builds) != 1 || len(config.Archives) != 1 {
		t.Fatalf("version %d, %d builds, %d archives; want version 2, one build, one archive",
			config.Version, len(config.Builds), len(config.Archives))
	}
	build := config.Builds[0]
	if build.Binary != "kubectl-dra" {
		t.Errorf("binary is %q: kubectl finds a plugin dra only as kubectl-dra", build.Binary)
	}
	if _, err := os.Stat(filepath.Join(root, build.Main, "main.go")); err != nil {
		t.Errorf("main: %v", err)
	}
	for _, file := range config.Archives[0].Files {
		if _, err := os.Stat(filepath.Join(root, file.Source)); file.Source == "" || err != nil {
			t.Errorf("archive: file %q: %v", file.Source, err)
		}
	}
	for _, sbom := range config.SBOMs {
		if _, err := os.Stat(filepath.Join(root, "internal", "tools", sbom.Cmd, "go.mod")); err != nil {
			t.Errorf("SBOM: %v", err)
		}
	}
	checkStamps(t, strings.Join(build.LDFlags, " "))
}

func TestMakefileStampsTheVersion(t *testing.T) {
	makefile := read(t, "Makefile")
	cli := regexp.MustCompile(`(?m)^CLI := (\S+)$`).FindStringSubmatch(makefile)
	if cli == nil {
		t.Fatal("no line CLI := in the Makefile")
	}
	checkStamps(t, strings.ReplaceAll(makefile, "$(CLI)", cli[1]))
}

// checkStamps asks that flags set at least one variable by -X, and that each is a package-level string
// variable.
func checkStamps(t *testing.T, flags string) {
	t.Helper()
	stamps := regexp.MustCompile(`-X github\.com/kubectl-dra/kubectl-dra/(\S+)\.(\w+)=`).FindAllStringSubmatch(flags, -1)
	if len(stamps) == 0 {
		t.Fatal("no variable is stamped with the version")
	}
	for _, stamp := range stamps {
		if !slices.Contains(variables(t, stamp[1]), stamp[2]) {
			t.Errorf("-X names the variable %s of %s, which does not exist", stamp[2], stamp[1])
		}
	}
}

// variables returns the package-level variables of the package in dir that the linker can set: strings that
// are not initialised by a call.
func variables(t *testing.T, dir string) []string {
	t.Helper()
	files, err := fs.Glob(os.DirFS(filepath.Join(root, dir)), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			vars, ok := decl.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				names = append(names, stringVariables(spec.(*ast.ValueSpec))...)
			}
		}
	}
	return names
}

func stringVariables(spec *ast.ValueSpec) []string {
	if typ, ok := spec.Type.(*ast.Ident); spec.Type != nil && (!ok || typ.Name != "string") {
		return nil
	}
	for _, value := range spec.Values {
		if lit, ok := value.(*ast.BasicLit); !ok || lit.Kind != token.STRING {
			return nil
		}
	}
	var names []string
	for _, name := range spec.Names {
		names = append(names, name.Name)
	}
	return names
}

// The linter is pinned in one place; its settings file must be of the format that this version reads.
func TestLinterSettings(t *testing.T) {
	var config struct {
		Version string `json:"version"`
		Linters struct {
			Enable []string `json:"enable"`
		} `json:"linters"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".golangci.yml")), &config); err != nil {
		t.Fatal(err)
	}
	if config.Version != "2" {
		t.Errorf("version %q, want 2", config.Version)
	}
	for _, never := range []string{"errcheck", "staticcheck", "unused", "nolintlint"} {
		if !slices.Contains(config.Linters.Enable, never) {
			t.Errorf("%s is off", never)
		}
	}
}

// What the README tells a newcomer to type is what the CI runs and what make runs.
func TestREADMECommands(t *testing.T) {
	readme, ci, makefile := read(t, "README.md"), read(t, ".ci/run"), read(t, "Makefile")
	for _, command := range []string{"go run ./cmd/kubectl-dra explain claim train-0 -n ml --demo", "go test ./..."} {
		if !strings.Contains(readme, "\n"+command+"\n") {
			t.Errorf("README.md has no line %q", command)
		}
		if !strings.Contains(makefile, strings.TrimPrefix(command, "go")) {
			t.Errorf("no target of the Makefile runs %q", command)
		}
	}
	if !strings.Contains(ci, "go test ./...") || !strings.Contains(ci, "make lint") {
		t.Error(".ci/run does not run the tests and the linter")
	}
}

// The text of a release is what CHANGELOG.md says of its version, and without any there is no release.
func TestNotes(t *testing.T) {
	notes := func(version string) (string, error) {
		out, err := exec.Command(filepath.Join(root, ".ci", "notes"), version).Output()
		return string(out), err
	}
	relative := regexp.MustCompile(`\]\(([^):]+)\)`)
	sections := regexp.MustCompile(`(?m)^## `).Split(read(t, "CHANGELOG.md"), -1)[1:]
	for _, section := range sections {
		heading, want, _ := strings.Cut(section, "\n")
		version, _, _ := strings.Cut(heading, ",")
		text, err := notes(version)
		want = relative.ReplaceAllString(want, "](https://github.com/kubectl-dra/kubectl-dra/blob/"+version+"/$1)")
		if relative.MatchString(text) {
			t.Errorf("notes of %s: a link that leads nowhere on the page of a release: %s", version, relative.FindString(text))
		}
		if want = strings.TrimSpace(want); (err == nil) != (want != "") || strings.TrimSpace(text) != want {
			t.Errorf("notes of %s: %v\n%.300s\nwant\n%.300s", version, err, text, want)
		}
	}
	if text, err := notes("v99.0.0"); err == nil {
		t.Errorf("notes of a version that does not exist: %q", text)
	}
}
