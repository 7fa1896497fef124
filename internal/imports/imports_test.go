package imports

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

func TestModuleFollowsImportRule(t *testing.T) {
	root := os.DirFS("../..")
	violations, files, err := check(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Error(v)
	}
	// A walk that starts in the wrong place sees nothing and finds nothing wrong.
	if files < 10 {
		t.Errorf("read %d files, want the files of the module", files)
	}
}

// Each file testdata/*.txtar is a small module tree together with a file "want": what check says of it.
func TestCheckFindsViolations(t *testing.T) {
	for _, name := range []string{"testdata/bad.txtar", "testdata/good.txtar"} {
		t.Run(path.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			want := wanted(t, archive)
			tree, err := txtar.FS(archive)
			if err != nil {
				t.Fatal(err)
			}
			got, _, err := check(tree)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
		})
	}
}

func wanted(t *testing.T, archive *txtar.Archive) []string {
	t.Helper()
	at := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "want" })
	if at < 0 {
		t.Fatal("no file want")
	}
	text := strings.TrimSpace(string(archive.Files[at].Data))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func TestCheckRefusesFilesThatDoNotParse(t *testing.T) {
	tree, err := txtar.FS(txtar.Parse([]byte("-- inspect/a.go --\npackage\n")))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := check(tree); err == nil {
		t.Error("no error for a file that does not parse")
	}
}

// The order of the layers allows no way back: nothing that a package may import may import that package.
func TestTablePointsOneWay(t *testing.T) {
	for _, a := range layers {
		for _, b := range layers {
			from, to := packageOf(a), packageOf(b)
			if from != to && matchesAny(a.may, to) && matchesAny(b.may, from) {
				t.Errorf("%s and %s may import each other", a.packages, b.packages)
			}
		}
	}
}

// packageOf returns a package to which a line of the table applies.
func packageOf(l layer) string {
	dir := strings.TrimSuffix(l.packages, "/...")
	if covering, _ := layerOf(dir); covering.packages != l.packages {
		return dir + "/below" // the directory itself has a line of its own
	}
	return dir
}
