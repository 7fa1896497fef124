package inquiry

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Kind is a sort of object that a question can name.
type Kind struct {
	// Singular is as in messages of the API server.
	Singular string
	Resource inspect.Resource
	Kind     string // the kind as in a manifest
	// Names are what a user may call it.
	Names []string
	// Owner is set for kinds of which there are no objects in a snapshot, but pods: see owners.go.
	Owner *inspect.OwnerKind
}

// The kinds that commands can name.
var (
	Claim       = Kind{"resourceclaim", inspect.Claims, "ResourceClaim", []string{"claim", "claims", "resourceclaim", "resourceclaims"}, nil}
	Pod         = Kind{"pod", inspect.Pods, "Pod", []string{"pod", "pods", "po"}, nil}
	Template    = Kind{"resourceclaimtemplate", inspect.Templates, "ResourceClaimTemplate", []string{"template", "templates", "resourceclaimtemplate", "resourceclaimtemplates", "rct"}, nil}
	VolumeClaim = Kind{"persistentvolumeclaim", inspect.VolumeClaims, "PersistentVolumeClaim", []string{"pvc", "pvcs", "persistentvolumeclaim", "persistentvolumeclaims"}, nil}
	Node        = Kind{"node", inspect.Nodes, "Node", []string{"node", "nodes", "no"}, nil}
)

// Class is a sort of object of which only selectors can be tested.
var Class = Kind{"deviceclass", inspect.Classes, "DeviceClass", []string{"class", "classes", "deviceclass", "deviceclasses", "dc"}, nil}

// HasName reports whether a user may call the kind so, with or without its API group.
func (k Kind) HasName(name string) bool {
	if k.Owner != nil {
		return k.Owner.Called(name)
	}
	return slices.Contains(k.Names, PlainType(name))
}

// PlainType returns a type without its group, as -o name prints it, in lower case.
func PlainType(name string) string {
	name, _, _ = strings.Cut(strings.ToLower(name), ".")
	return name
}

// SplitTypeAndNames takes TYPE NAME… or TYPE/NAME… apart, where names may also be separated by commas. All
// names must be of one type.
func SplitTypeAndNames(args []string) (word string, names []string, err error) {
	word, _, typed := strings.Cut(args[0], "/")
	if !typed {
		args = args[1:]
	}
	for _, arg := range args {
		name := arg
		if typed {
			t, of, ok := strings.Cut(arg, "/")
			if !ok || t != word {
				return "", nil, console.Usagef("%q: give either one type and names, or %s/NAME each time", arg, word)
			}
			name = of
		}
		names = append(names, strings.Split(name, ",")...)
	}
	return word, names, nil
}

// Matching returns those of some names that a name with * or ? stands for, and nil for any other name, which
// stands for itself.
func Matching(pattern string, names []string) []string {
	var out []string
	if strings.ContainsAny(pattern, "*?") {
		for _, name := range names {
			if ok, err := path.Match(pattern, name); ok && err == nil {
				out = append(out, name)
			}
		}
	}
	return out
}

// ObjectNames lists namespace and name of the objects of a kind.
func ObjectNames(s *inspect.Snapshot, k Kind) []metav1.ObjectMeta {
	return words.Each(inspect.KindOf(k.Resource).Objects(s.Objects()), func(o metav1.Object) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: o.GetNamespace(), Name: o.GetName()}
	})
}

// NotFound says that an object does not exist, and what exists instead.
func NotFound(s *inspect.Snapshot, k Kind, namespace, name string) error {
	text := fmt.Sprintf("%s %q not found", k.Singular, name)
	if namespace != "" {
		text += fmt.Sprintf(" in namespace %q", namespace)
	}
	if h := s.Health(k.Resource); !h.Complete() && h.State != inspect.NotRead {
		return fmt.Errorf("%s, and not all could be read: %s", text, console.HealthText(k.Resource, h))
	} else if h.State == inspect.NotServed {
		return fmt.Errorf("%s: %s", text, console.HealthText(k.Resource, h))
	}
	var here, elsewhere []string
	for _, o := range ObjectNames(s, k) {
		switch {
		case o.Namespace == namespace:
			here = append(here, o.Name)
		case o.Name == name:
			elsewhere = append(elsewhere, o.Namespace)
		}
	}
	return errors.New(text + console.WhatExists(name, namespace, here, elsewhere))
}

// typeNames are what the kinds are called in usage.
func typeNames(kinds []Kind) []string {
	return words.Each(kinds, func(k Kind) string { return k.Names[0] })
}

// SplitArguments reads TYPE NAME… or TYPE/NAME…, where at least one name must be given.
func SplitArguments(args []string, kinds []Kind) (Kind, []string, error) {
	known := typeNames(kinds)
	if len(args) == 0 {
		some := strings.Join(known[:min(len(known), console.MaxNamesListed)], ", ")
		if len(known) > console.MaxNamesListed {
			some += ", …"
		}
		return Kind{}, nil, console.Usagef("name an object, as TYPE NAME; the types are %s", some)
	}
	word, names, err := SplitTypeAndNames(args)
	if err != nil {
		return Kind{}, nil, err
	}
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.HasName(word) })
	if i < 0 {
		return Kind{}, nil, &unknownTypeError{console.Usagef("unknown type %q%s", word, console.WhatExists(word, "", known, nil)), word}
	}
	if len(names) == 0 || slices.Contains(names, "") {
		return Kind{}, nil, console.Usagef("%s needs a name", word)
	}
	return kinds[i], names, nil
}
