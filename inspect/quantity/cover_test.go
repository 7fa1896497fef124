package quantity

import (
	"strings"
	"testing"
)

// TestCoverProtobuf: a number without bounds is found wherever it stands in a message, and what only has one
// in it is not.
func TestCoverProtobuf(t *testing.T) {
	long := strings.Repeat("1", 1200)
	field := func(text string) string { return "\x0a" + string(rune(len(text))) + text }
	for name, test := range map[string]struct {
		data  string
		found bool
	}{
		"a quantity":            {field("1e-2000000000"), true},
		"nothing but exponent":  {field("-e2147483647"), true},
		"E and digits":          {"\x0a\x071E99999999", true}, // what follows looks like a part of it
		"the length is a digit": {field("1e-" + strings.Repeat("0", 40) + "20000"), true},
		"a long length":         {"\x0a\x8d\x80\x001e-2000000000", true},
		"a long tag":            {"\x8a\x00\x0d1e-2000000000", true},
		"a long number":         {"\x0a\xb0\x09" + long, true},
		"part of a text":        {field("n1e-2000000000"), false},
		"a shorter text":        {"\x0a\x051e-2000000000", false},
	} {
		t.Run(name, func(t *testing.T) {
			for shift := range 4 { // digits are looked for at every fourth place
				data := []byte("k8s\x00" + strings.Repeat("\x00", shift) + test.data)
				covered := CoverProtobuf(data)
				if (covered != nil) != test.found {
					t.Fatalf("shifted by %d: covered %q", shift, covered)
				}
				if covered != nil && len(covered) != len(data) {
					t.Errorf("%d bytes, want %d", len(covered), len(data))
				}
			}
		})
	}
}

// TestReplaceFinds: so it is in JSON.
func TestReplaceFinds(t *testing.T) {
	long := strings.Repeat("1", 1200)
	for data, found := range map[string]bool{
		`{"a":"e2147483647"}`:                         true,
		"{\"a\":\" \u00a01e-2000000000\u2003\"}":      true,
		`{"a": 1e-2000000000 }`:                       true,
		`[1, 1E+99999]`:                               true,
		`{"a":"1.e-20000"}`:                           true,
		`{"a":"` + long + `"}`:                        true,
		`{"a":"1.` + long + `"}`:                      true,
		`{"a":"1e-0020000"}`:                          true,
		`{"a":"1e-999","b":"0001e0009","c":12345}`:    false,
		`{"a":"n1e-2000000000","b":"1e-2000000000n"}`: false,
		`{"a":"2026-11-22T04:48:00Z"}`:                false,
	} {
		if got := Replace([]byte(data)); (got != nil) != found {
			t.Errorf("%.60s: replaced by %.60q", data, got)
		}
	}
}
