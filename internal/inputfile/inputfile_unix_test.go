//go:build unix

package inputfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPipe(t *testing.T) {
	pipe := func(t *testing.T) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		return path
	}
	t.Run("nobody writes", func(t *testing.T) {
		t.Parallel()
		path, begun := pipe(t), time.Now()
		data, err := ReadAll(path, 10)
		var of *fs.PathError
		if !errors.Is(err, ErrSilent) || !errors.As(err, &of) || of.Path != path {
			t.Errorf("ReadAll = %q, %v; want ErrSilent of %s", data, err, path)
		}
		if waited := time.Since(begun); waited < patience || waited > patience+2*time.Minute { // a hang, not a busy machine
			t.Errorf("waited for %s; want some %s", waited, patience)
		}
	})
	t.Run("somebody writes late, and slowly", func(t *testing.T) {
		t.Parallel()
		path := pipe(t)
		done := make(chan error, 1)
		go func() {
			time.Sleep(200 * time.Millisecond) // opened to be read meanwhile
			file, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err == nil {
				time.Sleep(patience + 500*time.Millisecond) // who has opened it may take its time
				_, err = file.WriteString("one ")
				time.Sleep(100 * time.Millisecond)
				_, err2 := file.WriteString("two")
				err = errors.Join(err, err2, file.Close())
			}
			done <- err
		}()
		data, err := ReadAll(path, 10)
		if string(data) != "one two" || err != nil {
			t.Errorf("ReadAll = %q, %v; want all that was written", data, err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestReadAllHasALimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := ReadAll(path, 10); string(data) != "0123456789" || err != nil {
		t.Errorf("ReadAll of 10 of 10 bytes = %q, %v", data, err)
	}
	if data, err := ReadAll(path, 9); err == nil {
		t.Errorf("ReadAll of 9 of 10 bytes = %q; want an error", data)
	}
	for limit, want := range map[int64]string{1 << 20: "it is larger than 1 MiB", 64 << 10: "it is larger than 64 KiB"} {
		if _, err := ReadAll("/dev/zero", limit); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("ReadAll of /dev/zero, %d bytes: %v; want %q", limit, err, want)
		}
	}
	if _, err := ReadAll(filepath.Join(t.TempDir(), "nothing"), 9); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadAll of nothing: %v", err)
	}
	if _, err := ReadAll(t.TempDir(), 9); err == nil {
		t.Error("ReadAll of a directory: no error")
	}
}
