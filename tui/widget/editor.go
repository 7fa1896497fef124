package widget

import (
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
)

// maxText is how many bytes of text an Editor takes in. What would make it longer is not typed.
const maxText = 64 << 10

// Editor edits a text of several lines. The zero value is an empty text.
type Editor struct {
	// Cells takes a text apart into what is shown of it, in the order of the text. It must be set before the
	// text is drawn or the cursor moves to another line.
	Cells func(text string) []Cell

	text   string
	cursor int // in bytes, between two characters
	undo   []editorState
	// last is the kind of the last change: typing the next letter of a word is not a change of its own to
	// undo.
	last change
}

type editorState struct {
	text   string
	cursor int
}

type change uint8

const (
	moved change = iota
	typed
	erased
	replaced
)

// maxUndo is how many changes can be taken back.
const maxUndo = 200

// Text returns the text.
func (e *Editor) Text() string { return e.text }

// Cursor returns where the cursor is, as an offset in bytes.
func (e *Editor) Cursor() int { return e.cursor }

// MoveTo puts the cursor at an offset, which must be between two characters of the text.
func (e *Editor) MoveTo(at int) { e.cursor, e.last = at, moved }

// Set replaces the whole text; the cursor goes to its end.
func (e *Editor) Set(text string) { e.Replace(0, len(e.text), text) }

// Insert puts text, such as what was pasted, at the cursor.
func (e *Editor) Insert(text string) { e.Replace(e.cursor, e.cursor, text) }

// Replace puts text into the place of the bytes from one offset to another, and the cursor behind it. Undo
// takes it back as one change.
func (e *Editor) Replace(from, to int, text string) { e.replace(from, to, text, replaced) }

// replace puts text into the place of some bytes and the cursor behind it.
func (e *Editor) replace(from, to int, text string, c change) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	if text == e.text[from:to] || len(e.text)-(to-from)+len(text) > maxText {
		return
	}
	if c != e.last || c == replaced || c == typed && strings.ContainsAny(text, " \n") {
		e.undo = append(e.undo, editorState{e.text, e.cursor})
		if len(e.undo) > maxUndo {
			e.undo = e.undo[1:]
		}
	}
	e.last = c
	e.text, e.cursor = e.text[:from]+text+e.text[to:], from+len(text)
}

// Undo takes back the last change.
func (e *Editor) Undo() {
	if n := len(e.undo); n > 0 {
		e.text, e.cursor, e.undo, e.last = e.undo[n-1].text, e.undo[n-1].cursor, e.undo[:n-1], replaced
	}
}

// Press handles a key and reports whether it was one for editing.
func (e *Editor) Press(k tea.KeyPressMsg) bool {
	if to, ok := e.target(k.Keystroke()); ok {
		e.MoveTo(to)
		return true
	}
	switch k.Keystroke() {
	case "backspace", "ctrl+h":
		e.replace(e.before(e.cursor), e.cursor, "", erased)
	case "delete", "ctrl+d":
		e.replace(e.cursor, e.after(e.cursor), "", erased)
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.replace(e.wordStart(), e.cursor, "", replaced)
	case "ctrl+k":
		e.replace(e.cursor, e.lineEnd(), "", replaced)
	case "ctrl+u":
		e.replace(e.lineStart(), e.cursor, "", replaced)
	case "ctrl+z":
		e.Undo()
	case "enter", "shift+enter", "alt+enter":
		e.replace(e.cursor, e.cursor, "\n", typed)
	default:
		if k.Text == "" || strings.ContainsFunc(k.Text, unicode.IsControl) {
			return false
		}
		e.replace(e.cursor, e.cursor, k.Text, typed)
	}
	return true
}

// target is where a key moves the cursor.
func (e *Editor) target(key string) (to int, ok bool) {
	switch key {
	case "left", "ctrl+b":
		return e.before(e.cursor), true
	case "right", "ctrl+f":
		return e.after(e.cursor), true
	case "home", "ctrl+a":
		return e.lineStart(), true
	case "end", "ctrl+e":
		return e.lineEnd(), true
	case "ctrl+left", "alt+left", "alt+b":
		return e.wordStart(), true
	case "ctrl+right", "alt+right", "alt+f":
		return e.wordEnd(), true
	case "ctrl+home":
		return 0, true
	case "ctrl+end":
		return len(e.text), true
	}
	return 0, false
}

// before returns where the character before an offset begins.
func (e *Editor) before(at int) int {
	start := strings.LastIndexByte(e.text[:max(0, at-1)], '\n') + 1
	for c := range styled.Characters(e.text[start:at]) {
		if start+len(c) >= at {
			break
		}
		start += len(c)
	}
	return start
}

// after returns where the character at an offset ends.
func (e *Editor) after(at int) int {
	for c := range styled.Characters(e.text[at:]) {
		return at + len(c)
	}
	return at
}

func (e *Editor) lineStart() int { return strings.LastIndexByte(e.text[:e.cursor], '\n') + 1 }

func (e *Editor) lineEnd() int {
	if n := strings.IndexByte(e.text[e.cursor:], '\n'); n >= 0 {
		return e.cursor + n
	}
	return len(e.text)
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (e *Editor) wordStart() int {
	head := strings.TrimRightFunc(e.text[:e.cursor], func(r rune) bool { return !isWord(r) })
	return len(strings.TrimRightFunc(head, isWord))
}

func (e *Editor) wordEnd() int {
	rest := strings.TrimLeftFunc(e.text[e.cursor:], func(r rune) bool { return !isWord(r) })
	return len(e.text) - len(strings.TrimLeftFunc(rest, isWord))
}
