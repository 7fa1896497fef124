package markdowntest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extensionast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// Page is a document that was read.
type Page struct {
	// Outline has a line for each block. Of the text in a block it says nothing, not even how it is cut into
	// words and code.
	Outline string
	// Text is what a reader sees, a line for each block that has text.
	Text string
	// Problems are what should not be in a document: links, images, HTML, emphasis, and text that code hosts
	// or chats make something of.
	Problems []string
}

// parser knows more than one dialect, so that what is safe in it is safe in each.
var parser = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote, extension.DefinitionList)).Parser()

// meaningful is text outside of code that a dialect gives a meaning: mentions, references, emoji, formulas,
// entities, addresses.
var meaningful = regexp.MustCompile("[@#<>\\[\\]{}*_~`|\\\\&$^=]|://|www\\.|:[a-z+0-9-]+:|[A-Z]-[0-9]|\\b[0-9a-f]{7,}\\b")

// Read reads a document.
func Read(source string) *Page {
	p := &Page{}
	data := []byte(source)
	root := parser.Parse(text.NewReader(data))
	var outline, all strings.Builder
	depth := 0
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Type() == ast.TypeInline {
			if entering {
				p.inline(n, data, &all)
			}
			return ast.WalkContinue, nil
		}
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		fmt.Fprintf(&outline, "%s%s\n", strings.Repeat("  ", depth), describe(n))
		depth++
		all.WriteString("\n")
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			all.Write(n.Lines().Value(data))
		case *ast.HTMLBlock, *ast.CodeBlock:
			p.Problems = append(p.Problems, fmt.Sprintf("a block of %s", n.Kind()))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		p.Problems = append(p.Problems, err.Error())
	}
	p.Outline = outline.String()
	p.Text = all.String()
	return p
}

// describe names a block, with what of it is no text.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Heading:
		return fmt.Sprintf("Heading %d", n.Level)
	case *ast.List:
		return fmt.Sprintf("List ordered=%v start=%d tight=%v", n.IsOrdered(), n.Start, n.IsTight)
	case *ast.FencedCodeBlock:
		return fmt.Sprintf("FencedCodeBlock of %d lines", n.Lines().Len())
	case *extensionast.TableCell:
		return fmt.Sprintf("TableCell empty=%v", n.ChildCount() == 0)
	}
	return n.Kind().String()
}

// inline looks at a part of a text.
func (p *Page) inline(n ast.Node, data []byte, all *strings.Builder) {
	switch n := n.(type) {
	case *ast.Text:
		value := string(n.Value(data))
		all.WriteString(value)
		if n.Parent().Kind() != ast.KindCodeSpan {
			if found := meaningful.FindString(value); found != "" {
				p.Problems = append(p.Problems, fmt.Sprintf("%q outside of code, in %q", found, value))
			}
		}
	case *ast.CodeSpan:
	case *ast.Emphasis:
		if n.Level != 2 {
			p.Problems = append(p.Problems, "emphasis")
		}
	default:
		p.Problems = append(p.Problems, fmt.Sprintf("a %s", n.Kind()))
	}
}

// Hostile are texts that mean something in Markdown, in some dialect and at some place.
func Hostile() []string {
	return []string{
		"`", "``", "```", "`a`", "a`b", "```\n# x\n```", "` ```", "\\`", "`\\", "\\", "a\\|b", "|", "||", "| a | b |", "a|b\\", "|---|\n|---|",
		"[x](javascript:alert(1))", "![x](http://x/y.png)", "[x]", "[x]: http://evil", "[^1]", "[ ] task", "<b>", "<script>alert(1)</script>", "<!-- ", "-->", "<img src=x>",
		"<https://evil.example>", "https://evil.example/x", "www.evil.example", "mail@evil.example", "xmpp:a@b", "@team", "@here", "<!here>", "<@U123>", "a@b", "owner/repo#1", "#1", "!1", "$1", "%1", "~bug", "&epic",
		"GH-1", "ABC-123", "0123456789abcdef", "deadbeef", ":smile:", ":tada: x", "$x^2$", "$$", "*", "**", "***", "*a*", "**a**", "__a__", "_a_", "~~a~~", "a*b*c", "# h", "## h ##", "> q",
		"- x", "+ x", "* x", "1. x", "1) x", "10. x", "---", "===", "***", ": x", "a\n===", "    code", "\tcode", "\n\n# x", "\r\n- x", "&amp;", "&lt;b&gt;", "&#64;team", "{code}", "{{x}}", "{% x %}", "[~user]", "h1. x",
		"\u202e", "\u200b@x", "a\u00a0b", "\u2028# x", "＠team", "é`", "日本|語", "\x1b[31m", "\x00", "\xff", "", " ", "  a  ", " ` ", "`` ` ``", strings.Repeat("`", 9), "x == 'a`b' && y", "a || b", "'", "\"", "(", ")", "().", "'a", "a'", "\"a b\"",
		"(a|b)", "don't", "5%", "3.", "(3)", "1,000", "a.", "e.g.", "…", "→",
	}
}
