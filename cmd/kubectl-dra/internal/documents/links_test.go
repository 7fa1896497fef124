package documents

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestLinks checks that what pages refer to in the repository is there: files, places in pages, and pictures.
func TestLinks(t *testing.T) {
	all := pages(t)
	byPath := map[string]*page{}
	for _, p := range all {
		byPath[p.path] = p
	}
	count := 0
	for _, p := range all {
		for _, l := range p.links {
			if strings.Contains(l.target, "://") || strings.HasPrefix(l.target, "mailto:") {
				continue
			}
			count++
			if why := broken(byPath, p, l); why != "" {
				t.Errorf("%s:%d: the link to %s %s", p.path, l.line, l.target, why)
			}
		}
	}
	if count < 100 {
		t.Errorf("only %d links were found", count)
	}
}

// broken says what is wrong with a link, if anything is.
func broken(all map[string]*page, from *page, l link) string {
	file, anchor, _ := strings.Cut(l.target, "#")
	to := from.path
	if file != "" {
		if strings.HasPrefix(file, "/") {
			return "is absolute: write it from the folder of the page"
		}
		to = path.Join(path.Dir(from.path), file)
	}
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(to)))
	switch {
	case err != nil:
		return "leads nowhere: there is no " + to
	case l.image && path.Ext(to) != ".svg":
		return "is no picture that the program has drawn: pictures are .svg in docs/images"
	case l.image && !strings.HasPrefix(to, "docs/images/"):
		return "is a picture outside docs/images, where no test keeps it true"
	case anchor == "":
		return ""
	case info.IsDir() || all[to] == nil:
		return "names a place in what is no page"
	}
	if !slices.Contains(all[to].anchors, anchor) {
		return "names no heading of " + to + "; there are #" + strings.Join(all[to].anchors, " #")
	}
	return ""
}

// TestPicturesAreDrawn: every picture in docs/images is one that a test draws, and that a page shows.
func TestPicturesAreDrawn(t *testing.T) {
	var sources strings.Builder
	for _, name := range []string{"tui/picture_test.go", "cmd/kubectl-dra/internal/cli/picture_test.go"} {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		sources.Write(text)
	}
	shown := map[string]bool{}
	for _, p := range pages(t) {
		for _, l := range p.links {
			shown[path.Join(path.Dir(p.path), l.target)] = true
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "docs", "images"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !shown["docs/images/"+e.Name()] {
			t.Errorf("docs/images/%s is shown by no page", e.Name())
		}
		if stem := strings.TrimSuffix(strings.TrimSuffix(e.Name(), ".svg"), "-light"); !strings.Contains(sources.String(), stem) {
			t.Errorf("docs/images/%s is drawn by no test: see make screenshots", e.Name())
		}
	}
}

// TestEveryPageIsFound: whoever begins with the README gets to every page in docs by links.
func TestEveryPageIsFound(t *testing.T) {
	byPath := map[string]*page{}
	for _, p := range pages(t) {
		byPath[p.path] = p
	}
	seen, next := map[string]bool{"README.md": true}, []string{"README.md"}
	for len(next) > 0 {
		p := byPath[next[0]]
		next = next[1:]
		for _, l := range p.links {
			file, _, _ := strings.Cut(l.target, "#")
			to := path.Join(path.Dir(p.path), file)
			if byPath[to] == nil {
				to = path.Join(to, "README.md") // a folder
			}
			if file != "" && byPath[to] != nil && !seen[to] {
				seen[to] = true
				next = append(next, to)
			}
		}
	}
	for name := range byPath {
		if strings.HasPrefix(name, "docs/") && !seen[name] {
			t.Errorf("nobody gets from the README to %s: give it a line in docs/README.md", name)
		}
	}
	index := byPath["docs/README.md"]
	for name := range byPath {
		if path.Dir(name) == "docs" && name != "docs/README.md" && !slices.ContainsFunc(index.links, func(l link) bool { file, _, _ := strings.Cut(l.target, "#"); return "docs/"+file == name }) {
			t.Errorf("docs/README.md does not name %s: say there which question it answers", name)
		}
	}
}
