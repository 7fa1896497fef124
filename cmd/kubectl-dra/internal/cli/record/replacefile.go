package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// replaceFile gives the file at path the content that is read, all of it or, with an error, none: it is
// written to a file beside it, which takes its place at the end. An old file is replaced only if replace is
// set, and keeps its permissions; a new one is for the user alone. A symbolic link stays, and what it leads
// to is replaced.
//
// When ctx ends the file beside it is removed at once, whatever the writing waits for: the program may end
// before the writing does.
func replaceFile(ctx context.Context, path string, content io.Reader, replace bool) error {
	target, mode, err := replaceTarget(path)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(target), ".dra-snapshot-*")
	if err != nil {
		return err
	}
	temporary := file.Name()
	discard := func() { _ = os.Remove(temporary) } // it is there no more once it has taken its place
	defer discard()
	stop := context.AfterFunc(ctx, discard)
	defer stop()
	err = writeWhole(ctx, file, content, mode)
	if err = errors.Join(err, file.Close()); err != nil {
		return causedBy(ctx, err)
	}
	return causedBy(ctx, putInPlace(temporary, target, replace))
}

// causedBy returns the error of ctx if it has ended, for what went wrong after that is a consequence.
func causedBy(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// replaceTarget returns the file that path leads to and the permissions that its successor gets.
func replaceTarget(path string) (target string, mode fs.FileMode, err error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return "", 0, fmt.Errorf("%s is a symbolic link that leads to nothing: remove it or name another file", path)
		}
		return path, 0o600, nil
	}
	if err != nil {
		return "", 0, err
	}
	target, err = filepath.EvalSymlinks(path)
	return target, info.Mode().Perm(), err
}

// writeWhole writes to a file until the disk has it.
func writeWhole(ctx context.Context, file *os.File, content io.Reader, mode fs.FileMode) error {
	if _, err := io.Copy(file, &interruptible{ctx, content}); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	return file.Sync()
}

// interruptible is a reader that fails once ctx has ended.
type interruptible struct {
	ctx context.Context
	in  io.Reader
}

func (r *interruptible) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.in.Read(p[:min(len(p), 1<<20)])
}

// putInPlace moves a file to its name.
func putInPlace(temporary, target string, replace bool) error {
	if replace {
		return os.Rename(temporary, target)
	}
	err := os.Link(temporary, target) // unlike moving, it fails when somebody else has made a file there meanwhile
	if err == nil || errors.Is(err, fs.ErrExist) {
		return errors.Join(err, os.Remove(temporary))
	}
	if _, err := os.Lstat(target); err == nil { // not every file system has links
		return fmt.Errorf("%s: %w", target, fs.ErrExist)
	}
	return os.Rename(temporary, target)
}
