package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// kind is a sort of object that a question can name.
type kind struct {
	// singular is as in messages of the API server.
	singular string
	resource inspect.Resource
	kind     string // the kind as in a manifest
	// names are what a user may call it.
	names []string
	// owner is set for kinds of which there are no objects in a snapshot, but pods: see owners.go.
	owner *inspect.OwnerKind
}

// The kinds that commands can name.
var (
	kindClaim       = kind{"resourceclaim", inspect.Claims, "ResourceClaim", []string{"claim", "claims", "resourceclaim", "resourceclaims"}, nil}
	kindPod         = kind{"pod", inspect.Pods, "Pod", []string{"pod", "pods", "po"}, nil}
	kindTemplate    = kind{"resourceclaimtemplate", inspect.Templates, "ResourceClaimTemplate", []string{"template", "templates", "resourceclaimtemplate", "resourceclaimtemplates", "rct"}, nil}
	kindVolumeClaim = kind{"persistentvolumeclaim", inspect.VolumeClaims, "PersistentVolumeClaim", []string{"pvc", "pvcs", "persistentvolumeclaim", "persistentvolumeclaims"}, nil}
	kindNode        = kind{"node", inspect.Nodes, "Node", []string{"node", "nodes", "no"}, nil}
)

// kindClass is a sort of object of which only selectors can be tested.
var kindClass = kind{"deviceclass", inspect.Classes, "DeviceClass", []string{"class", "classes", "deviceclass", "deviceclasses", "dc"}, nil}

// hasName reports whether a user may call the kind so, with or without its API group.
func (k kind) hasName(name string) bool {
	if k.owner != nil {
		return k.owner.Called(name)
	}
	return slices.Contains(k.names, plainType(name))
}

// plainType returns a type without its group, as -o name prints it, in lower case.
func plainType(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	return name
}

// splitTypeAndNames takes TYPE NAME… or TYPE/NAME… apart. All names must be of one type.
func splitTypeAndNames(args []string) (word string, names []string, err error) {
	word, _, typed := strings.Cut(args[0], "/")
	if !typed {
		return word, args[1:], nil
	}
	for _, arg := range args {
		t, name, ok := strings.Cut(arg, "/")
		if !ok || t != word {
			return "", nil, usagef("%q: give either one type and names, or %s/NAME each time", arg, word)
		}
		names = append(names, name)
	}
	return word, names, nil
}

// objectNames lists namespace and name of the objects of a kind.
func objectNames(s *inspect.Snapshot, k kind) []metav1.ObjectMeta {
	var out []metav1.ObjectMeta
	for _, o := range inspect.KindOf(k.resource).Objects(s.Objects()) {
		out = append(out, metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName()})
	}
	return out
}

// notFound says that an object does not exist, and what exists instead.
func notFound(s *inspect.Snapshot, k kind, namespace, name string) error {
	text := fmt.Sprintf("%s %q not found", k.singular, name)
	if namespace != "" {
		text += fmt.Sprintf(" in namespace %q", namespace)
	}
	if h := s.Health(k.resource); !h.Complete() && h.State != inspect.NotRead {
		return fmt.Errorf("%s, and not all could be read: %s", text, healthText(k.resource, h))
	} else if h.State == inspect.NotServed {
		return fmt.Errorf("%s: %s", text, healthText(k.resource, h))
	}
	var here, elsewhere []string
	for _, o := range objectNames(s, k) {
		switch {
		case o.Namespace == namespace:
			here = append(here, o.Name)
		case o.Name == name:
			elsewhere = append(elsewhere, o.Namespace)
		}
	}
	return errors.New(text + whatExists(name, namespace, here, elsewhere))
}

// typeNames are what the kinds are called in usage.
func typeNames(kinds []kind) []string {
	var names []string
	for _, k := range kinds {
		names = append(names, k.names[0])
	}
	return names
}

// splitArguments reads TYPE NAME… or TYPE/NAME…, where at least one name must be given.
func splitArguments(args []string, kinds []kind) (kind, []string, error) {
	known := typeNames(kinds)
	if len(args) == 0 {
		some := strings.Join(known[:min(len(known), maxNamesListed)], ", ")
		if len(known) > maxNamesListed {
			some += ", …"
		}
		return kind{}, nil, usagef("name an object, as TYPE NAME; the types are %s", some)
	}
	word, names, err := splitTypeAndNames(args)
	if err != nil {
		return kind{}, nil, err
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.hasName(word) })
	if i < 0 {
		return kind{}, nil, &unknownTypeError{usagef("unknown type %q%s", word, whatExists(word, "", known, nil)), word}
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return kind{}, nil, usagef("%s needs a name", word)
	}
	return kinds[i], names, nil
}
