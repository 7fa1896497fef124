package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

// resume finds the end of what was recorded before.
func (l *logFile) resume() error {
	info, err := l.file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	log, err := history.Open(l.file, info.Size(), l.path, manifest.Options{})
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF): // the first block was not written to its end
		return l.file.Truncate(0)
	case errors.Is(err, history.ErrNoLog):
		return errors.New("it exists and is no log of kubectl dra record: name another file")
	case err != nil:
		return err
	case log.Damaged != nil:
		return fmt.Errorf("%w; kubectl dra diff and others still read it up to there: move it away, or name another file", log.Damaged)
	}
	l.blocks, l.size = log.Blocks(), log.Size()
	_, l.end = log.Span()
	return l.file.Truncate(l.size)
}

var errOtherWriter = errors.New("something else writes to the file")

// add appends blocks. Before that it drops as many of the oldest blocks as surplus says of all, those that
// are appended among them.
func (l *logFile) add(blocks []history.Block, surplus func([]history.Block) int) error {
	if len(blocks) == 0 {
		return nil
	}
	if err := l.check(); err != nil {
		return err
	}
	if n := len(l.blocks); n > 0 {
		if longer, ok := blocks[0].Prolonging(&l.blocks[n-1]); ok { // it takes the place of that one
			blocks[0], l.blocks, l.size = longer, l.blocks[:n-1], l.size-longer.Bytes()
		}
	}
	all := append(l.blocks[:len(l.blocks):len(l.blocks)], blocks...)
	var err error
	if drop := surplus(all); drop > 0 {
		err = l.rewrite(all, drop)
	} else {
		err = l.write(l.file, l.size, all[len(l.blocks):])
	}
	if err != nil {
		return err
	}
	for i := range l.blocks {
		l.blocks[i].Data = nil
	}
	return nil
}

// check tells whether the file is as it was left.
func (l *logFile) check() error {
	mine, err := l.file.Stat()
	if err != nil {
		return err
	}
	named, err := os.Stat(l.path)
	if err != nil {
		return err
	}
	if mine.Size() != l.size || !os.SameFile(mine, named) {
		return errOtherWriter
	}
	return nil
}

// write writes blocks at a place of the file, and waits until the disk has them.
func (l *logFile) write(file *os.File, at int64, blocks []history.Block) error {
	size := at
	for i := range blocks {
		if _, err := file.WriteAt(blocks[i].Data, size); err != nil {
			return errors.Join(err, file.Truncate(at))
		}
		size += int64(len(blocks[i].Data))
	}
	if err := file.Sync(); err != nil {
		return err
	}
	l.blocks, l.size = append(l.blocks, blocks...), size
	return nil
}

// rewrite makes a file of what is left when the oldest blocks are dropped, which takes the place of the log.
func (l *logFile) rewrite(all []history.Block, drop int) error {
	var dropped int64
	for i := range min(drop, len(l.blocks)) {
		dropped += l.blocks[i].Bytes()
	}
	target, mode, err := replaceTarget(l.path)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(target), ".dra-record-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it is there no more once it has taken its place
	kept := l.size - dropped
	if _, err = io.Copy(file, io.NewSectionReader(l.file, dropped, kept)); err == nil {
		err = file.Chmod(mode)
	}
	next := &logFile{path: l.path, file: file}
	if drop < len(l.blocks) {
		next.blocks = append(next.blocks, l.blocks[drop:]...)
	}
	if err == nil {
		err = next.write(file, kept, all[max(drop, len(l.blocks)):])
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	if err := l.file.Close(); err != nil { // some systems do not replace a file that is open
		return err
	}
	if err := os.Rename(file.Name(), target); err != nil {
		return err
	}
	l.blocks, l.size = next.blocks, next.size
	l.file, err = os.OpenFile(target, os.O_RDWR, 0) //nolint:gosec // as above
	return err
}

// close ends the writing. A file that was made in vain is taken away.
func (l *logFile) close() error {
	err := l.file.Close()
	if l.made && l.size == 0 {
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}
