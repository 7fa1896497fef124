package explain

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/internal/yamlpatch"
)

// fitPatches makes the patches of fixes for objects of -f ones for what stands in the files, which lacks what
// an API server fills in. It does so where patches are shown.
func (o *explainOptions) fitPatches(answers []*explain.Explanation) {
	if o.Format.Name == "" {
		return
	}
	for _, path := range o.Paths {
		text, err := o.textOf(path)
		if err != nil {
			continue // of a packed file, patches are for what was read
		}
		yamlpatch.Values(text, func(object yamlpatch.Object, value any) {
			for _, e := range answers {
				for i := range e.Fixes {
					o.fitFix(&e.Fixes[i], e.Subject, object, value)
				}
			}
		})
	}
}

// fitFix makes what a fix changes in an object of a file fit the file.
func (o *explainOptions) fitFix(f *explain.Fix, subject explain.Subject, object yamlpatch.Object, value any) {
	for i := range f.Changes {
		c := &f.Changes[i]
		if !o.isAbout(*c, object) || slices.Contains(withoutExactly, object.APIVersion) {
			continue // the fields of some versions are elsewhere
		}
		fitted, err := yamlpatch.Fit(value, operationsFor("", c.Patch))
		if err != nil {
			continue // the object is not what was asked about, such as one of two with a name
		}
		patch := words.Each(fitted, func(op yamlpatch.Operation) explain.PatchOperation { return explain.PatchOperation(op) })
		c.Patch = patch
		if c.Kind == subject.Kind && c.Name == subject.Name && c.Namespace == subject.Namespace {
			f.Patch = patch
		}
	}
}
