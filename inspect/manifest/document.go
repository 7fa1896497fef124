package manifest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
)

// text is a piece of a file that holds JSON, or JSON made from a piece of YAML.
type text struct {
	source string
	data   []byte
	first  int  // line of the file on which data begins
	fixed  bool // data was made from YAML, so every place in it counts as line first
	// The last place asked for: places are asked for in ascending order, so newlines are counted once.
	lastOffset, lastLine int
}

// line returns the line of the file for an offset into data.
func (t *text) line(offset int) int {
	if t.fixed {
		return t.first
	}
	offset = min(offset, len(t.data))
	if t.lastLine == 0 || offset < t.lastOffset {
		t.lastOffset, t.lastLine = 0, t.first
	}
	t.lastLine += bytes.Count(t.data[t.lastOffset:offset], []byte("\n"))
	t.lastOffset = offset
	return t.lastLine
}

// scanError turns what is wrong with the JSON into an Error.
func (t *text) scanError(e *scanError) *Error {
	if e.tooDeep {
		err := tooLarge(t.source, "%s", e.detail)
		err.Line = t.line(e.offset)
		return err
	}
	return t.syntaxError(e.offset, e.detail, nil)
}

func (t *text) syntaxError(offset int, detail string, cause error) *Error {
	return &Error{
		Code: Syntax, Source: t.source, Line: t.line(offset), Detail: "broken JSON: " + detail, Err: cause,
		Advice: "is the file complete?",
	}
}

// readData reads every document of a file.
func (c *collector) readData(ctx context.Context, source string, data []byte) error {
	line := 1
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		chunk, rest := cutDocument(data)
		if err := c.readChunk(ctx, source, line, chunk); err != nil && !c.failures.survive(err, "") {
			return err
		}
		line += bytes.Count(chunk, []byte("\n"))
		data = rest
	}
	return nil
}

// cutDocument cuts data before the next line that begins a YAML document ("---") or behind one that
// ends it ("..."). JSON has no such lines, because its strings cannot hold line breaks.
func cutDocument(data []byte) (chunk, rest []byte) {
	for from := 0; ; {
		n := bytes.IndexByte(data[from:], '\n')
		if n < 0 {
			return data, nil
		}
		from += n + 1
		switch next := data[from:]; {
		case isMarker(next, "---"):
			return data[:from], next
		case isMarker(next, "..."):
			end := bytes.IndexByte(next, '\n')
			if end < 0 {
				return data, nil
			}
			return data[:from+end+1], next[end+1:]
		}
	}
}

func isMarker(line []byte, marker string) bool {
	if !bytes.HasPrefix(line, []byte(marker)) {
		return false
	}
	return len(line) == len(marker) || strings.IndexByte(" \t\r\n", line[len(marker)]) >= 0
}

// readChunk reads what lies between two document markers, and keeps it.
func (c *collector) readChunk(ctx context.Context, source string, line int, chunk []byte) error {
	err := c.findObjects(ctx, source, line, chunk)
	return cmp.Or(c.flush(ctx), err) // what is pending stands before what is wrong
}

// findObjects finds the objects of one YAML document, or of JSON values one after the other.
func (c *collector) findObjects(ctx context.Context, source string, line int, chunk []byte) error {
	body := chunk
	if isMarker(body, "---") {
		body = body[len("---"):]
	}
	start := skipSpace(body, 0)
	if start == len(body) {
		return nil
	}
	if looksLikeJSON(body[start:]) {
		line += bytes.Count(body[:start], []byte("\n"))
		return c.readJSON(ctx, &text{source: source, data: body[start:], first: line})
	}
	return c.readYAML(ctx, source, line, chunk)
}

// looksLikeJSON tells JSON from YAML in flow style, whose field names need no quotes (KYAML).
func looksLikeJSON(data []byte) bool {
	at := 0
	for data[at] == '[' {
		if at = skipSpace(data, at+1); at == len(data) || data[at] == ']' {
			return true
		}
	}
	next := skipSpace(data, at+1)
	return data[at] == '{' && (next == len(data) || data[next] == '"' || data[next] == '}')
}

