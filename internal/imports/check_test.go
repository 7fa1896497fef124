package imports

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

const module = "github.com/kubectl-dra/kubectl-dra"

// check returns what is wrong with the Go files below the root of tree, one line each, in the order of the
// files. It also returns the number of files that it read.
func check(tree fs.FS) (violations []string, files int, err error) {
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return skipDir(tree, name)
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		files++
		found, err := checkFile(tree, name)
		violations = append(violations, found...)
		return err
	})
	return violations, files, err
}

// skipDir returns fs.SkipDir for directories that are no part of the module: those that the go command
// ignores, and modules of their own.
func skipDir(tree fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || base == "bin" || base == "dist" || base[0] == '.' || base[0] == '_' {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func checkFile(tree fs.FS, name string) ([]string, error) {
	dir := path.Dir(name)
	if slices.Contains(exempt, dir) {
		return nil, nil
	}
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	test := strings.HasSuffix(name, "_test.go")
	var violations []string
	complain := func(format string, args ...any) {
		violations = append(violations, name+": "+fmt.Sprintf(format, args...))
	}
	mine, covered := layerOf(dir)
	if !covered {
		complain("no line of the import table covers package %q", dir)
		return violations, nil
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		if why := refuse(dir, mine, imported, test); why != "" {
			complain("imports %s: %s", imported, why)
		}
	}
	if !test && slices.Contains(pure, dir) {
		for _, name := range clockUses(file) {
			complain("mentions time.%s: the package may not read the clock", name)
		}
	}
	if f, ok := fenceOf("k8s.io/client-go"); ok && !test && matchesAny(f.within, dir) && !matches("internal/commit/...", dir) && (!matches("cmd/...", dir) || importsClients(file)) {
		for _, name := range writes(file) {
			complain("calls %s: only internal/commit writes to a server", name)
		}
	}
	return violations, nil
}

// importsClients reports whether a file may have a client: commands have other things by these names.
func importsClients(file *ast.File) bool {
	return slices.ContainsFunc(file.Imports, func(spec *ast.ImportSpec) bool { return strings.HasPrefix(spec.Path.Value, `"k8s.io/client-go/`) })
}

// writes returns the methods of clients by which something is written that a file calls. Functions of
// packages that have these names do something else.
func writes(file *ast.File) []string {
	packages := map[string]bool{}
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		packages[path.Base(imported)] = true
		if spec.Name != nil {
			packages[spec.Name.Name] = true
		}
	}
	var called []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || !slices.Contains(writeNames, sel.Sel.Name) {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); !ok || !packages[x.Name] {
			called = append(called, sel.Sel.Name)
		}
		return true
	})
	return called
}

// layerOf returns the line of the table that covers a package.
func layerOf(dir string) (found layer, ok bool) {
	for _, l := range layers {
		if matches(l.packages, dir) && (!ok || closer(l.packages, found.packages)) {
			found, ok = l, true
		}
	}
	return found, ok
}

// closer reports whether a pattern says more than another that matches the same directory.
func closer(a, b string) bool {
	baseA, baseB := strings.TrimSuffix(a, "/..."), strings.TrimSuffix(b, "/...")
	return len(baseA) > len(baseB) || len(baseA) == len(baseB) && a == baseA
}

// refuse says why a file of a package may not import something, or "".
func refuse(dir string, mine layer, imported string, test bool) string {
	if imported == module || strings.HasPrefix(imported, module+"/") {
		inner := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
		if test || inner == dir || matchesAny(mine.may, inner) {
			return ""
		}
		return fmt.Sprintf("%s may import only [%s] of this module", mine.packages, strings.Join(mine.may, " "))
	}
	if !test && slices.Contains(pure, dir) && slices.Contains(impureImports, imported) {
		return "the package may do no IO"
	}
	f, ok := fenceOf(imported)
	if !ok || matchesAny(f.within, dir) || test && matchesAny(f.tests, dir) {
		return ""
	}
	return f.why
}

// fenceOf returns the fence with the longest prefix of an import.
func fenceOf(imported string) (found fence, ok bool) {
	longest := ""
	for _, f := range fences {
		for _, prefix := range f.prefixes {
			if (imported == prefix || strings.HasPrefix(imported, prefix+"/")) && len(prefix) > len(longest) {
				found, longest, ok = f, prefix, true
			}
		}
	}
	return found, ok
}

// clockUses returns the names of package time in file that read the clock, whatever the import calls the
// package. A dot import counts as a use of all of them: it cannot be told apart by reading one file.
func clockUses(file *ast.File) []string {
	local := ""
	for _, spec := range file.Imports {
		if spec.Path.Value != `"time"` {
			continue
		}
		local = "time"
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "." {
			return []string{"* (dot import)"}
		}
	}
	if local == "" {
		return nil
	}
	var used []string
	ast.Inspect(file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && x.Name == local && slices.Contains(clockNames, sel.Sel.Name) {
			used = append(used, sel.Sel.Name)
		}
		return true
	})
	return used
}

func matchesAny(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, dir) })
}

// matches reports whether a directory is what a pattern stands for; see layer.
func matches(pattern, dir string) bool {
	if pattern == "..." {
		return true
	}
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == base || strings.HasPrefix(dir, base+"/")
	}
	return dir == pattern
}
