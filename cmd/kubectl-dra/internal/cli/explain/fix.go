package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// again is how the question was asked, for commands that ask it again.
func (o *explainOptions) again(flags *pflag.FlagSet, answers []*explain.Explanation) remedy.Asked {
	asked := o.Reader.Asked(flags)
	given := asked.Args
	asked.Files, asked.Args = o.Files, nil
	fixable := 0
	for _, e := range answers {
		if len(e.Fixes) > 0 {
			fixable++
		}
	}
	asked.Several = fixable > 1
	for _, file := range o.Files {
		asked.Args = append(asked.Args, "-f", file)
	}
	if len(o.Files) == 0 {
		asked.Args = append(asked.Args, o.names()...)
	}
	if len(o.Files) == 0 || o.Reader.Connection.NamespaceFlag() != "" {
		asked.Args = append(asked.Args, "-n", o.Namespace)
	}
	asked.Args = slices.Concat(asked.Args, sources.GivenFlags(flags, []string{"node"}), given)
	asked.Once = asked.Once || slices.Contains(o.Files, "-")
	return asked
}

// names are the types and names that were asked about: the type once if there is only one.
func (o *explainOptions) names() []string {
	var out []string
	first := o.Asked[0].Word()
	same := !slices.ContainsFunc(o.Asked, func(n inquiry.Named) bool { return n.Word() != first })
	if same {
		out = append(out, first)
	}
	for i := range o.Asked {
		name := o.Asked[i].Name
		if !same {
			name = o.Asked[i].Word() + "/" + name
		}
		out = append(out, name)
	}
	return out
}

// fixChoice is the value of --fix: [KIND/NAME:]N.
type fixChoice struct {
	kind, name string // of the subject; empty if it was not given
	number     int
}

// parseFix reads the value of --fix. It is nil if none was given.
func (o *explainOptions) parseFix(value string) (*fixChoice, error) {
	c, err := parseFixChoice(value)
	if err == nil && c != nil && o.Format.Name != "" && !slices.Contains(manifestFormats, o.Format.Name) {
		return nil, console.Usagef("with --fix, -o can be %s", words.Or(manifestFormats))
	}
	return c, err
}

// parseFixChoice reads the value of --fix, which may be empty.
func parseFixChoice(value string) (*fixChoice, error) {
	if value == "" {
		return nil, nil
	}
	c := &fixChoice{}
	number := value
	if at := strings.LastIndex(value, ":"); at >= 0 {
		var ok bool
		if c.kind, c.name, ok = strings.Cut(value[:at], "/"); !ok || c.kind == "" || c.name == "" {
			return nil, console.Usagef("--fix is %q; give the number of a fix, or KIND/NAME:NUMBER", value)
		}
		number = value[at+1:]
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, console.Usagef("--fix is %q; give the number of a fix, which begin with 1", value)
	}
	c.number = n
	return c, nil
}

// matches reports whether an answer is about the subject of the choice.
func (c *fixChoice) matches(e *explain.Explanation) bool {
	if c.kind == "" {
		return true
	}
	kind, name := e.Subject.Kind, e.Subject.Name
	if e.Workload != nil {
		kind, name = e.Workload.Kind, e.Workload.Name
	}
	if name != c.name {
		return false
	}
	for _, k := range explainKinds {
		if k.Kind == kind && k.HasName(c.kind) {
			return true
		}
	}
	return strings.EqualFold(kind, c.kind)
}

// choose returns the answer and the index of the fix that are chosen.
func (c *fixChoice) choose(answers []*explain.Explanation) (*explain.Explanation, int, error) {
	found := words.Keep(answers, c.matches)
	if len(found) > 1 { // those that cannot be meant are not in the way
		found = slices.DeleteFunc(found, func(e *explain.Explanation) bool { return len(e.Fixes) == 0 })
	}
	if len(found) != 1 {
		return nil, 0, c.ambiguous(answers, len(found))
	}
	e := found[0]
	switch n := len(e.Fixes); {
	case n == 0 && console.VerdictCode(e.Verdict) == console.ExitAnswered:
		return nil, 0, fmt.Errorf("there is nothing to fix: %s", e.Message)
	case n == 0:
		return nil, 0, fmt.Errorf("there is no fix %d: none was found for %s", c.number, e.Subject.FullName())
	case n == 1 && c.number > 1:
		return nil, 0, fmt.Errorf("there is no fix %d: there is only one for %s", c.number, e.Subject.FullName())
	case c.number > n:
		return nil, 0, fmt.Errorf("there is no fix %d: there are %d for %s", c.number, n, e.Subject.FullName())
	}
	return e, c.number - 1, nil
}

// ambiguous says that a choice is about no answer, or about several, and which there are.
func (c *fixChoice) ambiguous(answers []*explain.Explanation, found int) error {
	var ways []string
	for _, e := range answers {
		if len(e.Fixes) > 0 {
			ways = append(ways, "--fix "+remedy.Selector(e, min(c.number, len(e.Fixes))-1, true))
		}
	}
	if len(ways) == 0 {
		return errors.New("there is no fix for any of the subjects")
	}
	which := "that is about none of the subjects"
	if found > 1 {
		which = fmt.Sprintf("that may be a fix for any of %d subjects", found)
	}
	return fmt.Errorf("%s; say %s", which, words.Or(ways[:min(len(ways), console.MaxNamesListed)]))
}

// printFix prints the chosen fix: as text, or the objects that it changes as they become.
func printFix(ctx context.Context, o *explainOptions, c *fixChoice, s *inspect.Snapshot, answers []*explain.Explanation) error {
	e, i, err := c.choose(answers)
	if err != nil {
		return err
	}
	if o.Format.Name == "" {
		opts := text.Options{Width: o.Width(), Color: o.UseColor()}
		return text.Write(o.Text(), text.FixLines(e, i, opts), opts.Color)
	}
	return o.printChanged(ctx, s, e, i)
}
