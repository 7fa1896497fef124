//go:build linux

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

const (
	mebibyte = 1 << 20
	// maxInputSize is the size of a file, in bytes, for which maxResident holds.
	maxInputSize = mebibyte
	// maxResident is what a command may have taken at most, in bytes. docs/reliability.md says so.
	maxResident = 500 * mebibyte
	// maxDuration is far above the time of processors that any of them takes.
	maxDuration = time.Minute
)

// hostile is an input: head, then body again and again until there are size bytes, then tail. In the body %x
// is the number of the repetition.
type hostile struct {
	head, body, tail string
	size             int
	packed           bool
}

const (
	podHead   = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[`
	sliceHead = `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"driver":"d","nodeName":"n",` +
		`"pool":{"name":"n","generation":1,"resourceSliceCount":1},"devices":[`
)

var hostiles = map[string]hostile{
	"gzip of brackets":           {body: "[", size: 16 * mebibyte, packed: true},
	"gzip of objects in objects": {body: `{"a":`, size: 60 * mebibyte, packed: true},
	"gzip of white space":        {body: "\n", size: 30 * mebibyte, packed: true},
	"gzip of more than it may":   {body: "# nothing\n", size: 200 * mebibyte, packed: true},
	"gzip of small maps":         {body: "- {a: {b: {}}}\n", size: 60 * mebibyte, packed: true},
	"gzip of empty lists":        {head: "a: [", body: "[],", tail: "]", size: 60 * mebibyte, packed: true},
	"gzip of documents":          {body: "---\na: 1\n", size: 8 * mebibyte, packed: true},
	"gzip of markers":            {body: "---\n", size: 20 * mebibyte, packed: true},
	"gzip of empty objects":      {body: "{}\n", size: 60 * mebibyte, packed: true},
	"gzip of empty containers":   {head: podHead, body: "{},", tail: "{}]}}", size: 60 * mebibyte, packed: true},
	"gzip of pods of containers": {
		body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%x"},"spec":{"containers":[` + strings.Repeat("{},", 100_000) + "{}]}}\n",
		size: 30 * mebibyte, packed: true,
	},
	"gzip of slices of devices": {
		body: `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s%x"},"spec":{"devices":[` + strings.Repeat("{},", 100_000) + "{}]}}\n",
		size: 30 * mebibyte, packed: true,
	},
	"gzip of devices with attributes": {head: sliceHead, body: `{"name":"d%x","attributes":{"a":{}}},`, tail: "{}]}}", size: 6 * mebibyte, packed: true},
	"gzip of small pods":              {body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"c%x"}}` + "\n", size: 10 * mebibyte, packed: true},
	"empty containers":                {head: podHead, body: "{},", tail: "{}]}}", size: 3 * 130_000},
	"empty devices":                   {head: sliceHead, body: "{},", tail: "{}]}}"},
	"devices with attributes":         {head: sliceHead, body: `{"name":"d%x","attributes":{"a":{}}},`, tail: "{}]}}"},
	"attributes":                      {head: sliceHead + `{"name":"a","attributes":{`, body: `"a%x":{"int":1},`, tail: `"z":{}}}]}}`},
	"small maps":                      {body: "- {a: {b: {}}}\n"},
	"the same key":                    {body: "a: 1\n"},
	"aliases":                         {head: "a: &a " + strings.Repeat("x", 1000) + "\nb: [", body: "*a,", tail: "]\n"},
	"anchors":                         {body: "- &a%x 1\n"},
	"merged maps":                     {head: "a0: &a0 {k: 1}\nb: {}\n", body: "c%x: &c%[1]x {<<: *a0, k%[1]x: 1}\n"},
	"one line":                        {head: "a: ", body: "x"},
	"one key":                         {body: "x", tail: ": 1\n"},
	"digits":                          {head: "apiVersion: v1\nkind: Node\nmetadata: {name: ", body: "9", tail: "}\n"},
}

func (h hostile) write(w io.Writer) error {
	if h.size == 0 {
		h.size = maxInputSize
	}
	if _, err := io.WriteString(w, h.head); err != nil {
		return err
	}
	for i, written := 0, len(h.head)+len(h.tail); ; i++ {
		body := h.body
		if strings.Contains(body, "%") {
			body = fmt.Sprintf(body, i)
		}
		if written += len(body); written > h.size {
			break
		}
		if _, err := io.WriteString(w, body); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, h.tail)
	return err
}

// file writes the input to a file of at most maxInputSize.
func (h hostile) file(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	buffered := bufio.NewWriterSize(file, mebibyte)
	if h.packed {
		zw := gzip.NewWriter(buffered)
		unpacked := bufio.NewWriterSize(zw, mebibyte)
		err = errors.Join(h.write(unpacked), unpacked.Flush(), zw.Close())
	} else {
		err = h.write(buffered)
	}
	if err := errors.Join(err, buffered.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > maxInputSize || info.Size() < 1000 {
		t.Fatalf("the input has %d bytes: %v", info.Size(), err)
	}
	return path
}

// TestMemoryOfHostileFiles: whatever a file of 1 MiB holds, no command takes more than 500 MiB, or crashes,
// or takes long.
func TestMemoryOfHostileFiles(t *testing.T) {
	for i, name := range slices.Sorted(maps.Keys(hostiles)) {
		if i%effort.InFull(1, 16) > 0 {
			continue
		}
		input := hostiles[name]
		t.Run(name, func(t *testing.T) {
			path := input.file(t)
			commands := []string{"get claims -A"}
			switch name {
			case "empty containers", "devices with attributes":
				commands = []string{"snapshot --force -o /dev/null", "get devices -o yaml", "get pools", "top devices --once", "cel true", "explain pod p"}
			}
			for _, command := range commands {
				runHostile(t, append(strings.Fields(command), "--from", path))
			}
		})
	}
}

func runHostile(t *testing.T, args []string) {
	t.Helper()
	cmd := exec.Command("kubectl-dra", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run() // stdout is thrown away
	took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal(err)
	}
	resident := usage.Maxrss << 10
	said, _, _ := strings.Cut(stderr.String(), "\n")
	t.Logf("%s: %d MiB, %v, exit %d, %.120s", args, resident>>20, took.Round(time.Millisecond), cmd.ProcessState.ExitCode(), said)
	if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 && code != 3 {
		t.Errorf("%s ended with %v: %.2000s", args, err, stderr.String())
	}
	if resident > maxResident {
		t.Errorf("%s took %d MiB", args, resident>>20)
	}
	if took > maxDuration {
		t.Errorf("%s took %v", args, took)
	}
}
