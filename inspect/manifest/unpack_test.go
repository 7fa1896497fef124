package manifest

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"
)

// zipped packs n times a line.
func zipped(t *testing.T, line string, n int) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	block := bytes.Repeat([]byte(line), 1000)
	for range n / 1000 {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPackedTooWell: gzip that grows a thousandfold is refused before it is unpacked to the end, unless the
// user vouches for it.
func TestPackedTooWell(t *testing.T) {
	bomb := zipped(t, "# nothing\n", 8_000_000)
	_, err := ReadBytes("bomb.gz", bomb, Options{})
	const want = "reading bomb.gz: the gzip unpacks to more than 64Mi and 100 times its size; --max-input allows more"
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if _, err := ReadBytes("bomb.gz", bomb, Options{MaxBytes: 1 << 30}); err != nil {
		t.Errorf("vouched for: %v", err)
	}
	if _, err := ReadBytes("small.gz", zipped(t, "# nothing\n", 6_000_000), Options{}); err != nil {
		t.Errorf("less than 64 MiB: %v", err)
	}
}

// TestTotal: the limit is for all files together.
func TestTotal(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.yaml", "b.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), bytes.Repeat([]byte("# nothing\n"), 60), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Read(context.Background(), []string{dir}, Options{MaxBytes: 1200}); err != nil {
		t.Errorf("as large as may be: %v", err)
	}
	_, err := Read(context.Background(), []string{dir}, Options{MaxBytes: 1199})
	if err == nil || !strings.Contains(err.Error(), "b.yaml: more than 1199 of text, counting all files") {
		t.Errorf("got %v", err)
	}
}

// TestManyFiles: the walk ends when it has seen too many names, also those of no manifests.
func TestManyFiles(t *testing.T) {
	dir := t.TempDir()
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("x%d.txt", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newReading(Options{})
	r.limits.files = 9
	_, err := r.filesBelow(context.Background(), dir, &failures{})
	var e *Error
	if !errors.As(err, &e) || e.Code != TooLarge || !strings.Contains(e.Error(), "more than 9 files in directories") {
		t.Errorf("got %v", err)
	}
}

// TestMeter: what is told adds up to the sizes of the files and of what they hold.
func TestMeter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.gz")
	data := zipped(t, "# nothing\n", 300_000)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var packed, unpacked int64
	meter := func(p, u int64) { packed, unpacked = packed+p, unpacked+u }
	if _, err := Read(context.Background(), []string{path}, Options{Meter: meter}); err != nil {
		t.Fatal(err)
	}
	if packed != int64(len(data)) || unpacked != 3_000_000 {
		t.Errorf("told of %d bytes that unpack to %d, want %d and 3000000", packed, unpacked, len(data))
	}
}

func TestFromUTF16(t *testing.T) {
	for _, text := range []string{"", "a: ü€😀\n", "\U00010000", "x\uffff"} {
		units := utf16.Encode([]rune(text))
		for name, order := range map[string][2]uint{"little": {0, 8}, "big": {8, 0}} {
			data := []byte{0xff, 0xfe}
			if name == "big" {
				data = []byte{0xfe, 0xff}
			}
			for _, u := range units {
				data = append(data, byte(u>>order[0]), byte(u>>order[1]))
			}
			if got := string(fromUTF16(data)); got != text {
				t.Errorf("%s-endian %q gives %q", name, text, got)
			}
		}
	}
	for broken, want := range map[string]string{"\x3d\xd8": "\ufffd", "\x00\xdex\x00": "\ufffdx", "\x3d\xd8x\x00": "\ufffdx", "x": ""} {
		if got := string(fromUTF16([]byte("\xff\xfe" + broken))); got != want {
			t.Errorf("%q gives %q, want %q", broken, got, want)
		}
	}
}

// TestOddSources: what is no manifest is told in a moment, also where it has no end.
func TestOddSources(t *testing.T) {
	packed := gzipped(t, yamlA)
	for name, test := range map[string]struct {
		data string
		code Code // "" when it is read
	}{
		"gzip of gzip":               {gzipped(t, packed), Binary},
		"gzip cut off":               {packed[:len(packed)-9], Syntax},
		"gzip without end":           {packed[:len(packed)-4], Syntax},
		"gzip with something behind": {packed + "something", Syntax},
		"gzip twice":                 {packed + gzipped(t, "---\n"+yamlB), ""},
		"gzip of nothing":            {gzipped(t, ""), ""},
		"only the mark of gzip":      {"\x1f\x8b\x08", Syntax},
		"UTF-32":                     {"\xff\xfe\x00\x00{\x00\x00\x00}\x00\x00\x00", Binary},
		"UTF-32, big-endian":         {"\x00\x00\xfe\xff\x00\x00\x00{\x00\x00\x00}", Binary},
		"UTF-16":                     {"\xfe\xff\x00{\x00}", ""},
		"UTF-8 with a mark":          {"\xef\xbb\xbf" + yamlA, ""},
		"NUL far behind":             {yamlA + strings.Repeat("# nothing\n", 1000) + "\x00", Binary},
		"NUL in JSON":                {"{\"a\":\"\x00\"}", Binary},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ReadBytes("f", []byte(test.data), Options{})
			var e *Error
			if errors.As(err, &e) != (test.code != "") || e != nil && e.Code != test.code || e == nil && err != nil {
				t.Errorf("got %v, want %s", err, test.code)
			}
		})
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		_, err := Read(context.Background(), []string{"/dev/zero"}, Options{})
		var e *Error
		if !errors.As(err, &e) || e.Code != Binary {
			t.Errorf("/dev/zero: %v", err)
		}
	}
	_, err := Read(context.Background(), []string{"-"}, Options{Stdin: endless{}, MaxBytes: 3 << 20})
	var e *Error
	if !errors.As(err, &e) || e.Code != TooLarge {
		t.Errorf("an endless input: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, []string{"-"}, Options{Stdin: endless{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("an endless input that nobody waits for: %v", err)
	}
}

// endless is text that never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'y'
	}
	return len(p), nil
}
