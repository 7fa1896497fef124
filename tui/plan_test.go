package tui

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// notebook is a Writer that writes down what it was asked.
type notebook struct {
	planned  []string
	executed int
	err      error
}

func (n *notebook) Plan(_ context.Context, action Action, subject screen.Ref) (Plan, error) {
	n.planned = append(n.planned, string(action)+" "+subject.String())
	if n.err != nil {
		return nil, n.err
	}
	return n, nil
}

func (n *notebook) Text() string { return "ml/x gets gpu-0\x1b[2J\nnobody else could want it" }

func (n *notebook) Execute(context.Context) (string, error) {
	n.executed++
	return "ml/x allocated", nil
}

func writing(t *testing.T, n *notebook) *driver {
	d := drive(t, 100, 30, "")
	d.m.options.Writer = n
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "ml", Name: "train-1"}})
	return d
}

func TestNothingIsWrittenWithoutConfirmation(t *testing.T) {
	n := &notebook{}
	d := writing(t, n)
	d.press("A")
	d.shows("write this to the cluster?", `ml/x gets gpu-0\x1b[2J`, "nobody else could want it")
	for _, no := range []string{"n", "y"} {
		d.press(no, "enter", "esc", "A")
	}
	if d.press("x", "enter", "esc"); n.executed != 0 {
		t.Fatal("something was written although nobody said yes")
	}
	d.send(screen.Go{View: "claims", Ref: screen.Ref{Kind: screen.Claim, Namespace: "dev", Name: "notebook-omar"}})
	d.press("D", "yes", "enter")
	d.shows("ml/x allocated")
	if n.executed != 1 || strings.Join(n.planned, ", ") != "allocate ml/train-1, allocate ml/train-1, allocate ml/train-1, deallocate dev/notebook-omar" {
		t.Errorf("%d times written; planned %v", n.executed, n.planned)
	}
}

func TestAPlanThatFailsIsSaid(t *testing.T) {
	n := &notebook{err: errors.New("it is reserved by pod x")}
	d := writing(t, n)
	d.press("A")
	d.shows("nothing is written", "it is reserved by pod x")
	d.press("yes") // which is no answer to anything
	d.shows("nothing is written")
	d.press("enter")
	if d.m.popup != nil {
		t.Error("it cannot be closed")
	}
}

// TestOneWriteAtATime: a second one would cancel the first.
func TestOneWriteAtATime(t *testing.T) {
	n := &notebook{}
	d := writing(t, n)
	d.m.writes.commit.Start(d.m.world, n.Execute) // never runs
	d.press("A")
	d.shows("something is being written already")
	if len(n.planned) != 0 {
		t.Error("a second change was begun")
	}
}
