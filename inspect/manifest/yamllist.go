package manifest

import (
	"bytes"
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// `kubectl get -o yaml` writes one List, however many objects there are. The YAML parser needs about
// twenty times the size of a document in memory, so a large List in block style is cut into its items
// by their indentation, and the items are converted on all cores.
//
// Example: below `items:` at the margin, each line that begins with "- " at the column of the first
// such line begins an item; a line that is indented less ends the list. Text within an item is always
// indented more, also in block and quoted scalars.

// largeYAML is the size, in bytes, from which a document is cut.
const largeYAML = 1 << 20

// piece is one item of a cut list, as a YAML document of its own.
type piece struct {
	line       int
	yaml       []byte
	raw        []byte // as JSON
	duplicates []string
}

// readYAMLList reads a document that is a List in block style. It returns false, having done nothing,
// when the document is something else or uses aliases across items.
func (c *collector) readYAMLList(ctx context.Context, source string, line int, chunk []byte) (bool, error) {
	frame, pieces := cutList(line-leadingLines(chunk), chunk)
	if len(pieces) == 0 {
		return false, nil
	}
	raw, _, err := yamlToJSON(frame)
	if err != nil || len(raw) == 0 || raw[0] != '{' {
		return false, nil //nolint:nilerr // reading the document as a whole will report the error
	}
	outer, err := scanHead(raw, c.limits.depth)
	if err != nil || !isList(outer.kind) {
		return false, nil //nolint:nilerr // see above
	}
	failed, err := convertPieces(ctx, pieces)
	if err != nil {
		if failed == nil || bytes.Contains([]byte(err.Error()), []byte("unknown anchor")) {
			return false, ctx.Err()
		}
		return true, yamlError(source, failed.line, failed.yaml, err)
	}
	for i := range pieces {
		p := &pieces[i]
		c.duplicateKeys(source, p.line, p.duplicates)
		if err := c.addConverted(ctx, &text{source: source, data: p.raw, first: p.line, fixed: true}, itemHead(outer)); err != nil {
			return true, err
		}
		p.raw = nil
	}
	return true, nil
}

// convertPieces converts all pieces to JSON. When it fails it names the first piece, in file order,
// that is broken.
func convertPieces(ctx context.Context, pieces []piece) (*piece, error) {
	errs := make([]error, len(pieces))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range pieces {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := &pieces[i]
			p.raw, p.duplicates, errs[i] = yamlToJSON(p.yaml)
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return &pieces[i], err
		}
	}
	return nil, nil
}

// cutList cuts a block-style document at its top-level field items. The frame is the rest of the
// document. There are no pieces when the document has another form.
func cutList(line int, chunk []byte) (frame []byte, pieces []piece) {
	column, inside := -1, false
	start := 0
	flush := func(end int) {
		if n := len(pieces); inside && n > 0 && pieces[n-1].yaml == nil {
			pieces[n-1].yaml = asDocument(chunk[start:end], column)
		}
	}
	for at := 0; at < len(chunk); line++ {
		end := len(chunk)
		if n := bytes.IndexByte(chunk[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		row := chunk[at:end]
		indent := len(row) - len(bytes.TrimLeft(row, " "))
		content := bytes.TrimSpace(row)
		isItem := inside && bytes.HasPrefix(row[indent:], []byte("- "))
		switch {
		case isItem && (column < 0 || indent == column):
			flush(at)
			column, start = indent, at
			pieces = append(pieces, piece{line: line})
		case inside && (len(content) == 0 || content[0] == '#' || indent > max(column, 0)):
		case !inside && bytes.Equal(bytes.TrimRight(row, " \r\n"), []byte("items:")):
			if len(pieces) > 0 {
				return nil, nil
			}
			inside = true
			frame = append(frame, "items: []\n"...)
		default:
			flush(at)
			inside = false
			frame = append(frame, row...)
		}
		at = end
	}
	flush(len(chunk))
	return frame, pieces
}

// asDocument replaces an item's dash by a space, so that its fields stand in one column.
func asDocument(item []byte, column int) []byte {
	doc := bytes.Clone(item)
	doc[column] = ' '
	return doc
}
