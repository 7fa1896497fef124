//go:build unix

package cni

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPipe: a pipe among the files, to which nobody writes, is told of and not waited for.
func TestPipe(t *testing.T) {
	n := installed(t, "10-flannel.conflist")
	if err := syscall.Mkfifo(filepath.Join(n.dir, "00-pipe.conf"), 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan *View, 1)
	go func() {
		v, err := Read(Options{Dir: n.dir, BinDirs: []string{n.bin}, Runtime: CRIO})
		if err != nil {
			t.Error(err)
		}
		read <- v
	}()
	select {
	case v := <-read:
		if used := v.Used(); len(used) != 1 || used[0].Name != "10-flannel.conflist" || !strings.Contains(v.Files[0].Broken, "no regular file") {
			t.Errorf("%s", said(v))
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the pipe is waited for")
	}
}
