package screenshot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// element is a part of a picture.
type element struct {
	name, text string
	attributes map[string]string
}

// parse reads a picture as a browser does, and gives up on what is not well formed.
func parse(t *testing.T, svg []byte) []element {
	t.Helper()
	var all []element
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				e.attributes[a.Name.Local] = a.Value
			}
			all = append(all, e)
		case xml.CharData:
			if len(all) > 0 {
				all[len(all)-1].text += strings.TrimRight(string(token), "\n")
			}
		}
	}
}

// words are the pieces of text inside the window.
func words(t *testing.T, p Picture) map[string]element {
	t.Helper()
	found := map[string]element{}
	for _, e := range parse(t, p.SVG()) {
		if e.name == "text" && e.attributes["text-anchor"] == "" {
			found[e.text] = e
		}
	}
	return found
}

func TestWordsStandAtTheirCells(t *testing.T) {
	found := words(t, Picture{Width: 20, Height: 2, Text: "ab cd   ef\n  \x1b[31mred\x1b[0m<&>  日本 x"})
	for text, want := range map[string][3]string{ // column and line in pixels, width
		"ab cd": {"0", "14", "45"}, "ef": {"72", "14", "18"},
		"red": {"18", "33", "27"}, "<&>": {"45", "33", "27"}, "日本 x": {"90", "33", "54"},
	} {
		e, ok := found[text]
		if got := [3]string{e.attributes["x"], e.attributes["y"], e.attributes["textLength"]}; !ok || got != want {
			t.Errorf("%q is at %q, want %q", text, got, want)
		}
	}
}

func TestColours(t *testing.T) {
	p := Picture{Width: 30, Height: 1, Text: "a\x1b[1;38;2;1;2;3mbold\x1b[0m \x1b[31mred\x1b[0m \x1b[7mback\x1b[0m \x1b[48;2;9;8;7mon\x1b[0m"}
	svg := string(p.SVG())
	for _, want := range []string{
		"{fill:#010203;font-weight:bold}", "{fill:" + hex(dark.basic[1]) + "}", "{fill:" + hex(dark.background) + "}",
		`fill="` + hex(dark.foreground) + `"/>`, `fill="#090807"/>`,
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("%s is not in\n%s", want, svg)
		}
	}
	p.Light = true
	if svg := string(p.SVG()); !strings.Contains(svg, hex(light.basic[1])) || strings.Contains(svg, hex(dark.basic[1])) {
		t.Errorf("a light terminal has other colours:\n%s", svg)
	}
}

func TestShapesAreDrawnAndNotWritten(t *testing.T) {
	var text strings.Builder
	for c := range shapeTable {
		text.WriteRune(c)
	}
	p := Picture{Width: len(shapeTable), Height: 1, Text: text.String()}
	if found := words(t, p); len(found) > 0 {
		t.Errorf("written: %v", found)
	}
	rule := string(Picture{Width: 4, Height: 1, Text: "────"}.SVG())
	if want := `<path d="M0 9h36v1h-36z" fill=`; !strings.Contains(rule, want) {
		t.Errorf("a rule is not one line from edge to edge, %s:\n%s", want, rule)
	}
}

// What is outside of the window is left out, and nothing that a frame holds breaks the picture.
func TestOddFrames(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "too wide": "0123456789abc", "too high": "\n\n\n\nhidden", "a wide character at the edge": "123456789日",
		"controls": "a\x1b]0;title\x07\x1b[2Jb\x00c\x7f", "not UTF-8": "a\xff\xfeb", "combining": "e\u0301 x\u0308",
	} {
		t.Run(name, func(t *testing.T) {
			p := Picture{Title: `<"&>`, Width: 10, Height: 3, Text: text}
			if found := words(t, p); found["hidden"].text != "" || len(found) > 3 {
				t.Errorf("found %v", found)
			}
			if !bytes.Equal(p.SVG(), p.SVG()) {
				t.Error("drawn twice, it differs")
			}
		})
	}
}
