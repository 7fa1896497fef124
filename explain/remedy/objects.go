package remedy

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Object is an object as it is written in JSON.
type Object = map[string]any

// ErrPartOnly is wrapped by errors about an object of which only a part is known, so that it cannot be
// written down.
var ErrPartOnly = errors.New("not all of it is known here")

// ErrElsewhere is wrapped by errors about an object that another one makes.
var ErrElsewhere = errors.New("the object cannot be applied")

// Manifests returns the objects that a fix changes, as they are once it is made, ready to be applied: without
// status, and without what the server fills in. They are in the order of the changes. find returns an object
// as it is.
func Manifests(f *explain.Fix, find func(explain.ObjectChange) (Object, error)) ([]Object, error) {
	var out []Object
	for _, c := range f.Changes {
		object, err := manifest(c, find)
		if err != nil {
			return nil, fmt.Errorf("changing %s: %w", nameOf(c), err)
		}
		out = append(out, object)
	}
	return out, nil
}

func manifest(c explain.ObjectChange, find func(explain.ObjectChange) (Object, error)) (Object, error) {
	if c.Creates {
		return Object{"apiVersion": c.APIVersion, "kind": c.Kind, "metadata": Object{"name": c.Name}, "spec": Object{}}, nil
	}
	object, err := find(c)
	if err != nil {
		return nil, err
	}
	object["apiVersion"], object["kind"] = c.APIVersion, c.Kind
	strip(object)
	return Patched(object, c.Patch)
}

// nameOf names an object in messages.
func nameOf(c explain.ObjectChange) string {
	if c.Namespace == "" {
		return c.Kind + " " + c.Name
	}
	return c.Kind + " " + c.Namespace + "/" + c.Name
}

// Find returns an object of a snapshot. The error wraps [ErrPartOnly] if the snapshot has only a part of it:
// of pods that were read from a cluster it has what decides where they run.
func Find(s *inspect.Snapshot, c explain.ObjectChange) (Object, error) {
	var object any
	found := false
	switch c.Kind {
	case "ResourceClaim":
		object, found = s.Claim(inspect.ClaimRef{Namespace: c.Namespace, Name: c.Name})
	case "ResourceClaimTemplate":
		object, found = s.Template(c.Namespace, c.Name)
	case "PersistentVolumeClaim":
		object, found = s.VolumeClaim(c.Namespace, c.Name)
	case "DeviceClass":
		object, found = s.Class(c.Name)
	case "PodGroup":
		for _, group := range s.Objects().PodGroups {
			if group.Namespace == c.Namespace && group.Name == c.Name {
				object, found = group, true
			}
		}
	case "Pod":
		pod, ok := s.Pod(inspect.PodRef{Namespace: c.Namespace, Name: c.Name})
		if ok {
			if made := ControllerOf(pod); made != nil {
				return nil, fmt.Errorf("%w: %s makes the pod, and has to be changed instead", ErrElsewhere, made)
			}
		}
		if ok && slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Image == "" }) {
			return nil, ErrPartOnly
		}
		object, found = pod, ok
	}
	if !found {
		return nil, ErrPartOnly
	}
	kept, err := inspect.WithNewer(object.(metav1.Object)) //nolint:forcetypeassert // every API object is one
	if tree, ok := kept.(Object); ok || err != nil {
		return tree, err
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

// serverAnnotations are those that kubectl keeps for itself.
var serverAnnotations = []string{corev1.LastAppliedConfigAnnotation}

// serverMetadata are the fields of metadata that the server fills in.
var serverMetadata = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"selfLink", "managedFields", "generateName",
}

// strip takes out of an object what its author has not written.
func strip(object Object) {
	delete(object, "status")
	metadata, _ := object["metadata"].(Object)
	for _, field := range serverMetadata {
		delete(metadata, field)
	}
	if annotations, ok := metadata["annotations"].(Object); ok {
		for _, name := range serverAnnotations {
			delete(annotations, name)
		}
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
	}
	if finalizers, ok := metadata["finalizers"].([]any); ok {
		finalizers = slices.DeleteFunc(finalizers, func(name any) bool { return name == resourcev1.Finalizer })
		if metadata["finalizers"] = finalizers; len(finalizers) == 0 {
			delete(metadata, "finalizers")
		}
	}
	if spec, ok := object["spec"].(Object); ok && object["kind"] == "Pod" {
		delete(spec, "nodeName")
		stripMerged(spec)
	}
}

// stripMerged takes out of the selectors of a pod what the server has put there for matchLabelKeys and
// mismatchLabelKeys. It refuses a pod that has both.
func stripMerged(value any) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			stripMerged(element)
		}
	case Object:
		if selector, ok := v["labelSelector"].(Object); ok {
			if all, ok := selector["matchExpressions"].([]any); ok {
				selector["matchExpressions"] = slices.DeleteFunc(all, func(e any) bool {
					expression, _ := e.(Object)
					return merged(v["matchLabelKeys"], "In", expression) || merged(v["mismatchLabelKeys"], "NotIn", expression)
				})
			}
		}
		for _, field := range v {
			stripMerged(field)
		}
	}
}

// merged reports whether an expression of a selector stands for one of some keys.
func merged(keys any, operator string, expression Object) bool {
	list, _ := keys.([]any)
	return expression["operator"] == operator && slices.Contains(list, expression["key"])
}

// Patched applies RFC 6902 operations to an object, which stays as it is.
func Patched(object Object, patch []explain.PatchOperation) (Object, error) {
	text, err := json.Marshal(patch)
	if err != nil {
		return nil, err
	}
	decoded, err := jsonpatch.DecodePatch(text)
	if err != nil {
		return nil, err
	}
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	after, err := decoded.Apply(before)
	if err != nil {
		return nil, err
	}
	var out Object
	return out, utiljson.Unmarshal(after, &out)
}
