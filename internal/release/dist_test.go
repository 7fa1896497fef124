package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var distFlag = flag.String("dist", "", "looks at the release that goreleaser has built there (make snapshot)")

// platforms are those for which there are releases, with the format of their archives.
var platforms = map[string]string{
	"linux_amd64": ".tar.gz", "linux_arm64": ".tar.gz",
	"darwin_amd64": ".tar.gz", "darwin_arm64": ".tar.gz",
	"windows_amd64": ".zip", "windows_arm64": ".zip",
}

// dist is a release as goreleaser leaves it behind.
type dist struct {
	dir     string
	Version string `json:"version"` // without the v
	Commit  string `json:"commit"`
}

func openDist(t *testing.T) dist {
	t.Helper()
	if *distFlag == "" {
		t.Skip("needs a release: make snapshot, then -dist")
	}
	d := dist{dir: *distFlag}
	data, err := os.ReadFile(filepath.Join(d.dir, "metadata.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d dist) stem(platform string) string { return "kubectl-dra_v" + d.Version + "_" + platform }

// checksums returns what checksums.txt says, by file.
func (d dist) checksums(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, "checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(data)) {
		sum, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		if !ok {
			t.Fatalf("checksums.txt: line %q", line)
		}
		sums[name] = sum
	}
	return sums
}

// TestChecksums: exactly an archive and an SBOM of each platform are listed, and the sums are theirs.
func TestChecksums(t *testing.T) {
	d := openDist(t)
	var want []string
	for platform, format := range platforms {
		want = append(want, d.stem(platform)+format, d.stem(platform)+".cdx.json")
	}
	slices.Sort(want)
	sums := d.checksums(t)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(sums))); diff != "" {
		t.Errorf("files in checksums.txt (-want +got):\n%s", diff)
	}
	for name, sum := range sums {
		data, err := os.ReadFile(filepath.Join(d.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != sum {
			t.Errorf("%s: the sum is %s, checksums.txt says %s", name, got, sum)
		}
		t.Logf("%-72s %5.1f MB", name, float64(len(data))/1e6)
	}
}

// member is a file of an archive.
type member struct {
	mode     fs.FileMode
	owner    string
	modified time.Time
	content  []byte
}

// TestArchives: each archive has the same files, of root and of the time of the commit, and a program for its
// platform.
func TestArchives(t *testing.T) {
	d := openDist(t)
	for platform, format := range platforms {
		t.Run(platform, func(t *testing.T) {
			program, owner, read := "kubectl-dra", "root:root 0:0", readTar
			if format == ".zip" {
				program, owner, read = "kubectl-dra.exe", "", readZip // a zip file has no owners
			}
			members := read(t, filepath.Join(d.dir, d.stem(platform)+format))
			want := []string{"CHANGELOG.md", "LICENSE", "README.md", "THIRD_PARTY_LICENSES", program}
			if diff := cmp.Diff(want, slices.Sorted(maps.Keys(members))); diff != "" {
				t.Fatalf("files (-want +got):\n%s", diff)
			}
			for name, m := range members {
				mode := fs.FileMode(0o644)
				if name == program {
					mode = 0o755
				} else if string(m.content) != d.source(t, name) {
					t.Errorf("%s is not that of the working tree", name)
				}
				if m.mode != mode || m.owner != owner || !m.modified.Equal(d.committed(t)) {
					t.Errorf("%s: mode %v, owner %q, modified %v; want %v, %q, %v", name, m.mode, m.owner, m.modified, mode, owner, d.committed(t))
				}
			}
			checkProgram(t, d, platform, members[program].content)
		})
	}
}

// source reads a file of the tree that the release was made of, which is where its directory is.
func (d dist) source(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// committed is the time of the commit that the release was made of.
func (d dist) committed(t *testing.T) time.Time {
	t.Helper()
	cmd := exec.Command("git", "show", "-s", "--format=%cI", d.Commit)
	cmd.Dir = filepath.Join(d.dir, "..")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("asking git for the time of %s: %v", d.Commit, err)
	}
	when, err := time.Parse(time.RFC3339, strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return when
}

func readTar(t *testing.T, name string) map[string]member {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if unzipped.Name != "" || !unzipped.ModTime.IsZero() {
		t.Errorf("gzip says name %q, time %v; want neither", unzipped.Name, unzipped.ModTime)
	}
	members := map[string]member{}
	for archive := tar.NewReader(unzipped); ; {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return members
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		members[h.Name] = member{h.FileInfo().Mode(), fmt.Sprintf("%s:%s %d:%d", h.Uname, h.Gname, h.Uid, h.Gid), h.ModTime, content}
	}
}

func readZip(t *testing.T, name string) map[string]member {
	t.Helper()
	archive, err := zip.OpenReader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	members := map[string]member{}
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		members[f.Name] = member{f.Mode(), "", f.Modified, content}
	}
	return members
}

// checkProgram looks at a program that may be of another platform, and so cannot be run.
func checkProgram(t *testing.T, d dist, platform string, program []byte) {
	t.Helper()
	if got := platformOf(t, program); got != platform {
		t.Errorf("the program is for %s", got)
	}
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		t.Fatal(err)
	}
	goos, goarch, _ := strings.Cut(platform, "_")
	for key, want := range map[string]string{
		"GOOS": goos, "GOARCH": goarch, "CGO_ENABLED": "0", "-trimpath": "true", "vcs": "git", "vcs.revision": d.Commit,
		"vcs.time": d.committed(t).UTC().Format(time.RFC3339),
	} {
		if got := setting(info, key); got != want {
			t.Errorf("the build information says %s=%q, want %q", key, got, want)
		}
	}
	if !bytes.Contains(program, []byte("v"+d.Version)) {
		t.Errorf("the program does not know its version v%s", d.Version)
	}
	for _, secret := range buildPaths(t, d) {
		if bytes.Contains(program, []byte(secret)) {
			t.Errorf("the program contains %s, where it was built", secret)
		}
	}
}

func setting(info *debug.BuildInfo, key string) string {
	at := slices.IndexFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == key })
	if at < 0 {
		return ""
	}
	return info.Settings[at].Value
}

