package documents

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// page is a Markdown file of the repository.
type page struct {
	path    string // from the root, with slashes
	source  []byte
	blocks  []block
	links   []link
	anchors []string // of its headings, as GitHub makes them
}

// block is a block of code.
type block struct {
	line     int // the first line of code
	language string
	text     string
	said     directives
}

// link is what a page refers to: a page, a place in it, a picture, or an address elsewhere.
type link struct {
	line   int
	target string
	image  bool
}

// directives are the comments right before a block, by their names.
type directives map[string]string

var directive = regexp.MustCompile(`^\s*<!--\s*(not run|exits|saved as|unpack|at):\s*(.*?)\s*-->\s*$`)

// pages are all Markdown files of the repository but those that others wrote.
func pages(t *testing.T) []*page {
	t.Helper()
	var out []*page
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); path != root && (strings.HasPrefix(name, ".") && name != ".github" || slices.Contains([]string{"bin", "dist", "node_modules", "vendor"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".md" {
			return nil
		}
		source, err := os.ReadFile(path) //nolint:gosec // a page of the repository
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out = append(out, parsePage(filepath.ToSlash(name), source))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 20 {
		t.Fatalf("only %d pages were found below %s", len(out), root)
	}
	return out
}

// parsePage takes a page apart.
func parsePage(path string, source []byte) *page {
	p := &page{path: path, source: source}
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // it fails only if the function does
		if entering {
			p.visit(n)
		}
		return ast.WalkContinue, nil
	})
	return p
}

func (p *page) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		line := p.lineOf(n)
		p.blocks = append(p.blocks, block{line: line, language: string(n.Language(p.source)), text: p.lines(n), said: p.before(n)})
	case *ast.Heading:
		p.anchors = append(p.anchors, anchorOf(p.plain(n), p.anchors))
	case *ast.Link:
		p.links = append(p.links, link{line: p.lineOf(n), target: string(n.Destination)})
	case *ast.Image:
		p.links = append(p.links, link{line: p.lineOf(n), target: string(n.Destination), image: true})
	case *ast.AutoLink:
		p.links = append(p.links, link{line: p.lineOf(n), target: string(n.URL(p.source))})
	case *ast.HTMLBlock:
		p.visitHTML(n, p.lines(n))
	case *ast.RawHTML:
		var b strings.Builder
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			b.Write(segment.Value(p.source))
		}
		p.visitHTML(n, b.String())
	}
}

var (
	htmlLink   = regexp.MustCompile(`\b(src|srcset|href)="([^"]*)"`)
	htmlAnchor = regexp.MustCompile(`<a\s[^>]*\b(?:name|id)="([^"]*)"`)
)

// visitHTML notes what HTML refers to, and anchors that it sets.
func (p *page) visitHTML(n ast.Node, html string) {
	for _, m := range htmlLink.FindAllStringSubmatch(html, -1) {
		p.links = append(p.links, link{line: p.lineOf(n), target: m[2], image: m[1] != "href"})
	}
	for _, m := range htmlAnchor.FindAllStringSubmatch(html, -1) {
		p.anchors = append(p.anchors, m[1])
	}
}

// lines is the text of a block.
func (p *page) lines(n ast.Node) string {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		b.Write(segment.Value(p.source))
	}
	return b.String()
}

// plain is the text of a heading without its marks.
func (p *page) plain(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // as above
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(p.source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// before are the directives that stand right before a block.
func (p *page) before(n ast.Node) directives {
	out := directives{}
	for s := n.PreviousSibling(); s != nil && s.Kind() == ast.KindHTMLBlock; s = s.PreviousSibling() {
		html := p.lines(s)
		if closure := s.(*ast.HTMLBlock).ClosureLine; closure.Len() > 0 { //nolint:forcetypeassert // it is of that kind
			html += string(closure.Value(p.source))
		}
		found := false
		for line := range strings.Lines(html) {
			if m := directive.FindStringSubmatch(line); m != nil {
				out[m[1]], found = m[2], true
			}
		}
		if !found {
			break
		}
	}
	return out
}

// lineOf is the number of the line on which a node begins, or the block that it stands in.
func (p *page) lineOf(n ast.Node) int {
	for ; n != nil; n = n.Parent() {
		if n.Type() == ast.TypeBlock && n.Lines() != nil && n.Lines().Len() > 0 {
			return 1 + bytes.Count(p.source[:n.Lines().At(0).Start], []byte("\n"))
		}
	}
	return 1
}

// anchorOf is the anchor that GitHub gives to a heading after others.
func anchorOf(heading string, others []string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(strings.TrimSpace(heading)) {
		switch {
		case r == ' ':
			b.WriteByte('-')
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		}
	}
	plain := b.String()
	for i, anchor := 1, plain; ; i++ {
		if !slices.Contains(others, anchor) {
			return anchor
		}
		anchor = fmt.Sprintf("%s-%d", plain, i)
	}
}

// firstDifference shows where two texts begin to differ.
func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		line := func(lines []string) string {
			if i < len(lines) {
				return fmt.Sprintf("%q", lines[i])
			}
			return "no line"
		}
		if line(a) != line(b) {
			return fmt.Sprintf("\nline %d is %s\nand has to be %s", i+1, line(a), line(b))
		}
	}
	return ""
}

func TestAnchors(t *testing.T) {
	for heading, want := range map[string]string{
		"What it reads": "what-it-reads", "Where `--from` comes from": "where---from-comes-from", "Q & A, 2_3": "q--a-2_3", "Again": "again-1",
	} {
		if got := anchorOf(heading, []string{"again"}); got != want {
			t.Errorf("%q becomes %q, want %q", heading, got, want)
		}
	}
}

func TestPagesAreTakenApart(t *testing.T) {
	p := parsePage("a.md", []byte("# A `b` c\n\n[x](y.md#z) ![p](q.svg)\n\n| a |\n|---|\n| [t](u.md) |\n\n<!-- exits: 1 -->\n<!-- at: now -->\n\n```sh\none\ntwo\n```\n\n<img src=\"i.svg\">\n"))
	if len(p.blocks) != 1 || p.blocks[0].line != 13 || p.blocks[0].text != "one\ntwo\n" || p.blocks[0].said["exits"] != "1" || p.blocks[0].said["at"] != "now" {
		t.Errorf("blocks %+v", p.blocks)
	}
	var targets []string
	for _, l := range p.links {
		targets = append(targets, l.target)
	}
	if got := strings.Join(targets, " "); got != "y.md#z q.svg u.md i.svg" || !slices.Equal(p.anchors, []string{"a-b-c"}) {
		t.Errorf("links %q, anchors %q", got, p.anchors)
	}
}
