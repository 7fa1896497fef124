package explain

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
	"github.com/kubectl-dra/kubectl-dra/internal/yamlpatch"
)

// keepInput keeps what will be read of standard input, so that it can be printed with a change.
func (o *explainOptions) keepInput() {
	if slices.Contains(o.Files, sources.StdinPath) {
		o.Input = &bytes.Buffer{}
		o.In = io.TeeReader(o.In, o.Input)
	}
}

// changedFile is a file of -f with what a fix changes in it.
type changedFile struct {
	path string
	*yamlpatch.Result
}

// printChangedFiles prints the files of -f that a fix changes, with everything else in them as it is. Objects
// that the fix changes and that are in none of the files follow.
func (o *explainOptions) printChangedFiles(ctx context.Context, s *inspect.Snapshot, f *explain.Fix) error {
	changed, missing, err := o.changeFiles(f.Changes)
	if err != nil {
		return err
	}
	for _, file := range changed {
		o.Note("%s is printed with the change", file.path)
	}
	if len(changed) > 0 { // for quota there is a command besides
		missing = slices.DeleteFunc(missing, func(c explain.ObjectChange) bool { return c.InPlace && c.Kind == "ClusterQueue" })
	}
	rest := explain.Fix{Changes: missing}
	objects, err := remedy.Manifests(&rest, func(c explain.ObjectChange) (remedy.Object, error) { return o.whole(ctx, s, c) })
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for _, file := range changed {
		separate(&out)
		out.Write(file.Text)
	}
	for _, object := range objects {
		o.Note("%s %s is in none of the files, and follows them", object["kind"], nameIn(object))
		separate(&out)
		if err := o.Format.PrintValue(&out, object); err != nil {
			return err
		}
	}
	return o.printText(out.Bytes())
}

// separate begins another document.
func separate(out *bytes.Buffer) {
	if out.Len() == 0 {
		return
	}
	if !bytes.HasSuffix(out.Bytes(), []byte("\n")) {
		out.WriteByte('\n')
	}
	out.WriteString("---\n")
}

func nameIn(object remedy.Object) string {
	metadata, _ := object["metadata"].(remedy.Object)
	return fmt.Sprint(metadata["name"])
}

// printText prints the text of files: as it is, or on a terminal without what could steer it.
func (o *explainOptions) printText(text []byte) error {
	if _, terminal := console.TerminalWidth(o.Out); terminal {
		text = []byte(console.SafeLines(string(text)))
	}
	_, err := o.Out.Write(text)
	return err
}

// changeFiles applies changes to the files of -f. missing are those whose objects are in none of them.
func (o *explainOptions) changeFiles(changes []explain.ObjectChange) (changed []changedFile, missing []explain.ObjectChange, err error) {
	found := make([]bool, len(changes))
	for _, path := range o.Paths {
		text, err := o.textOf(path)
		if err != nil {
			return nil, nil, err
		}
		result, err := yamlpatch.Apply(text, func(object yamlpatch.Object) []yamlpatch.Operation {
			at := slices.IndexFunc(changes, func(c explain.ObjectChange) bool { return o.isAbout(c, object) })
			if at < 0 {
				return nil
			}
			found[at] = true
			return operationsFor(object.APIVersion, changes[at].Patch)
		})
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		if len(result.Changed) > 0 {
			changed = append(changed, changedFile{path, result})
		}
	}
	for i, c := range changes {
		if !found[i] {
			missing = append(missing, c)
		}
	}
	return changed, missing, nil
}

// isAbout reports whether a change is about an object of a file.
func (o *explainOptions) isAbout(c explain.ObjectChange, object yamlpatch.Object) bool {
	if object.Namespace == "" && c.Namespace != "" {
		object.Namespace = o.Namespace
	}
	group, _, _ := strings.Cut(c.APIVersion, "/")
	of, _, _ := strings.Cut(object.APIVersion, "/")
	return !c.Creates && c.Kind == object.Kind && c.Name == object.Name && c.Namespace == object.Namespace && group == of
}

// exactly is the level of a request that the first versions of the API do not have.
var exactly = regexp.MustCompile(`(/devices/requests/\d+)/exactly(/|$)`)

// withoutExactly are the versions that do not have it.
var withoutExactly = []string{"resource.k8s.io/v1beta1", "resource.k8s.io/v1alpha3"}

// operationsFor writes a patch for an object of an API version.
func operationsFor(apiVersion string, patch []explain.PatchOperation) []yamlpatch.Operation {
	out := make([]yamlpatch.Operation, len(patch))
	for i, op := range patch {
		out[i] = yamlpatch.Operation(op)
		if slices.Contains(withoutExactly, apiVersion) {
			out[i].Path = exactly.ReplaceAllString(op.Path, "$1$2")
		}
	}
	return out
}

// textOf is the text of a file of -f, or of standard input, which was read already.
func (o *explainOptions) textOf(path string) ([]byte, error) {
	if path == sources.StdinPath {
		return o.Input.Bytes(), nil
	}
	file, err := inputfile.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it is only read
	// It was read already, within the limits, so it is known to end.
	text, err := io.ReadAll(file)
	if err == nil && bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return nil, fmt.Errorf("%s is packed; unpack it to have it changed", path)
	}
	return text, err
}
