package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/semver"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// errToDo says that something is not explained, or else to be done. Any other error means that nothing was
// found out.
var errToDo = errors.New("there is something to do: see above, and docs/kubernetes-releases.md")

func main() {
	if err := run(context.Background(), goProxy{}, "internal/upstream", os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "upstream:", err)
		if errors.Is(err, errToDo) {
			os.Exit(1)
		}
		os.Exit(2)
	}
}

// watch is one run.
type watch struct {
	proxy              proxy
	list               []listed
	changes            map[string]*change  // by the ids of their hunks
	known              map[string][]string // the versions of each module
	out                io.Writer
	pairs, hunks, toDo int
}

func run(ctx context.Context, p proxy, dir string, releases []string, out io.Writer) error {
	list, err := readList(filepath.Join(dir, "files.txt"))
	if err != nil {
		return err
	}
	changes, err := readChanges(filepath.Join(dir, "changes.yaml"))
	if err != nil {
		return err
	}
	w := &watch{proxy: p, list: list, changes: map[string]*change{}, known: map[string][]string{}, out: out}
	for _, c := range changes {
		for _, hunk := range c.Hunks {
			id, _, _ := strings.Cut(hunk, " ")
			w.changes[id] = c
		}
	}
	for _, l := range w.list {
		if w.known[l.module] == nil {
			if w.known[l.module], err = p.versions(ctx, l.module); err != nil {
				return err
			}
		}
	}
	if len(releases) > 1 {
		err = w.compare(ctx, releases, 0, false)
	} else {
		err = w.modelled(ctx, slices.Contains(releases, "all"))
	}
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%d pairs, %d hunks, %d to look at\n", w.pairs, w.hunks, w.toDo)
	if w.toDo > 0 {
		return errToDo
	}
	return nil
}

// say tells what is to be done.
func (w *watch) say(format string, args ...any) {
	w.toDo++
	_, _ = fmt.Fprintf(w.out, format+"\n", args...)
}

// modelled compares the patches of each minor release that is modelled, from the newest that was looked at
// or all, and counts what the newest release changes that is not modelled.
func (w *watch) modelled(ctx context.Context, all bool) error {
	releases := w.releases()
	var newest string
	for minor := inspect.OldestMinor; minor <= inspect.NewestMinor; minor++ {
		looked := fmt.Sprintf("v1.%d.%d", minor, lookedAt(minor))
		row := slices.DeleteFunc(slices.Clone(releases), func(r string) bool {
			return semver.MajorMinor(r) != semver.MajorMinor(looked) || semver.Prerelease(r) != ""
		})
		from, known := slices.BinarySearchFunc(row, looked, semver.Compare)
		if !known {
			row = slices.Insert(row, from, looked)
		}
		newest = row[len(row)-1]
		if newest != looked {
			w.say("%s is newer than %s: when all is explained, raise newestPatch in inspect/release.go", newest, looked)
		}
		if all {
			from = 0
		}
		if all || newest != looked {
			if err := w.compare(ctx, row, from, false); err != nil {
				return err
			}
		}
	}
	if last := releases[len(releases)-1]; semver.Compare(last, newest) > 0 {
		return w.compare(ctx, []string{newest, last}, 0, true)
	}
	return nil
}

// lookedAt returns the newest patch of a minor release whose changes are modelled.
func lookedAt(minor int) int {
	patch := 0
	for (inspect.Since{minor: patch + 1}).In(inspect.Release{Minor: minor, Patch: inspect.LatestPatch}) {
		patch++
	}
	return patch
}

// releases returns the releases of Kubernetes of which a module is known, the oldest first, as "v1.37.2".
func (w *watch) releases() []string {
	var releases []string
	for _, versions := range w.known {
		for _, v := range versions {
			releases = append(releases, strings.Replace(v, "v0.", "v1.", 1))
		}
	}
	semver.Sort(releases)
	return slices.Compact(releases)
}

// versionOf returns the version of a module in a release: libraries of Kubernetes 1.37.2 have the version
// v0.37.2.
func versionOf(module, release string) string {
	release = "v" + strings.TrimPrefix(release, "v")
	if module == "k8s.io/kubernetes" {
		return release
	}
	return strings.Replace(release, "v1.", "v0.", 1)
}

// compare compares each release with the one before, module by module, the newest first, down to that at
// an index. Where one is not served, the releases around it are compared. If it is for information, hunks
// are only counted.
func (w *watch) compare(ctx context.Context, releases []string, from int, information bool) error {
	for _, module := range slices.Sorted(maps.Keys(w.known)) {
		var after map[string][]byte
		var to string
		for i := len(releases) - 1; i >= 0; i-- {
			version := versionOf(module, releases[i])
			tree, err := w.proxy.open(ctx, module, version)
			if errors.Is(err, errNotServed) && !slices.Contains(w.known[module], version) {
				_, _ = fmt.Fprintf(w.out, "not compared: %s %s is not served\n", module, version)
				continue
			}
			if err != nil {
				return fmt.Errorf("%s %s: %w", module, version, err)
			}
			before, err := sources(module, tree, w.list)
			if err != nil {
				return fmt.Errorf("%s %s: %w", module, version, err)
			}
			if after != nil {
				hunks, err := differences(ctx, module, before, after)
				if err != nil {
					return err
				}
				w.report(fmt.Sprintf("%s %s -> %s", module, version, to), module, hunks, information)
			}
			if after, to = before, version; i <= from {
				break
			}
		}
	}
	return nil
}

func (w *watch) report(pair, module string, hunks []hunk, information bool) {
	w.pairs++
	_, _ = fmt.Fprintf(w.out, "%s: %d hunks\n", pair, len(hunks))
	if information {
		return
	}
	w.hunks += len(hunks)
	for _, h := range hunks {
		if c := w.changes[h.id]; c != nil {
			_, _ = fmt.Fprintf(w.out, "  %s %s: %s\n", h.id, h.file, c.Change)
		} else {
			w.say("not explained: %s %s/%s (here: %s)\n%s", h.id, module, h.file, strings.Join(holding(w.list, module, h.file).mirrors, ", "), h.text)
		}
	}
}
