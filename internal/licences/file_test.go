package licences

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

const root = "../.."

var update = flag.Bool("update", false, "write "+fileName+" anew")

// TestLicencesAreUpToDate: the file is what the modules of the program say now.
func TestLicencesAreUpToDate(t *testing.T) {
	want, err := collect(root)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, fileName), want, 0o644); err != nil { //nolint:gosec // a document is for all to read
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(root, fileName))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s is out of date: run make generate", fileName)
	}
	again, err := collect(root)
	if err != nil || string(again) != string(want) {
		t.Errorf("what is written differs from time to time: %v", err)
	}
}

// TestEveryModuleHasItsLicence: every module that a package is compiled in from is named, also those of
// single systems.
func TestEveryModuleHasItsLicence(t *testing.T) {
	packages, err := compiled(root)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(root, fileName))
	if err != nil {
		t.Fatal(err)
	}
	modules := map[string]bool{}
	for _, p := range packages {
		modules[p.Module.Path] = true
		if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(p.Module.Path+" "+p.Module.Version) + `(,|$)`).Match(data) {
			t.Errorf("%s %s is not in %s", p.Module.Path, p.Module.Version, fileName)
		}
	}
	for _, module := range []string{"k8s.io/client-go", "charm.land/bubbletea/v2", "github.com/inconshreveable/mousetrap"} { // the last on Windows only
		if !modules[module] {
			t.Errorf("%s is not compiled in", module)
		}
	}
	if !strings.Contains(string(data), "the Go standard library") {
		t.Error("the licence of Go is missing")
	}
}

// TestReleasesHaveTheLicences: the archives contain the file, and it is about their systems.
func TestReleasesHaveTheLicences(t *testing.T) {
	type file struct{ Src string }
	var config struct {
		Builds   []struct{ Goos []string }
		Archives []struct{ Files []file }
	}
	data, err := os.ReadFile(filepath.Join(root, ".goreleaser.yaml"))
	if err == nil {
		err = yaml.Unmarshal(data, &config)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, archive := range config.Archives {
		if !slices.ContainsFunc(archive.Files, func(f file) bool { return f.Src == fileName }) {
			t.Errorf("an archive has no %s", fileName)
		}
	}
	for _, build := range config.Builds {
		if !slices.Equal(slices.Sorted(slices.Values(build.Goos)), slices.Sorted(slices.Values(systems))) {
			t.Errorf("releases are for %v, licences for %v", build.Goos, systems)
		}
	}
}