func (c *collector) readJSON(ctx context.Context, t *text) error {
	for i := skipSpace(t.data, 0); i < len(t.data); i = skipSpace(t.data, i) {
		end, err := skipValue(t.data, i, c.limits.depth)
		if err == nil {
			err = c.addValue(ctx, t, extent{i, end}, head{}, 0)
		}
		if scan := asScanError(err); scan != nil {
			return t.scanError(scan)
		}
		if err != nil {
			return err
		}
		i = end
	}
	return nil
}

func (c *collector) readYAML(ctx context.Context, source string, line int, chunk []byte) error {
	line, ok := firstContent(line, chunk)
	if !ok {
		return nil
	}
	if len(chunk) > largeYAML {
		if done, err := c.readYAMLList(ctx, source, line, chunk); done || err != nil {
			return err
		}
	}
	if c.counted.documents++; c.counted.documents > c.limits.documents {
		err := tooLarge(source, "more than %d YAML documents, counting all files", c.limits.documents)
		err.Line = line
		return err
	}
	raw, duplicates, err := yamlToJSON(chunk)
	if err != nil {
		return yamlError(source, line-leadingLines(chunk), chunk, err)
	}
	c.duplicateKeys(source, line-leadingLines(chunk), duplicates)
	return c.addConverted(ctx, &text{source: source, data: raw, first: line, fixed: true}, head{})
}

// addConverted adds the value that one YAML document became; a document that is null is none.
func (c *collector) addConverted(ctx context.Context, t *text, outer head) error {
	if string(t.data) == "null" {
		return nil
	}
	err := c.addValue(ctx, t, extent{0, len(t.data)}, outer, 0)
	if scan := asScanError(err); scan != nil {
		return t.scanError(scan)
	}
	return err
}

// duplicateKeys records the keys that a YAML document gives more than once.
func (c *collector) duplicateKeys(source string, first int, complaints []string) {
	var notes []Warning
	for _, complaint := range complaints {
		line, detail := yamlProblem(complaint)
		notes = append(notes, Warning{Source: place(source, first+line-1), Message: detail + " (the last value counts)"})
	}
	if len(notes) > 0 {
		c.pending = append(c.pending, pending{notes: notes})
	}
}

// leadingLines returns how many lines of a chunk come before its first content.
func leadingLines(chunk []byte) int {
	line, _ := firstContent(0, chunk)
	return line
}

// firstContent returns the line of the first content of a chunk that begins on the given line; false
// when it holds only comments, directives and markers.
func firstContent(line int, chunk []byte) (int, bool) {
	for len(chunk) > 0 {
		row, rest, _ := bytes.Cut(chunk, []byte("\n"))
		if isMarker(row, "---") || isMarker(row, "...") {
			row = row[len("---"):]
		}
		row = bytes.TrimSpace(row)
		if len(row) > 0 && row[0] != '#' && row[0] != '%' {
			return line, true
		}
		line++
		chunk = rest
	}
	return line, false
}

// yamlError turns the YAML parser's error into ours; first is the line on which the chunk begins.
func yamlError(source string, first int, chunk []byte, err error) *Error {
	line, detail := yamlProblem(err.Error())
	e := &Error{Code: Syntax, Source: source, Line: first + max(line-1, 0), Detail: "broken YAML: " + detail, Err: err}
	switch {
	case strings.Contains(detail, "exceeded max depth"):
		e.Code, e.Detail, e.Advice = TooLarge, "lists and objects are nested too deep", ""
	case errors.Is(err, errAliasBomb) || strings.Contains(detail, "excessive aliasing"):
		e.Code, e.Advice = TooLarge, "write the values out"
	case bytes.Contains(chunk, []byte("{{")):
		before, _, _ := bytes.Cut(chunk, []byte("{{"))
		e.Line = first + bytes.Count(before, []byte("\n"))
		e.Detail = "broken YAML: {{ begins a template expression"
		e.Advice = "render the template first, for example with helm template"
	case strings.Contains(detail, "tab character") || strings.Contains(detail, "cannot start any token"):
		e.Advice = "indent with spaces, not tabs"
	default:
		e.Advice = "check the indentation there, and that the file is complete"
	}
	return e
}

// place names a line of a file.
func place(source string, line int) string {
	if source == "-" {
		source = "standard input"
	}
	if line <= 0 {
		return source
	}
	return fmt.Sprintf("%s:%d", source, line)
}
