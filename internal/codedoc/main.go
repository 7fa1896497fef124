// Command codedoc writes docs/reasons.md from the comments of the codes in allocator/code.go and explain/problem.go, so
// that what users read is what the source says.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:generate go run . ../..

func main() {
	root := "."
	if len(os.Args) > 1 {
		root = os.Args[1]
	}
	text, err := document(root)
	if err == nil {
		err = os.WriteFile(filepath.Join(root, "docs", "reasons.md"), text, 0o644) //nolint:gosec // a document is for all to read
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "codedoc:", err)
		os.Exit(1)
	}
}

const head = `# Reasons

What ` + "`explain`" + ` gives as the reason why a device, a pool, a request or a node is refused: ` + "`reasons[].code`" + ` in
JSON and YAML. The codes are stable. Written from allocator/code.go by ` + "`make generate`" + `.

| code | when it is given |
|---|---|
`

const problems = `
# Problems

What ` + "`explain`" + ` gives as what keeps a pod from running that has its devices, or will end it: ` + "`lifecycle.problems[].code`" + ` in
JSON and YAML. These codes are stable too. Written from explain/problem.go.

| code | when it is given |
|---|---|
`

// document is the whole of docs/reasons.md.
func document(root string) ([]byte, error) {
	reasons, err := table(filepath.Join(root, "allocator", "code.go"), "Code")
	if err != nil {
		return nil, err
	}
	afterwards, err := table(filepath.Join(root, "explain", "problem.go"), "ProblemCode")
	if err != nil {
		return nil, err
	}
	return slices.Concat([]byte(head), reasons, []byte(problems), afterwards), nil
}

// table turns the constants of a type into the rows of a table.
func table(path, of string) ([]byte, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	rows := 0
	for _, decl := range file.Decls {
		group, ok := decl.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			value := spec.(*ast.ValueSpec)
			if kind, ok := value.Type.(*ast.Ident); !ok || kind.Name != of {
				continue
			}
			name := value.Names[0].Name
			text := strings.Join(strings.Fields(value.Doc.Text()), " ")
			text, found := strings.CutPrefix(text, name+": ")
			if !found {
				return nil, fmt.Errorf("the comment of %s does not begin with %q", name, name+": ")
			}
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, text)
			rows++
		}
	}
	if rows == 0 {
		return nil, fmt.Errorf("%s declares no codes", path)
	}
	return b.Bytes(), nil
}
