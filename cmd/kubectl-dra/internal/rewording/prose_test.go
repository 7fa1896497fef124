package rewording

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// proseFields are the fields that hold prose.
var proseFields = []string{"Message", "Brief", "Predicate", "Actual", "Text", "NoHelp", "Remarks", "Partial"}

// proseFunctions take single words, which they build into prose.
var proseFunctions = []string{"Count", "Plural"}

// noProse are literals that look like prose and are none.
var noProse = []string{
	// Requirement.Path names an object where the field at fault is not in the subject.
	"deviceclass/%s spec.selectors[%d].cel.expression", "feature gate ", "resourceclaim ", "resourceslices of pool ",
	// Names of claims.
	"copy %d",
	// CEL.
	"device.driver == ",
	// What the scheduler itself writes.
	" still not schedulable, preemption: ", " no new claims to deallocate, preemption: ", " preemption: ",
}

// joints join the parts of a sentence.
var joints = []string{", ", "; ", ": ", ", and "}

var verb = regexp.MustCompile(`%[-+# 0]*\d*(\.\d+)?[a-zA-Z]`)

// isProse reports whether a literal is prose by its looks: it has words and a space.
func isProse(literal string) bool {
	if slices.Contains(noProse, literal) {
		return false
	}
	if slices.Contains(joints, literal) {
		return true
	}
	return strings.Contains(literal, " ") && strings.ContainsFunc(verb.ReplaceAllString(literal, ""), unicode.IsLetter)
}

// prose finds what to reword in a file.
type prose struct {
	literals, fields []ast.Expr
	// constants are declarations of literals, which can be reworded only as variables.
	constants []*ast.GenDecl
}

func findProse(file *ast.File) *prose {
	p := &prose{}
	ast.Walk(visitor{p: p}, file)
	return p
}

// visitor walks a file. word: a literal is prose even if it is a single word.
type visitor struct {
	p    *prose
	word bool
}

func (v visitor) Visit(node ast.Node) ast.Visitor {
	switch n := node.(type) {
	case *ast.ImportSpec:
		return nil
	case *ast.Field: // its tag
		return nil
	case *ast.FuncDecl:
		if slices.Contains([]string{"Key", "key", "worldKey", "podsOf"}, n.Name.Name) {
			return nil // a key or a command is no prose, and its order may count
		}
	case *ast.GenDecl:
		v.constant(n)
	case *ast.BinaryExpr:
		return v.binary(n)
	case *ast.CaseClause:
		v.walk(false, n.Body)
		return nil
	case *ast.IndexExpr:
		ast.Walk(v, n.X)
		return nil
	case *ast.CallExpr:
		return v.call(n)
	case *ast.KeyValueExpr:
		name, _ := n.Key.(*ast.Ident)
		v.assign(name, n.Value)
		return nil
	case *ast.AssignStmt:
		return v.assignment(n)
	case *ast.BasicLit:
		v.literal(n)
	}
	return v
}

func (v visitor) literal(n *ast.BasicLit) {
	if n.Kind != token.STRING {
		return
	}
	text, err := strconv.Unquote(n.Value)
	if err == nil && (isProse(text) || v.word && strings.ContainsFunc(text, unicode.IsLetter) && !strings.Contains(text, "%")) {
		v.p.literals = append(v.p.literals, n)
	}
}

func (v visitor) constant(n *ast.GenDecl) {
	if n.Tok != token.CONST {
		return
	}
	before := len(v.p.literals)
	for _, spec := range n.Specs {
		for _, value := range spec.(*ast.ValueSpec).Values {
			ast.Walk(visitor{p: v.p}, value)
		}
	}
	if len(v.p.literals) > before {
		v.p.constants = append(v.p.constants, n)
	}
	v.p.literals = v.p.literals[:before] // they are visited again
}

// binary leaves out what is compared: that reads, and it is to fail when what it reads is said otherwise.
func (v visitor) binary(n *ast.BinaryExpr) ast.Visitor {
	if n.Op == token.ADD {
		return v
	}
	for _, side := range []ast.Expr{n.X, n.Y} {
		if _, ok := side.(*ast.BasicLit); !ok {
			ast.Walk(v, side)
		}
	}
	return nil
}

// call leaves out the arguments of functions that read text, and of those that make keys.
func (v visitor) call(n *ast.CallExpr) ast.Visitor {
	of, name := "", ""
	switch f := n.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
		if x, ok := f.X.(*ast.Ident); ok {
			of = x.Name
		}
	}
	switch {
	case (of == "strings" || of == "regexp") && name != "Join", name == "Key":
		for _, arg := range n.Args {
			if _, ok := arg.(*ast.BasicLit); !ok {
				ast.Walk(v, arg)
			}
		}
		return nil
	case slices.Contains(proseFunctions, name):
		return visitor{v.p, true}
	}
	return visitor{p: v.p}
}

func (v visitor) assignment(n *ast.AssignStmt) ast.Visitor {
	if len(n.Lhs) != len(n.Rhs) {
		return v
	}
	for i := range n.Lhs {
		var name *ast.Ident
		if to, ok := n.Lhs[i].(*ast.SelectorExpr); ok {
			name = to.Sel
		}
		v.assign(name, n.Rhs[i])
	}
	return nil
}

// assign looks at what is assigned to a field, or to something without a name.
func (v visitor) assign(name *ast.Ident, value ast.Expr) {
	switch {
	case name == nil:
		ast.Walk(visitor{p: v.p}, value)
	case name.Name == "Key":
		if _, ok := value.(*ast.BasicLit); !ok {
			ast.Walk(visitor{p: v.p}, value)
		}
	case slices.Contains(proseFields, name.Name):
		if id, ok := value.(*ast.Ident); ok && slices.Contains([]string{"nil", "true", "false"}, id.Name) {
			return
		}
		v.p.fields = append(v.p.fields, value)
		ast.Walk(visitor{v.p, true}, value)
	default:
		ast.Walk(visitor{p: v.p}, value)
	}
}

func (v visitor) walk(word bool, statements []ast.Stmt) {
	for _, s := range statements {
		ast.Walk(visitor{v.p, word}, s)
	}
}
