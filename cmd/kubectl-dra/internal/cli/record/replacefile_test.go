package record

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// put writes a file that is there before.
func put(t *testing.T, path string, mode fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, want string, mode fs.FileMode) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil || string(data) != want {
		t.Errorf("%s holds %q, %v; want %q", path, data, err, want)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != mode {
		t.Errorf("%s: mode %v, %v; want %v", path, info.Mode(), err, mode)
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestReplaceFile(t *testing.T) {
	for name, test := range map[string]struct {
		old, link, replace bool
		content            io.Reader
		fails              bool
	}{
		"new":                           {},
		"old":                           {old: true, replace: true},
		"old, through a link":           {old: true, link: true, replace: true},
		"old, unasked":                  {old: true, fails: true},
		"link to nothing":               {link: true, replace: true, fails: true},
		"new, and writing fails":        {content: iotest.ErrReader(io.ErrShortWrite), fails: true},
		"old, and writing fails":        {old: true, replace: true, content: iotest.ErrReader(io.ErrShortWrite), fails: true},
		"old, through a link, in vain":  {old: true, link: true, replace: true, content: iotest.ErrReader(io.ErrShortWrite), fails: true},
		"new, and nobody asked for old": {replace: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "file")
			named := path
			if test.old {
				put(t, path, 0o640)
			}
			if test.link {
				named = filepath.Join(dir, "link")
				if err := os.Symlink("file", named); err != nil {
					t.Fatal(err)
				}
			}
			before := namesIn(t, dir)
			content := test.content
			if content == nil {
				content = strings.NewReader("new")
			}
			err := replaceFile(context.Background(), named, content, test.replace)
			if (err != nil) != test.fails {
				t.Errorf("error %v", err)
			}
			switch {
			case test.fails && !slices.Equal(namesIn(t, dir), before):
				t.Errorf("there are %q, want %q", namesIn(t, dir), before)
			case test.fails && test.old:
				holds(t, path, "old", 0o640)
			case test.old:
				holds(t, path, "new", 0o640)
			case !test.fails:
				holds(t, path, "new", 0o600)
			}
			if !test.fails && len(namesIn(t, dir)) != max(1, len(before)) {
				t.Errorf("there are %q", namesIn(t, dir))
			}
		})
	}
}

// meanwhile is a reader that calls a function before it gives its content.
type meanwhile struct {
	do      func()
	content io.Reader
}

func (r *meanwhile) Read(p []byte) (int, error) {
	r.do()
	return r.content.Read(p)
}

// TestReplaceFileInterrupted: the file that is being written is gone before the writing goes on, which it may
// never do.
func TestReplaceFileInterrupted(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	put(t, path, 0o600)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := replaceFile(ctx, path, &meanwhile{content: strings.NewReader("new"), do: func() {
		if n := len(namesIn(t, dir)); n != 2 && ctx.Err() == nil {
			t.Errorf("%d files while it is written", n)
		}
		cancel()
		for deadline := time.Now().Add(time.Minute); len(namesIn(t, dir)) > 1 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if names := namesIn(t, dir); !slices.Equal(names, []string{"file"}) {
			t.Errorf("there are %q after the interrupt", names)
		}
	}}, true)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	holds(t, path, "old", 0o600)
}

// TestReplaceFileMeanwhile: what somebody else has made while the file was written stays.
func TestReplaceFileMeanwhile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	content := &meanwhile{content: strings.NewReader("new"), do: func() { put(t, path, 0o600) }}
	if err := replaceFile(context.Background(), path, content, false); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	holds(t, path, "old", 0o600)
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("there are %q", names)
	}
}
