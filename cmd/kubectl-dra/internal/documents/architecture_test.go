package documents

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	codeSpan   = regexp.MustCompile("`([^`\n]+)`")
	goName     = regexp.MustCompile(`^([A-Za-z]\w*)(\.[A-Za-z]\w*)*$`)
	pathInText = regexp.MustCompile(`^[\w.-]+(/[\w.-]+)*/?$`)
)

// unnamed are folders with Go files that ARCHITECTURE.md need not name: what another entry is made of.
var unnamed = []string{"e2e/controlplane"}

// TestArchitecture checks that ARCHITECTURE.md names every package, and that every file, folder and Go name
// that it gives as code is somewhere in the repository.
func TestArchitecture(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	files, packages, words := sources(t)
	spans := map[string]bool{}
	for _, found := range codeSpan.FindAllStringSubmatch(string(text), -1) {
		spans[strings.TrimSuffix(found[1], "/")] = true
	}
	for _, dir := range packages {
		if !namedIn(spans, dir) {
			t.Errorf("ARCHITECTURE.md does not name the package %s", dir)
		}
	}
	names := 0
	for span := range spans {
		isFile := slices.ContainsFunc(files, func(file string) bool {
			return strings.Contains("/"+file+"/", "/"+span+"/")
		})
		switch {
		case isFile || !pathInText.MatchString(span):
		case strings.Contains(span, "/"):
			t.Errorf("ARCHITECTURE.md names `%s`, and there is no such file or folder", span)
		case goName.MatchString(span) && strings.ToLower(span) != span:
			names++
			if last := span[strings.LastIndex(span, ".")+1:]; !words[last] {
				t.Errorf("ARCHITECTURE.md names `%s`, and no Go file has %s", span, last)
			}
		}
	}
	if len(packages) < 80 || names < 50 {
		t.Errorf("only %d packages and %d names of Go were found", len(packages), names)
	}
}

// namedIn says whether a package is given as code by its path or by the last elements of it.
func namedIn(spans map[string]bool, dir string) bool {
	for name := dir; ; {
		if spans[name] {
			return true
		}
		_, rest, more := strings.Cut(name, "/")
		if !more {
			return false
		}
		name = rest
	}
}

// sources returns all files and folders of the repository, its packages, and every word that the Go files
// have.
func sources(t *testing.T) (files, packages []string, words map[string]bool) {
	t.Helper()
	word := regexp.MustCompile(`[A-Za-z]\w*`)
	words = map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(name)
		if entry.IsDir() && (base == ".git" || base == "bin" || base == "dist" || slices.Contains(unnamed, name)) {
			return fs.SkipDir
		}
		files = append(files, name)
		if path.Ext(name) != ".go" || strings.Contains(name, "testdata/") {
			return nil
		}
		if dir := path.Dir(name); !slices.Contains(packages, dir) && !strings.HasPrefix(dir, "internal/oracle") {
			packages = append(packages, dir)
		}
		source, err := os.ReadFile(filepath.Join(root, name))
		for _, w := range word.FindAllString(string(source), -1) {
			words[w] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files, packages, words
}
