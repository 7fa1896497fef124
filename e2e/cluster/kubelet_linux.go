package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// isolation is how a process gets mounts that nobody else sees.
type isolation struct {
	// user tells that this needs a user namespace, in which the caller is root.
	user bool
}

// attributes start a process that has a mount namespace of its own and ends with the test process. The
// namespaces are made when the process is cloned: making them later would undo the second.
func (i isolation) attributes() *syscall.SysProcAttr {
	attributes := endWithParent()
	attributes.Cloneflags = syscall.CLONE_NEWNS
	if i.user {
		attributes.Cloneflags |= syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	return attributes
}

// isolate finds out how to get private mounts here: as root, or else in a user namespace.
func isolate() (isolation, error) {
	var last error
	for _, i := range []isolation{{}, {user: true}} {
		cmd := exec.Command("/bin/sh", "-c", "mount --make-rprivate / && mount --bind /tmp /var/lib")
		cmd.SysProcAttr = i.attributes()
		out, err := cmd.CombinedOutput()
		if err == nil {
			return i, nil
		}
		last = fmt.Errorf("%w %s", err, strings.TrimSpace(string(out)))
	}
	return isolation{}, last
}
