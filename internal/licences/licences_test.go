package licences

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// systems are those of the releases; .goreleaser.yaml has them too, which a test compares.
var systems = []string{"linux", "darwin", "windows"}

const program = "./cmd/kubectl-dra"

// fileName is the file that is written.
const fileName = "THIRD_PARTY_LICENSES"

// pkg is what the go command says of a package.
type pkg struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
		Replace            *struct{ Path string }
	}
}

// text is a licence or notice, with whose it is.
type text struct {
	content string
	of      map[string]bool
}

// collect returns all texts, each once. The order is that of the first module that a text is of.
func collect(root string) ([]byte, error) {
	texts := map[string]*text{}
	add := func(of, path string) error {
		data, err := os.ReadFile(path) //nolint:gosec // the path is from the go command
		if err != nil {
			return err
		}
		content := strings.TrimSpace(strings.ReplaceAll(string(data), "\r\n", "\n"))
		if texts[content] == nil {
			texts[content] = &text{content, map[string]bool{}}
		}
		texts[content].of[of] = true
		return nil
	}
	goroot, err := run(root, "", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	if err := add("the Go standard library", filepath.Join(strings.TrimSpace(string(goroot)), "LICENSE")); err != nil {
		return nil, err
	}
	packages, err := compiled(root)
	if err != nil {
		return nil, err
	}
	for _, p := range packages {
		files, err := licencesOf(p)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			of := p.Module.Path + " " + p.Module.Version
			if part := filepath.Dir(file); part != p.Module.Dir {
				of += ", " + filepath.ToSlash(strings.TrimPrefix(part, p.Module.Dir+string(filepath.Separator)))
			}
			if err := add(of, file); err != nil {
				return nil, err
			}
		}
	}
	return layOut(slices.Collect(maps.Values(texts))), nil
}

// compiled lists the packages of other modules that are in the program on any of the systems.
func compiled(root string) ([]pkg, error) {
	all := map[string]pkg{}
	for _, system := range systems {
		out, err := run(root, system, "list", "-deps", "-json=ImportPath,Dir,Standard,Module", program)
		if err != nil {
			return nil, err
		}
		decoder := json.NewDecoder(bytes.NewReader(out))
		for {
			var p pkg
			if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("reading what go list says: %w", err)
			}
			if !p.Standard && p.Module != nil && !p.Module.Main {
				all[p.ImportPath] = p
			}
		}
	}
	return slices.SortedFunc(maps.Values(all), func(a, b pkg) int { return strings.Compare(a.ImportPath, b.ImportPath) }), nil
}

func run(root, system string, args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOARCH=amd64", "GOFLAGS=-mod=readonly")
	if system != "" {
		cmd.Env = append(cmd.Env, "GOOS="+system)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return out, nil
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|copyright)([-._].*)?$`)

// licencesOf lists the files that apply to a package: those beside it and in the folders above, up to its
// module.
func licencesOf(p pkg) ([]string, error) {
	var out []string
	for dir := p.Dir; ; dir = filepath.Dir(dir) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if licenceName.MatchString(e.Name()) && e.Type().IsRegular() && filepath.Ext(e.Name()) != ".go" {
				out = append(out, filepath.Join(dir, e.Name()))
			}
		}
		if dir == p.Module.Dir {
			break
		}
		if !strings.HasPrefix(dir, p.Module.Dir) {
			return nil, fmt.Errorf("package %s is not in its module", p.ImportPath)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("package %s of module %s has no licence", p.ImportPath, p.Module.Path)
	}
	return out, nil
}

const rule = "================================================================================\n"

func layOut(texts []*text) []byte {
	whose := func(t *text) []string { return slices.Sorted(maps.Keys(t.of)) }
	slices.SortFunc(texts, func(a, b *text) int {
		if c := slices.Compare(whose(a), whose(b)); c != 0 {
			return c
		}
		return strings.Compare(a.content, b.content)
	})
	var b bytes.Buffer
	b.WriteString("kubectl-dra contains software of others, under the licences and with the notices below.\nWritten by `make generate`.\n")
	for _, t := range texts {
		b.WriteString("\n" + rule + strings.Join(whose(t), "\n") + "\n" + rule + "\n" + t.content + "\n")
	}
	return b.Bytes()
}
