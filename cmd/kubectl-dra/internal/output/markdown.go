package output

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// MarkdownFormat is the format for issues and chats: the text of an answer as a block of code.
const MarkdownFormat = "markdown"

// MarkdownWidth is the number of columns that the text has.
const MarkdownWidth = 100

// AnswerFormats are ObjectFormats and Markdown, for answers.
var AnswerFormats = append(slices.Clone(ObjectFormats), MarkdownFormat)

// Headliner is an answer whose headline in Markdown is not the first line of its text.
type Headliner interface {
	Headline() string
}

// PrintMarkdown prints a headline in bold, and the text of an answer, if it has any, in a block of code.
func PrintMarkdown(w io.Writer, headline, text string) error {
	if text == "" {
		return nil
	}
	if headline = safeWords(headline); headline != "" {
		headline = "**" + headline + "**\n\n"
	}
	fence := longerThanIn("```", text)
	_, err := fmt.Fprintf(w, "%s%stext\n%s\n%s\n", headline, fence, strings.TrimRight(text, "\n"), fence)
	return err
}

// longerThanIn lengthens a row of backticks until the text has none that is as long.
func longerThanIn(fence, text string) string {
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// plainWord is what no dialect of Markdown gives a meaning, unless it may be the hash of a commit.
var (
	plainWord = regexp.MustCompile(`^\(?([A-Za-z]+([-'’][A-Za-z]+)*|[0-9]{1,6}|[→–…×✗✓?!])[.,;:?!)]*$`)
	hash      = regexp.MustCompile(`[0-9a-f]{7}`)
)

// safeWords is a line of which everything but plain words and numbers is code: no name can become a link, a
// mention, HTML or anything else that is not text.
func safeWords(line string) string {
	var parts, code []string
	for _, word := range append(strings.Fields(inspect.Sanitize(line)), "") {
		if word != "" && (!plainWord.MatchString(word) || hash.MatchString(word)) {
			code = append(code, word)
			continue
		}
		if text := strings.Join(code, " "); text != "" {
			core := cmp.Or(strings.TrimRight(text, ".,;:"), text)
			fence, pad := longerThanIn("`", core), ""
			if core[0] == '`' || core[len(core)-1] == '`' {
				pad = " " // of which parsers take one off at each end
			}
			parts, code = append(parts, fence+pad+core+pad+fence+text[len(core):]), nil
		}
		parts = append(parts, word)
	}
	return strings.TrimSpace(strings.Join(parts, " "))
}
