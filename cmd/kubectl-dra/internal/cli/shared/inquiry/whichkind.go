package inquiry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// unknownTypeError is a word where a type is expected.
type unknownTypeError struct {
	error // of the command line
	word  string
}

func (e *unknownTypeError) Unwrap() error { return e.error }

// WhichKind completes the error about an unknown type: where the word is the name of an object, it says how
// to ask about that. Other errors are returned as they are.
func WhichKind(ctx context.Context, reader *sources.Reader, kinds []Kind, command string, err error) error {
	var unknown *unknownTypeError
	if !errors.As(err, &unknown) {
		return err
	}
	kinds = slices.DeleteFunc(slices.Clone(kinds), func(k Kind) bool { return k.Owner != nil })
	resources := words.Each(kinds, func(k Kind) inspect.Resource { return k.Resource })
	told := reader.Streams.ErrOut
	snapshot, namespace := (&Completer{streams: reader.Streams, Reader: reader, timeout: hintTimeout}).readQuietly(ctx, resources)
	reader.Streams.ErrOut = told
	if snapshot == nil {
		return err
	}
	if ways := waysToAsk(snapshot, kinds, namespace, unknown.word, reader.Connection.NamespaceFlag(), command); len(ways) > 0 {
		return console.Usagef("%q is a name, not a type; ask with %s", unknown.word, strings.Join(ways, " or "))
	}
	return err
}

// waysToAsk are the commands that ask about the objects of a name: those in the namespace, else those
// elsewhere.
func waysToAsk(s *inspect.Snapshot, kinds []Kind, namespace, name, flag, command string) []string {
	var here, elsewhere []string
	for _, k := range kinds {
		for _, o := range ObjectNames(s, k) {
			if o.Name != name || inspect.Sanitize(name) != name {
				continue
			}
			way := fmt.Sprintf("kubectl dra %s %s %s", command, k.Names[0], name)
			switch {
			case o.Namespace != namespace:
				elsewhere = append(elsewhere, way+" -n "+o.Namespace)
			case flag != "":
				here = append(here, way+" -n "+namespace)
			default:
				here = append(here, way)
			}
		}
	}
	if len(here) > 0 {
		return here
	}
	return elsewhere[:min(len(elsewhere), console.MaxNamesListed)]
}
