package documents

import (
	"bytes"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
)

// stage is where the blocks of one page are run, one after the other: a directory with the files that pages
// name, and an API server with the demo cluster.
type stage struct {
	t      *testing.T
	dir    string
	server *apiServer
	at     time.Time // what commands take for now
}

// made are files that the program makes of the demo cluster, by the command that makes them.
var made = map[string]string{
	"cluster.pb.gz": "snapshot --demo -o", "cluster.json": "snapshot --demo -o", "cluster.log": "record --demo --for 61m -o",
}

// copies are other names of them.
var copies = map[string]string{"before.pb.gz": "cluster.pb.gz", "after.pb.gz": "cluster.pb.gz", "snapshot.pb.gz": "cluster.pb.gz"}

var madeOnce sync.Once
var madeFiles = map[string][]byte{}

// newStage makes a stage and goes there.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{t: t, dir: t.TempDir(), server: newServer(t), at: demo.Now()}
	web := httptest.NewServer(s.server)
	t.Cleanup(web.Close)
	t.Cleanup(web.CloseClientConnections)
	home := t.TempDir()
	config := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"demo","contexts":[{"name":"demo","context":{"cluster":"demo","user":%q}}],
"clusters":[{"name":"demo","cluster":{"server":%q}}],"users":[{"name":%q,"user":{}}]}`, user, web.URL, user)
	s.write(filepath.Join(home, "config"), []byte(config))
	for name, value := range map[string]string{"KUBECONFIG": filepath.Join(home, "config"), "HOME": home, "NO_COLOR": "", "NODE_NAME": "gpu-a-01", "TMPDIR": home} {
		t.Setenv(name, value)
	}
	if err := os.CopyFS(s.dir, os.DirFS(filepath.Join(root, "cmd/kubectl-dra/internal/documents/testdata/stage"))); err != nil {
		t.Fatal(err)
	}
	// Links that lead out of a directory that is read are not followed.
	if err := os.CopyFS(filepath.Join(s.dir, "docs/rbac"), os.DirFS(filepath.Join(root, "docs/rbac"))); err != nil {
		t.Fatal(err)
	}
	names := []string{"internal", "testdata", "cmd"} // what pages name from the root of the repository
	pages, err := os.ReadDir(filepath.Join(root, "docs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		if page.Name() != "rbac" {
			names = append(names, "docs/"+page.Name())
		}
	}
	for _, name := range names {
		if err := os.Symlink(filepath.Join(root, name), filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(s.dir)
	madeOnce.Do(s.make)
	for name, data := range madeFiles {
		s.write(name, data)
	}
	for name, of := range copies {
		s.write(name, madeFiles[of])
	}
	return s
}

// make makes the files that the program makes.
func (s *stage) make() {
	s.t.Helper()
	for name, command := range made {
		if r := s.program(append(strings.Fields(command), name)...); r.code != 0 {
			s.t.Fatalf("making %s: exit code %d, %s", name, r.code, r.stderr)
		}
		data, err := os.ReadFile(name) //nolint:gosec // of this test
		if err != nil {
			s.t.Fatal(err)
		}
		madeFiles[name] = data
	}
	madeFiles["known.json"] = []byte(s.program("check", "--demo", "-o", "json").stdout) // a baseline
}

func (s *stage) write(name string, data []byte) {
	s.t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// unpack writes the files of an archive of the repository.
func (s *stage) unpack(name string) {
	s.t.Helper()
	archive, err := txtar.ParseFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		s.t.Fatalf("unpacking %s: %v", name, err)
	}
	for _, f := range archive.Files {
		s.write(filepath.Base(f.Name), f.Data)
	}
}

// result is what came of a command.
type result struct {
	args           []string
	code           int
	stdout, stderr string
}

// program runs the program.
func (s *stage) program(args ...string) result {
	var out, errOut bytes.Buffer
	code := cli.Main(args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}, instant(s.at))
	return result{args, code, out.String(), errOut.String()}
}
