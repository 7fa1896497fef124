package inputfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"
)

// ErrSilent says that nothing was written into a named pipe, and that nobody has it open to do so.
var ErrSilent = errors.New("it is a pipe that nobody writes to")

const (
	// patience is how long a named pipe is waited for until somebody opens it to write: a shell opens it at
	// once, before the program that writes has begun.
	patience = 3 * time.Second
	// pause is how long it is until a pipe without a writer is looked at again.
	pause = 20 * time.Millisecond
)

// File is a file that is open to be read.
type File struct {
	*os.File
	// deadline is set for a named pipe from which nothing was read yet: until when somebody must have opened
	// it to write.
	deadline time.Time
}

// Open opens a file. A named pipe is opened at once, whether or not somebody writes to it; [File.Read] waits
// a few seconds for a writer, and for what a writer writes as long as that takes. Errors are those of
// os.Open.
func Open(path string) (*File, error) {
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeNamedPipe == 0 || runtime.GOOS == "windows" {
		file, err := os.Open(path) //nolint:gosec // reading the path that the user named is the purpose
		if err != nil {
			return nil, err //nolint:wrapcheck // as promised
		}
		return &File{File: file}, nil
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // as above
	if err != nil {
		return nil, err //nolint:wrapcheck // as promised
	}
	return &File{File: file, deadline: time.Now().Add(patience)}, nil
}

// Read implements io.Reader. Of a pipe to which nobody writes it returns ErrSilent in a *fs.PathError.
func (f *File) Read(p []byte) (int, error) {
	for {
		n, err := f.File.Read(p)
		if n > 0 {
			f.deadline = time.Time{}
		}
		if n > 0 || !errors.Is(err, io.EOF) || f.deadline.IsZero() {
			return n, err //nolint:wrapcheck // a reader passes on what it meets
		}
		// A pipe is at its end when nobody writes to it any more, and also as long as nobody does yet.
		if time.Now().After(f.deadline) {
			return 0, &fs.PathError{Op: "read", Path: f.Name(), Err: ErrSilent}
		}
		time.Sleep(pause)
	}
}

// ReadAll reads a file of at most limit bytes, whatever it says its size is: a device has no end. What cannot
// be opened or read is told as by os.Open and [File.Read].
func ReadAll(path string, limit int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	switch {
	case err != nil:
		return nil, err //nolint:wrapcheck // as promised
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("it is larger than %s", size(limit))
	}
	return data, nil
}

// size is a number of bytes in words.
func size(n int64) string {
	if n >= 1<<20 {
		return fmt.Sprintf("%d MiB", n>>20)
	}
	return fmt.Sprintf("%d KiB", n>>10)
}
