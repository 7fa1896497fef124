package record

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// TestOneWriter: who finds that somebody else has written to the log writes no more.
func TestOneWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.log")
	life, err := demo.NewLife(1, inspect.DefaultFeatures(inspect.NewestMinor))
	if err != nil {
		t.Fatal(err)
	}
	write := func(l *logFile) error {
		r := history.NewRecorder(history.Bounds{}, l.end)
		if err := r.Take(life.Step()); err != nil {
			t.Fatal(err)
		}
		blocks, err := r.Flush(life.Snapshot().Time())
		if err != nil {
			t.Fatal(err)
		}
		return l.add(blocks, func([]history.Block) int { return 0 })
	}
	mine, err := openLogFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(mine); err != nil {
		t.Fatal(err)
	}
	other, err := openLogFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(other); err != nil {
		t.Fatal(err)
	}
	if err := write(mine); !errors.Is(err, errOtherWriter) {
		t.Errorf("two write to one log: %v", err)
	}
	if err := errors.Join(mine.close(), other.close()); err != nil {
		t.Fatal(err)
	}
	again, err := openLogFile(path)
	if err != nil || len(again.blocks) != 2 {
		t.Fatalf("the log has not what was written first: %v", err)
	}
	if err := again.close(); err != nil {
		t.Fatal(err)
	}
}

// TestRecordKeepsOtherFiles: only what is left of a log is written over. The first block of a log begins with
// KDRL.
func TestRecordKeepsOtherFiles(t *testing.T) {
	const refused = "it exists and is no log of kubectl dra record: name another file"
	for name, test := range map[string]struct{ content, want string }{
		"a line":                {"precious text\n", refused},
		"a byte":                {"x", refused},
		"a byte like a log's":   {"K", ""},
		"the start of a log":    {"KDRL\x00\x01", ""},
		"empty":                 {"", ""},
		"zeros":                 {strings.Repeat("\x00", 100), ""},
		"something after zeros": {strings.Repeat("\x00", 1<<17) + "precious", refused},
		"a few zeros and text":  {"\x00\x00x", refused},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(test.content), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := openLogFile(path)
		if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
			t.Errorf("%s: got %v, want %q", name, err, test.want)
		}
		if err == nil {
			_ = l.close()
			continue
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != test.content {
			t.Errorf("%s: the file has %q, %v", name, now, err)
		}
	}
}

// TestRecordDanglingLink: no file is made where a symbolic link leads.
func TestRecordDanglingLink(t *testing.T) {
	folder := t.TempDir()
	link, target := filepath.Join(folder, "link"), filepath.Join(folder, "target")
	if err := os.Symlink(target, link); err != nil {
		t.Skip(err)
	}
	if _, err := openLogFile(link); err == nil || !strings.Contains(err.Error(), "is a symbolic link that leads to nothing") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(target); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the target was made: %v", err)
	}
}
