package styled

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// Texts that are not as many columns wide as they have runes.
const (
	wide     = "装置"              // two characters of two columns each
	family   = "👩‍👩‍👧"           // five runes that a reader sees as one character of two columns
	combined = "e\u0301te\u0301" // été, with accents that are runes of their own
)

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{"": 0, "gpu-0": 5, wide: 4, family: 2, combined: 3, "é": 1} {
		if got := Width(text); got != want {
			t.Errorf("%q is %d columns wide, want %d", text, got, want)
		}
	}
}

func TestCharacters(t *testing.T) {
	var got []string
	columns := 0
	for c, width := range Characters("a" + wide + family + combined) {
		got = append(got, c)
		columns += width
	}
	want := []string{"a", "装", "置", family, "e\u0301", "t", "e\u0301"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("characters (-want +got):\n%s", diff)
	}
	if columns != 10 {
		t.Errorf("they take %d columns, want 10", columns)
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"gpu-a-01", 8, "gpu-a-01"},
		{"gpu-a-01", 7, "gpu-a-…"},
		{wide + wide, 8, wide + wide},
		{wide + wide, 7, wide + "装…"},
		{wide + wide, 6, wide + "…"}, // half a character has no place
		{family + family, 3, family + "…"},
		{family + family, 2, "…"},
		{combined, 2, "e\u0301…"},
		{wide, 0, ""},
		{wide, -1, ""},
	} {
		if got := Cut(tt.text, tt.width); got != tt.want {
			t.Errorf("%q in %d columns is %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
	if got := CutTo("gpu-a-01", 2, "..."); got != ".." {
		t.Errorf("a mark that has no room itself is %q", got)
	}
	if got := Pad(wide, 6) + "|" + Pad(wide, 3) + "|"; got != wide+"  |装…|" {
		t.Errorf("padded: %q", got)
	}
}

// TestCutMiddle: what begins alike can still be told apart.
func TestCutMiddle(t *testing.T) {
	for _, tt := range []struct {
		text  string
		width int
		want  string
	}{
		{"llm-train-0", 11, "llm-train-0"},
		{"llm-train-with-a-long-name-0", 11, "llm-t…ame-0"},
		{"llm-train-with-a-long-name-17", 12, "llm-tr…me-17"},
		{"llm-train-with-a-long-name-17", 8, "llm-tra…"},
		{"显卡超级显卡超级", 9, "显卡…超级"},
		{"显卡超级显卡超级", 10, "显卡 …超级"},
	} {
		got := CutMiddle(tt.text, tt.width)
		if got != tt.want || Width(got) > tt.width {
			t.Errorf("%q in %d: %q, want %q", tt.text, tt.width, got, tt.want)
		}
	}
}

func TestColumns(t *testing.T) {
	text := "ab" + wide + combined
	for _, tt := range []struct {
		from, to int
		want     string
	}{
		{0, 9, text}, {0, 2, "ab"}, {2, 6, wide}, {3, 6, " 置"}, {2, 5, "装 "}, {6, 7, "e\u0301"}, {9, 12, ""},
	} {
		if got := Columns(text, tt.from, tt.to); got != tt.want {
			t.Errorf("columns %d to %d are %q, want %q", tt.from, tt.to, got, tt.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		name string
		line Line
		o    Wrapping
		want []string
	}{
		{"fits", Text(Plain, "one two"), Wrapping{Width: 7}, []string{"one two"}},
		{"at a blank", Text(Plain, "one two three"), Wrapping{Width: 8, First: "- ", Rest: "  "}, []string{"- one", "  two", "  three"}},
		{"wide characters", Text(Plain, wide+" "+wide+" "+wide), Wrapping{Width: 9}, []string{wide + " " + wide, wide}},
		{"combining characters", Text(Plain, combined+" "+combined), Wrapping{Width: 7}, []string{combined + " " + combined}},
		{"a long word is left whole", Text(Plain, "a gpu.example.com b"), Wrapping{Width: 5}, []string{"a", "gpu.example.com", "b"}},
		{"or broken", Text(Plain, "a gpu.example.com b"), Wrapping{Width: 6, Rest: " ", Break: true}, []string{"a", " gpu.e", " xampl", " e.com", " b"}},
		{"never inside of a character", Text(Plain, family+wide+family), Wrapping{Width: 3, Break: true}, []string{family, "装", "置", family}},
		{"a word of two spans", Line{{Text: "ok gpu-0", Role: Name}, {Text: ": taken"}}, Wrapping{Width: 8}, []string{"ok", "gpu-0:", "taken"}},
		{"between spans", Line{{Text: "device", Role: Keyword}, {Text: "."}, {Text: "driver", Role: Name}}, Wrapping{Width: 8, Spans: true}, []string{"device.", "driver"}},
		{"blanks that stay", Text(Plain, "  a  b"), Wrapping{Width: 6}, []string{"  a  b"}},
		{"nothing", nil, Wrapping{Width: 6, First: "- "}, []string{"- "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range Wrap(tt.line, tt.o) {
				got = append(got, l.String())
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("lines (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWrapKeepsRoles: what is written of a span looks as the span does on every line.
func TestWrapKeepsRoles(t *testing.T) {
	got := Wrap(Line{{Text: "a b", Role: Name}, {Text: " c"}}, Wrapping{Width: 3, Rest: " "})
	want := []Line{
		{{Text: ""}, {Text: "a b", Role: Name}},
		{{Text: " c"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// FuzzWrap: whatever the text, no line is too wide, and but for blanks nothing is lost.
func FuzzWrap(f *testing.F) {
	for _, seed := range []string{"one two three", wide + " " + family + combined, "a  b", "gpu.example.com/gpu-a-01"} {
		f.Add(seed, 7)
	}
	f.Add("   ", 0) // blanks alone are wider
	f.Fuzz(func(t *testing.T, s string, width int) {
		width = 2 + (width&0xff)%60
		if !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
			t.Skip("not safe to show")
		}
		lines := WrapText(s, width)
		for _, l := range lines {
			if Width(l) > width {
				t.Errorf("%q has %d columns, not %d", l, Width(l), width)
			}
		}
		if got, want := strings.ReplaceAll(strings.Join(lines, ""), " ", ""), strings.ReplaceAll(s, " ", ""); got != want {
			t.Errorf("%q has become %q", want, got)
		}
	})
}

func TestWrapKeepsLinks(t *testing.T) {
	line := Line{{Text: "held by "}, {Text: "ml/train-0", Link: "claim"}, {Text: " ml/train-1", Link: "other"}}
	got := Wrap(line, Wrapping{Width: 8, Break: true})
	want := []Line{{{Text: "held by"}}, {{Text: "ml/train", Link: "claim"}}, {{Text: "-0", Link: "claim"}}, {{Text: "ml/train", Link: "other"}}, {{Text: "-1", Link: "other"}}}
	if diff := cmp.Diff(want, got, cmp.Transformer("filled", filled)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// filled is a line without spans that have no text.
func filled(l Line) []Span {
	var spans []Span
	for _, s := range l {
		if s.Text != "" {
			spans = append(spans, s)
		}
	}
	return spans
}

// TestNarrow: nothing is wider than it may be, and nothing is lost.
func TestNarrow(t *testing.T) {
	long := strings.Repeat("name-", 20)
	lines := []Line{Text(Plain, "  short"), Text(Name, "  pod "+long+" waits"), nil}
	out := Narrow(lines, 40)
	var all strings.Builder
	for _, line := range out {
		if line.Width() > 40 {
			t.Errorf("%q is %d columns wide", line.String(), line.Width())
		}
		all.WriteString(strings.TrimSpace(line.String()))
	}
	if got, want := strings.ReplaceAll(all.String(), " ", ""), "shortpod"+long+"waits"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if first := out[1].String(); !strings.HasPrefix(first, "  pod name-") || !strings.HasPrefix(out[2].String(), "    ") {
		t.Errorf("a long word begins behind what is before it, and goes on indented: %q, %q", first, out[2].String())
	}
	if same := Narrow(lines[:1], 40); &same[0] != &lines[0] {
		t.Error("lines that fit are not as they were")
	}
}
