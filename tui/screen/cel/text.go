package cel

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// maxText is how much text is taken in: far more than the API server accepts.
const maxText = 64 << 10

// textEditor is a text that is edited. Its cursor is an offset in bytes, between two runes.
type textEditor struct {
	text   string
	cursor int
	undo   []state
	// kind of the last change: typing the next letter of a word is not a change of its own to undo.
	last change
}

type state struct {
	text   string
	cursor int
}

type change uint8

const (
	moved change = iota
	typed
	erased
	other
)

// maxUndo is how many changes can be taken back.
const maxUndo = 200

// set replaces the whole text; the cursor goes to its end.
func (e *textEditor) set(text string) { e.replace(0, len(e.text), text, other) }

// replace puts text into the place of some bytes and the cursor behind it.
func (e *textEditor) replace(from, to int, text string, c change) {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	if text == e.text[from:to] || len(e.text)-(to-from)+len(text) > maxText {
		return
	}
	if c != e.last || c == other || c == typed && strings.ContainsAny(text, " \n") {
		e.undo = append(e.undo, state{e.text, e.cursor})
		if len(e.undo) > maxUndo {
			e.undo = e.undo[1:]
		}
	}
	e.last = c
	e.text, e.cursor = e.text[:from]+text+e.text[to:], from+len(text)
}

// takeBack undoes the last change.
func (e *textEditor) takeBack() {
	if n := len(e.undo); n > 0 {
		e.text, e.cursor, e.undo, e.last = e.undo[n-1].text, e.undo[n-1].cursor, e.undo[:n-1], other
	}
}

// press handles a key and reports whether it was one for editing.
func (e *textEditor) press(k tea.KeyPressMsg) bool {
	if to, ok := e.target(k.Keystroke()); ok {
		e.cursor, e.last = to, moved
		return true
	}
	switch k.Keystroke() {
	case "backspace", "ctrl+h":
		e.replace(e.before(e.cursor), e.cursor, "", erased)
	case "delete", "ctrl+d":
		e.replace(e.cursor, e.after(e.cursor), "", erased)
	case "ctrl+w", "alt+backspace", "ctrl+backspace":
		e.replace(e.wordStart(), e.cursor, "", other)
	case "ctrl+k":
		e.replace(e.cursor, e.lineEnd(), "", other)
	case "ctrl+u":
		e.replace(e.lineStart(), e.cursor, "", other)
	case "ctrl+z":
		e.takeBack()
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
func (e *textEditor) target(key string) (to int, ok bool) {
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

func (e *textEditor) before(at int) int {
	_, n := utf8.DecodeLastRuneInString(e.text[:at])
	return at - n
}

func (e *textEditor) after(at int) int {
	_, n := utf8.DecodeRuneInString(e.text[at:])
	return at + n
}

func (e *textEditor) lineStart() int { return strings.LastIndexByte(e.text[:e.cursor], '\n') + 1 }

func (e *textEditor) lineEnd() int {
	if n := strings.IndexByte(e.text[e.cursor:], '\n'); n >= 0 {
		return e.cursor + n
	}
	return len(e.text)
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func (e *textEditor) wordStart() int {
	head := strings.TrimRightFunc(e.text[:e.cursor], func(r rune) bool { return !isWord(r) })
	return len(strings.TrimRightFunc(head, isWord))
}

func (e *textEditor) wordEnd() int {
	rest := strings.TrimLeftFunc(e.text[e.cursor:], func(r rune) bool { return !isWord(r) })
	return len(e.text) - len(strings.TrimLeftFunc(rest, isWord))
}
