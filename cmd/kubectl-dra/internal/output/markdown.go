package output

import (
	"fmt"
	"io"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain/markdown"
)

// MarkdownFormat is the format for tickets and chats.
const MarkdownFormat = "markdown"

// AnswerFormats are ObjectFormats and Markdown, for answers that have a form in it.
var AnswerFormats = append(slices.Clone(ObjectFormats), MarkdownFormat)

// Document is a value that has a form in Markdown.
type Document interface {
	// Markdown writes it.
	Markdown(p *markdown.Document)
}

// Markdown returns an answer in Markdown. Of values that have no form in it, there is an error.
func Markdown(value any) (string, error) {
	v, ok := value.(Document)
	if !ok {
		return "", fmt.Errorf("there is no Markdown of %T", value)
	}
	var p markdown.Document
	v.Markdown(&p)
	return p.String(), nil
}

func printMarkdown(w io.Writer, value any) error {
	page, err := Markdown(value)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, page)
	return err
}
