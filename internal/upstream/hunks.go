package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"
)

// hunk is what differs in a declaration.
type hunk struct {
	id   string // of the file, the name of the declaration, and the lines that were removed and added
	file string // in its module
	text string // as a diff shows it
}

// sources returns the code of a module that the list names, by file.
func sources(module string, tree fs.FS, list []listed) (map[string][]byte, error) {
	code := map[string][]byte{}
	return code, fs.WalkDir(tree, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || skipped(file) {
			return err
		}
		line := holding(list, module, file)
		if line == nil {
			return nil
		}
		text, err := fs.ReadFile(tree, file)
		if err == nil && (file == line.path || !strings.Contains("\n"+string(text), "\n// Code generated")) {
			code[file], err = plain(file, text)
		}
		return err
	})
}

// libraries are what counts in a go.mod.
var libraries = []string{"/cel-go ", "/blang/semver/", "/inf.v0 "}

// plain returns a file without comments and blank lines. Go code has no imports then, and packages are
// called by their path: what a name stands for counts, not the name. Of a go.mod only libraries are left.
func plain(file string, text []byte) ([]byte, error) {
	if path.Ext(file) == ".go" {
		files := token.NewFileSet()
		tree, err := parser.ParseFile(files, file, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		spellOut(tree)
		var out bytes.Buffer
		if err := format.Node(&out, files, tree); err != nil {
			return nil, err
		}
		text = out.Bytes()
	}
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		library := func(l string) bool { return strings.Contains(line, l) }
		code := strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "//")
		if code && (path.Base(file) != "go.mod" || slices.ContainsFunc(libraries, library)) {
			out.WriteString(line)
		}
	}
	return out.Bytes(), nil
}

// spellOut replaces the names of imported packages by their paths, but those of the standard library, and
// removes the imports.
func spellOut(tree *ast.File) {
	paths := map[string]string{}
	for _, i := range tree.Imports {
		at := strings.Trim(i.Path.Value, `"`)
		if !strings.Contains(at, ".") {
			continue
		}
		name := path.Base(at)
		if prefix, _, ok := module.SplitPathVersion(at); ok {
			name = path.Base(prefix)
		}
		if i.Name != nil {
			name = i.Name.Name
		}
		paths[name] = strings.TrimPrefix(at, "k8s.io/")
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := selector.X.(*ast.Ident); ok && paths[x.Name] != "" {
				x.Name = paths[x.Name]
			}
		}
		return true
	})
	tree.Decls = slices.DeleteFunc(tree.Decls, func(d ast.Decl) bool {
		general, ok := d.(*ast.GenDecl)
		return ok && general.Tok == token.IMPORT
	})
}

// differences returns the hunks between two states of the code of a module, by file.
func differences(ctx context.Context, module string, before, after map[string][]byte) ([]hunk, error) {
	scratch, err := os.MkdirTemp("", "upstream")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch) //nolint:errcheck // what is left lies where temporary files do
	for dir, code := range map[string]map[string][]byte{"a": before, "b": after} {
		if err := os.Mkdir(filepath.Join(scratch, dir), 0o755); err != nil {
			return nil, err
		}
		for file, text := range code {
			if bytes.Equal(before[file], after[file]) {
				continue
			}
			at := filepath.Join(scratch, dir, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				return nil, err
			}
			if err := os.WriteFile(at, text, 0o644); err != nil {
				return nil, err
			}
		}
	}
	git := exec.CommandContext(ctx, "git", "-c", "core.quotePath=false", "diff", "--no-index", "--no-ext-diff", "--no-color", "--no-renames",
		"--no-prefix", "--diff-algorithm=histogram", "--unified=0", "--inter-hunk-context=0", "--ignore-all-space", "a", "b")
	git.Dir = scratch
	git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C")
	out, err := git.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		return nil, fmt.Errorf("git diff: %w", err)
	}
	return parseDiff(module, string(out)), nil
}

// declared finds the name of the declaration that git shows behind the place of a change: that in which it
// is, or the one before.
var declared = regexp.MustCompile(`^[^@]*@@ ?(?:func (?:\([^)]*\) )?|type |var |const )?(\w*)`)

// parseDiff reads what git prints.
func parseDiff(module, diff string) []hunk {
	var hunks []hunk
	for _, ofFile := range strings.Split("\n"+diff, "\ndiff --git ")[1:] { // a/FILE b/FILE, or one of them twice
		names, rest, _ := strings.Cut(ofFile, "\n")
		file := names[len(names)/2+3:]
		last := "-"
		for _, text := range strings.Split(rest, "\n@@ ")[1:] {
			name := declared.FindStringSubmatch(text)[1]
			if name != last {
				hunks = append(hunks, hunk{file: file, id: fmt.Sprintln(module, file, name)})
			}
			hunks[len(hunks)-1].text += "@@ " + text + "\n"
			last = name
		}
	}
	for i := range hunks {
		for line := range strings.Lines(hunks[i].text) {
			if line = strings.Join(strings.Fields(line), ""); len(line) > 1 && line[0] != '@' {
				hunks[i].id += line + "\n"
			}
		}
		hunks[i].id = fmt.Sprintf("%.5x", sha256.Sum256([]byte(hunks[i].id)))
	}
	return hunks
}