// platformOf is what the headers of an executable say. It also asks that the executable is stripped.
func platformOf(t *testing.T, program []byte) string {
	t.Helper()
	r := bytes.NewReader(program)
	if f, err := elf.NewFile(r); err == nil {
		if f.Section(".symtab") != nil || f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil {
			t.Error("the program is not stripped")
		}
		if f.Section(".interp") != nil {
			t.Error("the program is not linked statically")
		}
		return "linux_" + map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[f.Machine]
	}
	if f, err := macho.NewFile(r); err == nil {
		if f.Segment("__DWARF") != nil {
			t.Error("the program is not stripped")
		}
		return "darwin_" + map[macho.Cpu]string{macho.CpuAmd64: "amd64", macho.CpuArm64: "arm64"}[f.Cpu]
	}
	f, err := pe.NewFile(r)
	if err != nil {
		t.Fatal("the program is neither ELF nor Mach-O nor PE")
	}
	if f.NumberOfSymbols != 0 || f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil || f.TimeDateStamp != 0 {
		t.Errorf("the program is not stripped, or has a time: %d symbols, time %d", f.NumberOfSymbols, f.TimeDateStamp)
	}
	return "windows_" + map[uint16]string{pe.IMAGE_FILE_MACHINE_AMD64: "amd64", pe.IMAGE_FILE_MACHINE_ARM64: "arm64"}[f.Machine]
}

// buildPaths are directories of this machine that no program may name.
func buildPaths(t *testing.T, d dist) []string {
	t.Helper()
	tree, err := filepath.Abs(filepath.Join(d.dir, ".."))
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "env", "GOMODCACHE", "GOCACHE", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	return append(strings.Fields(string(out)), tree)
}

// TestSBOMs: the components of an SBOM are the modules that the program says to be made of, with their
// versions.
func TestSBOMs(t *testing.T) {
	d := openDist(t)
	for platform, format := range platforms {
		t.Run(platform, func(t *testing.T) {
			read, program := readTar, "kubectl-dra"
			if format == ".zip" {
				read, program = readZip, "kubectl-dra.exe"
			}
			info, err := buildinfo.Read(bytes.NewReader(read(t, filepath.Join(d.dir, d.stem(platform)+format))[program].content))
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"std " + info.GoVersion}
			for _, m := range info.Deps {
				want = append(want, m.Path+" "+m.Version)
			}
			slices.Sort(want)
			checkSBOM(t, d, d.stem(platform)+".cdx.json", want)
		})
	}
}

// cycloneDX is the part of an SBOM that is looked at.
type cycloneDX struct {
	BOMFormat    string `json:"bomFormat"`
	SerialNumber string `json:"serialNumber"`
	Metadata     struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	} `json:"metadata"`
	Components []component `json:"components"`
}

type component struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	PURL     string `json:"purl"`
	Evidence struct {
		Licenses []struct {
			License struct {
				ID string `json:"id"`
			} `json:"license"`
		} `json:"licenses"`
	} `json:"evidence"`
}

// permissive are licences that ask of a distributed program for no more than their text. Which one a text is
// was guessed by its words: the BSD-3-Clause of golang.org/x is taken for BSD-Source-Code, and the ISC of
// go-spew for 0BSD.
var permissive = []string{"Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "ISC", "BSD-Source-Code", "0BSD"}

func checkSBOM(t *testing.T, d dist, name string, want []string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(d.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	var bom cycloneDX
	if err := json.Unmarshal(data, &bom); err != nil {
		t.Fatal(err)
	}
	if bom.BOMFormat != "CycloneDX" || bom.SerialNumber != "" || bom.Metadata.Timestamp != "" {
		t.Errorf("format %q, serial number %q, time %q; want CycloneDX without the others, which differ from build to build",
			bom.BOMFormat, bom.SerialNumber, bom.Metadata.Timestamp)
	}
	if c := bom.Metadata.Component; c.Name != "github.com/kubectl-dra/kubectl-dra" || c.Version != "v"+d.Version {
		t.Errorf("it is about %s %s", c.Name, c.Version)
	}
	var got []string
	for _, c := range bom.Components {
		version := c.Version
		if c.Name == "std" {
			version = regexp.MustCompile(`^(go)?`).ReplaceAllString(version, "go")
		}
		got = append(got, c.Name+" "+version)
		if !strings.HasPrefix(c.PURL, "pkg:golang/") {
			t.Errorf("%s has the package URL %q", c.Name, c.PURL)
		}
		if c.Name != "std" && len(c.Evidence.Licenses) == 0 {
			t.Errorf("%s has no licence", c.Name)
		}
		for _, l := range c.Evidence.Licenses {
			if !slices.Contains(permissive, l.License.ID) {
				t.Errorf("%s has the licence %q: is that one to distribute under, with a copy of its text?", c.Name, l.License.ID)
			}
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("components (-modules of the program +SBOM):\n%s", diff)
	}
}
