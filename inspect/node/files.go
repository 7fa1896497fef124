package node

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxCheckpoint is how large a checkpoint may be, in bytes. One of a node with 250 pods has some 100 KiB.
const maxCheckpoint = 32 << 20

// readCheckpoint returns a file below the directory of the kubelet. Symbolic links that lead out of the
// directory are not followed, and what is no file is not opened: a pipe would be waited for.
func readCheckpoint(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no file")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxCheckpoint+1))
	if err == nil && len(data) > maxCheckpoint {
		err = fmt.Errorf("it is larger than %d MiB", maxCheckpoint>>20)
	}
	return data, err
}

// healthOf puts an error of a file or a socket into words.
func healthOf(s Source, err error) inspect.Health {
	switch {
	case err == nil:
		return inspect.Health{State: inspect.Synced}
	case errors.Is(err, fs.ErrNotExist):
		return inspect.Health{State: inspect.NotServed, Message: "there is none"}
	case errors.Is(err, fs.ErrPermission):
		return inspect.Health{State: inspect.Forbidden, Message: fmt.Sprintf("no permission to read %s; the kubelet's files are root's", s)}
	}
	return inspect.Health{State: inspect.Broken, Message: inspect.SanitizeShort(err.Error(), maxMessage)}
}

// maxMessage is how long a message of the node may be, in characters.
const maxMessage = 300
