package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// again is how the question was asked, for commands that ask it again.
func (o *explainOptions) again(flags *pflag.FlagSet, answers []*explain.Explanation) remedy.Asked {
	asked := remedy.Asked{Files: o.files, Flags: givenFlags(flags, clusterFlags), Demo: o.reader.demo}
	fixable := 0
	for _, e := range answers {
		if len(e.Fixes) > 0 {
			fixable++
		}
	}
	asked.Several = fixable > 1
	for _, file := range o.files {
		asked.Args = append(asked.Args, "-f", file)
	}
	if len(o.files) == 0 {
		asked.Args = append(asked.Args, o.names()...)
	}
	if len(o.files) == 0 || o.reader.connection.namespaceFlag() != "" {
		asked.Args = append(asked.Args, "-n", o.namespace)
	}
	asked.Args = append(asked.Args, givenFlags(flags, append([]string{"node", "from", "demo", "features", "max-input"}, clusterFlags...))...)
	asked.Once = slices.Contains(o.files, "-") || slices.Contains(o.reader.from, "-")
	return asked
}

// names are the types and names that were asked about: the type once if there is only one.
func (o *explainOptions) names() []string {
	var out []string
	first := o.asked[0].word()
	same := !slices.ContainsFunc(o.asked, func(n named) bool { return n.word() != first })
	if same {
		out = append(out, first)
	}
	for i := range o.asked {
		name := o.asked[i].name
		if !same {
			name = o.asked[i].word() + "/" + name
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
	if err == nil && c != nil && o.format.Name != "" && !slices.Contains(manifestFormats, o.format.Name) {
		return nil, usagef("with --fix, -o can be %s", orList(manifestFormats))
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
			return nil, usagef("--fix is %q; give the number of a fix, or KIND/NAME:NUMBER", value)
		}
		number = value[at+1:]
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, usagef("--fix is %q; give the number of a fix, which begin with 1", value)
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
		if k.kind == kind && k.hasName(c.kind) {
			return true
		}
	}
	return strings.EqualFold(kind, c.kind)
}

// choose returns the answer and the index of the fix that are chosen.
func (c *fixChoice) choose(answers []*explain.Explanation) (*explain.Explanation, int, error) {
	var found []*explain.Explanation
	for _, e := range answers {
		if c.matches(e) {
			found = append(found, e)
		}
	}
	if len(found) > 1 { // those that cannot be meant are not in the way
		found = slices.DeleteFunc(found, func(e *explain.Explanation) bool { return len(e.Fixes) == 0 })
	}
	if len(found) != 1 {
		return nil, 0, c.ambiguous(answers, len(found))
	}
	e := found[0]
	switch n := len(e.Fixes); {
	case n == 0 && verdictCode(e.Verdict) == exitAnswered:
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
	return fmt.Errorf("%s; say %s", which, orList(ways[:min(len(ways), maxNamesListed)]))
}

// printFix prints the chosen fix: as text, or the objects that it changes as they become.
func printFix(ctx context.Context, o *explainOptions, c *fixChoice, s *inspect.Snapshot, answers []*explain.Explanation) error {
	e, i, err := c.choose(answers)
	if err != nil {
		return err
	}
	if o.format.Name == "" {
		opts := text.Options{Width: o.width(), Color: o.useColor()}
		return text.Write(o.Out, text.FixLines(e, i, opts), opts.Color)
	}
	return o.printChanged(ctx, s, e, i)
}
