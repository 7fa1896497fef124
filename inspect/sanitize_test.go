package inspect_test

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

func TestSanitize(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain name":          {"train-0", "train-0"},
		"other scripts":       {"größe 训练 🙂", "größe 训练 🙂"},
		"terminal title":      {"a\x1b]0;owned\x07b", `a\x1b]0;owned\ab`},
		"C1 control sequence": {"a\u009b31mb", `a\u009b31mb`},
		"line break":          {"a\nb\r\nc\td", `a\nb\r\nc\td`},
		"delete":              {"a\x7fb", `a\x7fb`},
		"direction override":  {"user\u202egnp.exe", `user\u202egnp.exe`},
		"isolate":             {"a\u2066b\u2069", `a\u2066b\u2069`},
		"zero width space":    {"a\u200bb", `a\u200bb`},
		"invalid UTF-8":       {"a\xffb\xc3", `a\xffb\xc3`},
		"replacement itself":  {"a\ufffdb", "a\ufffdb"},
		"tag character":       {"a\U000e0041b", `a\U000e0041b`},
		"empty":               {"", ""},
		"hangul fillers":      {"a\u3164b\uffa0c\u115f\u1160", `a\u3164b\uffa0c\u115f\u1160`},
		"blank braille":       {"a\u2800b", `a\u2800b`},
		"grapheme joiner":     {"a\u034fb", `a\u034fb`},
		"variation selectors": {"a\ufe0f\U000e0100\u180b", `a\ufe0f\U000e0100\u180b`},
		"joiners":             {"a\u200d\u200cb", `a\u200d\u200cb`},
		"marks that pile up":  {"Z\u0301\u0301\u0301\u0301\u0301\u20dda", "Z\u0301\u0301\u0301\u0301" + `\u0301\u20dda`},
		"a mark on nothing":   {"\u0301a", `\u0301a`},
		"a mark on a space":   {"a \u0301", `a \u0301`},
		"a mark on an escape": {"\x1b\u0301", `\x1b\u0301`},
		"a mark on a byte":    {"\xff\u0301", `\xff\u0301`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := inspect.Sanitize(test.in); got != test.want {
				t.Errorf("Sanitize(%q) = %q, want %q", test.in, got, test.want)
			}
		})
	}
}

// ignorable is Default_Ignorable_Code_Point of Unicode's DerivedCoreProperties.txt: what a renderer shows as
// nothing at all.
var ignorable = [][2]rune{
	{0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F}, {0x200B, 0x200F},
	{0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8},
	{0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
}

// blank are code points that Unicode calls letters, marks or symbols though their glyph is empty.
const blank = "\u2800\ufffc\U00013441\U00013442\U00016fe4\U0001d159"

// TestNothingInvisibleIsSafe asks about every rune there is.
func TestNothingInvisibleIsSafe(t *testing.T) {
	shown := 0
	for r := range rune(unicode.MaxRune + 1) {
		unseen := strings.ContainsRune(blank, r) || slices.ContainsFunc(ignorable, func(of [2]rune) bool { return of[0] <= r && r <= of[1] }) ||
			r != ' ' && unicode.In(r, unicode.C, unicode.Z)
		if unseen && !inspect.Unsafe(r) {
			t.Errorf("%U is shown as it is", r)
		}
		if !unseen && unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S, unicode.M) {
			shown++
			if inspect.Unsafe(r) {
				t.Errorf("%U can be seen, and is escaped", r)
			}
		}
	}
	if shown < 100_000 {
		t.Errorf("only %d characters are shown", shown)
	}
}

// TestScriptsStayReadable: whole words, as people write them.
func TestScriptsStayReadable(t *testing.T) {
	for _, text := range []string{
		"größe Ελληνικά кириллица", "शक्ति नमस्ते", "ที่นี่ กำลัง", "தமிழ் స్త్రీ", "עִבְרִית שָׁלוֹם", "العَرَبِيَّةُ", "ភាសាខ្មែរ", "မြန်မာ", "བསྒྲུབས་",
		"训练 トレーニング 훈련 \u1112\u1161\u11ab\u1100\u1173\u11af", "Tie\u0302\u0301ng Vie\u0323\u0302t", "🙂 👍🏽 🇩🇪 ±½€→│",
	} {
		if got := inspect.Sanitize(text); got != text {
			t.Errorf("Sanitize(%q) = %q", text, got)
		}
	}
}

func FuzzSanitize(f *testing.F) {
	f.Add("a\x1b[31m\xff\u202e\n")
	f.Add("\u0301Z\u0301\u0301\u0301\u0301\u0301\u3164\ufe0f\xff\u0301")
	f.Fuzz(func(t *testing.T, s string) {
		out := inspect.Sanitize(s)
		if !utf8.ValidString(out) {
			t.Fatalf("Sanitize(%q) = %q is not UTF-8", s, out)
		}
		var guard inspect.Guard
		for _, r := range out {
			if guard.Unsafe(r) {
				t.Fatalf("Sanitize(%q) = %q still holds %U", s, out, r)
			}
		}
		if again := inspect.Sanitize(out); again != out {
			t.Fatalf("Sanitize(%q) = %q, and again %q", s, out, again)
		}
	})
}

func TestSanitizeShort(t *testing.T) {
	for in, want := range map[string]string{
		"plain ä 世":                       "plain ä 世",
		"\x1b[31mred\x1b[0m":              `\x1b[31mred\x1b[0m`,
		"a\nb\tc\r\x00":                   `a\nb\tc\r\x00`,
		"\u202egpj.exe":                   `\u202egpj.exe`,
		"broken \xff\xc3":                 `broken \xff\xc3`,
		"\u200b\u00a0":                    `\u200b\u00a0`,
		"\u3164\ufe0f":                    `\u3164\ufe0f`,
		"é\u0301\u0301\u0301\u0301\u0301": "é\u0301\u0301\u0301\u0301" + `\u0301`,
	} {
		if got := inspect.SanitizeShort(in, 100); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
	if got := inspect.SanitizeShort(strings.Repeat("x", 1000), 10); got != "xxxxxxxxxx..." {
		t.Errorf("got %s", got)
	}
}
