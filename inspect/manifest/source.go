package manifest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// filesBelow returns path itself when it is a file or "-", and else the manifests below the directory
// in the order of their names. A directory that is reached twice through symbolic links is read once,
// which also ends loops.
func filesBelow(ctx context.Context, path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	w := walker{seen: map[string]bool{}}
	if err := w.walk(ctx, path); err != nil {
		return nil, err
	}
	if len(w.files) == 0 {
		return nil, &Error{
			Code: Empty, Source: path, Detail: "the directory holds no *.yaml, *.yml or *.json file",
			Advice: "name another directory or a file",
		}
	}
	return w.files, nil
}

type walker struct {
	seen  map[string]bool // real paths of directories already visited
	files []string
}

func (w *walker) walk(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return unreadable(dir, err)
	}
	if w.seen[resolved] {
		return nil
	}
	w.seen[resolved] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return unreadable(dir, err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(dir, name)
		info, err := os.Stat(path) // follows links, as a mounted ConfigMap needs
		switch {
		case errors.Is(err, fs.ErrNotExist) || isLinkLoop(path, err):
			continue // a dangling link or a link to itself names nothing to read
		case err != nil:
			return unreadable(path, err)
		case info.IsDir():
			if err := w.walk(ctx, path); err != nil {
				return err
			}
		case info.Mode().IsRegular() && isManifest(name):
			w.files = append(w.files, path)
		}
	}
	return nil
}

// isLinkLoop reports whether stat failed on a symbolic link, which then leads in a circle.
func isLinkLoop(path string, err error) bool {
	if err == nil || errors.Is(err, fs.ErrPermission) {
		return false
	}
	info, lerr := os.Lstat(path)
	return lerr == nil && info.Mode()&fs.ModeSymlink != 0
}

func isManifest(name string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml", ".json":
		return true
	}
	return false
}

func unreadable(path string, err error) *Error {
	e := &Error{Code: Unreadable, Source: path, Detail: err.Error(), Err: err}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		e.Detail = pathErr.Err.Error() // the path itself is already in the message
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Advice = "check the path"
	case errors.Is(err, fs.ErrPermission):
		e.Advice = "check the file's permissions"
	}
	return e
}

// readFile reads a whole file, or standard input, and unpacks it.
func readFile(path string, opts Options) ([]byte, error) {
	in := opts.Stdin
	var size int64
	if path != "-" {
		file, err := os.Open(path) //nolint:gosec // reading the path that the user named is the purpose
		if err != nil {
			return nil, unreadable(path, err)
		}
		defer file.Close() //nolint:errcheck // nothing was written
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size()
		}
		in = file
	}
	if in == nil {
		return nil, &Error{Code: Unreadable, Source: path, Detail: "there is no standard input"}
	}
	if size > opts.MaxBytes {
		return nil, tooLarge(path, opts.MaxBytes)
	}
	data, err := readLimited(path, in, size, opts.MaxBytes)
	if err != nil {
		return nil, err
	}
	return unpack(path, data, opts.MaxBytes)
}

// readLimited reads all of in. It gives up early when the first bytes are neither text nor gzip, so that
// a disk image is not read to its end.
func readLimited(path string, in io.Reader, size, limit int64) ([]byte, error) {
	buf := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	if _, err := io.CopyN(buf, in, 4096); err != nil && !errors.Is(err, io.EOF) {
		return nil, unreadable(path, err)
	}
	if err := checkText(path, buf.Bytes()); err != nil && !isGzip(buf.Bytes()) && !isUTF16(buf.Bytes()) {
		return nil, err
	}
	if _, err := buf.ReadFrom(io.LimitReader(in, limit+1-int64(buf.Len()))); err != nil {
		return nil, unreadable(path, err)
	}
	if int64(buf.Len()) > limit {
		return nil, tooLarge(path, limit)
	}
	return buf.Bytes(), nil
}

func tooLarge(path string, limit int64) *Error {
	return &Error{
		Code: TooLarge, Source: path, Detail: fmt.Sprintf("more than %d MiB", limit>>20),
		Advice: "split it, or leave out kinds that are not needed",
	}
}

func isGzip(data []byte) bool { return len(data) > 2 && data[0] == 0x1f && data[1] == 0x8b }

func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff})
}

// unpack returns the text of a file: gzip is undone, UTF-16 (which PowerShell writes when it redirects
// output) is converted, a byte order mark removed, and anything that is not text refused.
func unpack(name string, data []byte, limit int64) ([]byte, error) {
	if isGzip(data) {
		zr, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, &Error{Code: Syntax, Source: name, Detail: "broken gzip: " + err.Error(), Err: err}
		}
		data, err = io.ReadAll(io.LimitReader(zr, limit+1))
		if err != nil {
			return nil, &Error{Code: Syntax, Source: name, Detail: "broken gzip: " + err.Error(), Err: err, Advice: "is the file complete?"}
		}
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(name, limit)
	}
	if isUTF16(data) {
		data = fromUTF16(data)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if err := checkText(name, data); err != nil {
		return nil, err
	}
	return data, nil
}

func fromUTF16(data []byte) []byte {
	var order binary.ByteOrder = binary.LittleEndian
	if data[0] == 0xfe {
		order = binary.BigEndian
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	return []byte(string(utf16.Decode(units)))
}

// checkText refuses data with NUL bytes, which neither YAML nor JSON may hold.
func checkText(name string, data []byte) error {
	i := bytes.IndexByte(data, 0)
	if i < 0 {
		return nil
	}
	return &Error{
		Code: Binary, Source: name, Line: 1 + bytes.Count(data[:i], []byte("\n")),
		Detail: "not a text file (it holds a NUL byte)", Advice: "expected YAML or JSON, possibly gzip",
	}
}
