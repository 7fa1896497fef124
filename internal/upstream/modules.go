package main

import (
	"archive/zip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
)

// proxy is where modules come from.
type proxy interface {
	// versions returns the versions of a module that are known, in any order.
	versions(ctx context.Context, module string) ([]string, error)
	// open returns the source of a version of a module, errNotServed if it cannot be had.
	open(ctx context.Context, module, version string) (fs.FS, error)
}

var errNotServed = errors.New("not served")

// goProxy asks the go command.
type goProxy struct{}

// runGo lets go write JSON. It does so too where it fails because a module asks for a newer Go, which it
// has downloaded nevertheless.
func runGo(ctx context.Context, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if len(out) == 0 {
		return fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return json.Unmarshal(out, into)
}

func (goProxy) versions(ctx context.Context, module string) ([]string, error) {
	var known struct{ Versions []string }
	err := runGo(ctx, &known, "list", "-m", "-versions", "-json", module)
	return known.Versions, err
}

func (goProxy) open(ctx context.Context, module, version string) (fs.FS, error) {
	var got struct{ Zip, Error string }
	if err := runGo(ctx, &got, "mod", "download", "-json", module+"@"+version); err != nil {
		return nil, err
	}
	if got.Zip == "" {
		return nil, fmt.Errorf("%w: %s", errNotServed, got.Error)
	}
	archive, err := zip.OpenReader(got.Zip) // open until the program ends
	if err != nil {
		return nil, err
	}
	return fs.Sub(archive, module+"@"+version)
}
