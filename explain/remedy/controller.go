package remedy

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/yamlpatch"
)

// controllerOf is the controller of a pod that is changed. It is nil for other objects, and for pods that
// nobody makes anew.
func (b *builder) controllerOf(c explain.ObjectChange) *Controller {
	if c.Kind != "Pod" {
		return nil
	}
	pod, ok := b.s.Pod(inspect.PodRef{Namespace: c.Namespace, Name: c.Name})
	if !ok {
		return nil
	}
	return ControllerOf(pod)
}

// patchable are the controllers whose pod template can be changed, and stands at spec.template. They then
// make their pods anew.
var patchable = map[string]bool{"Deployment": true, "StatefulSet": true, "DaemonSet": true}

// changeController writes the change of a pod into the template of its controller. The values that the pod
// has are tested first, since what the server adds to pods may have moved them.
func (b *builder) changeController(c explain.ObjectChange, made Controller) {
	patch, err := templatePatch(b.s, c)
	if !patchable[made.Kind] || err != nil {
		b.remark(fmt.Sprintf("%s makes the pod. Make the change there, and have it recreate the pod.", &made))
		return
	}
	b.add(b.kubectl("patch", b.of(made.Kind, made.Name), "-n", c.Namespace, "--type=json", "-p", patch))
	if made.Kind == "StatefulSet" { // which waits for a pod that cannot be placed
		b.add(b.kubectl("delete", "pod", b.name(c.Name), "-n", c.Namespace))
	}
}

// templatePatch is the patch of a pod as one of an object whose spec.template makes it.
func templatePatch(s *inspect.Snapshot, c explain.ObjectChange) (string, error) {
	pod, ok := s.Pod(inspect.PodRef{Namespace: c.Namespace, Name: c.Name})
	if !ok {
		return "", ErrPartOnly
	}
	tree, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod)
	if err != nil {
		return "", err
	}
	var tests, list []explain.PatchOperation
	for _, op := range c.Patch {
		rest, ok := strings.CutPrefix(op.Path, "/spec/")
		if !ok {
			return "", fmt.Errorf("%s is not in the spec", op.Path)
		}
		path := "/spec/template/spec/" + rest
		tokens := yamlpatch.Tokens(op.Path)
		if value, found := yamlpatch.Lookup(tree, tokens); found == len(tokens) {
			tests = append(tests, explain.PatchOperation{Op: "test", Path: path, Value: value})
		}
		list = append(list, explain.PatchOperation{Op: op.Op, Path: path, Value: op.Value})
	}
	text, err := json.Marshal(append(tests, list...))
	return string(text), err
}
