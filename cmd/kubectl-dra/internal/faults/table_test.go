package faults

import (
	"io"
	"log"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// beside is how many runs go on at once. They mostly wait.
const beside = 4

var (
	silence = log.New(io.Discard, "", 0)
	objects = demoObjects()
)

func demoObjects() inspect.Objects {
	objects, err := demo.Objects()
	if err != nil {
		panic(err)
	}
	return objects
}

// try runs a command under a fault, on a machine with a load.
func try(tb testing.TB, f fault, c command, l load) *cell {
	s, url, stop := serve(tb)
	defer stop()
	if f.setup != nil {
		f.setup(s)
	}
	for _, one := range f.inject {
		s.Inject(one)
	}
	if f.url != nil {
		url = f.url(url)
	}
	claim := &resourcev1.ResourceClaim{}
	if c.writes {
		at := slices.Index(c.args, "-n")
		claim = s.Claim(c.args[at+1], c.args[2])
	}
	before := s.State()
	out := &cell{fault: f, command: c, load: l, run: execute(tb, c, url, l)}
	out.requests, out.changed = s.Requests(), fakeserver.Changed(before, s.State())
	if c.writes {
		out.claims = writtenTo(s, c, claim)
	}
	return out
}

// some is asked for when every fault is tried with some commands, each in its turn, and a few with all.
const some = "some"

// chosen are the faults that were asked for.
func chosen(t *testing.T) []fault {
	t.Helper()
	faults := catalog()
	if *only == "" {
		return slices.DeleteFunc(faults, func(f fault) bool { return !f.sample })
	}
	if *only == "all" || *only == some {
		return faults
	}
	match, err := regexp.Compile("^(" + *only + ")$")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(faults, func(f fault) bool { return f.name != "none" && !match.MatchString(f.name) })
}

// TestFaultTable runs every command under every fault.
func TestFaultTable(t *testing.T) {
	if !effort.Full() && *only == "" {
		t.Skip("the table is made in the full run, and with -faults")
	}
	cells := runAll(t, chosen(t))
	honest := map[string]*cell{}
	for _, c := range cells {
		if c.fault.name == "none" {
			honest[c.command.name] = c
		}
	}
	for i, c := range cells {
		problems := c.problems(honest[c.command.name])
		for again := 0; again < 3 && len(problems) > 0 && !slices.Contains(failing, c.name()); again++ {
			// A busy machine is slow, and so what follows has not come far; the program is not, alone and
			// with the time that it takes on that machine.
			before := problems
			cells[i] = try(t, c.fault, c.command, currentLoad(t))
			c = cells[i]
			if problems = c.problems(honest[c.command.name]); len(problems) == 0 {
				t.Logf("%s: alone, and with %v beside waiting, it is as it should be; beside others: %v", c.name(), c.grace().Round(time.Millisecond), before)
			}
		}
		t.Run(c.name(), func(t *testing.T) { report(t, c, problems) })
	}
	if !t.Failed() || *update {
		checkDocument(t, cells, honest)
	}
}

// report tells the problems of a cell, unless they are known.
func report(t *testing.T, c *cell, problems []string) {
	known := slices.Contains(failing, c.name())
	switch {
	case len(problems) > 0 && known:
		t.Skipf("known to fail:\n%s", strings.Join(problems, "\n"))
	case len(problems) > 0:
		t.Error(strings.Join(problems, "\n"))
	case known && !slices.Contains(flaky, c.name()):
		t.Errorf("%s is in the list of what is known to fail, and does not", c.name())
	}
}

// runAll tries the faults with every command, several at once.
func runAll(t *testing.T, faults []fault) []*cell {
	var cells []*cell
	for i, f := range faults {
		for j, c := range commands {
			if *only != some || f.name == "none" || f.sample || (i+j)%4 == 0 {
				cells = append(cells, &cell{fault: f, command: c})
			}
		}
	}
	var all sync.WaitGroup
	free := make(chan struct{}, beside)
	var heavy sync.Mutex
	for i, c := range cells {
		if c.fault.name == "none" {
			cells[i] = tryHonest(t, c)
			continue
		}
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			if c.fault.heavy {
				heavy.Lock()
				defer heavy.Unlock()
			}
			cells[i] = try(t, c.fault, c.command, load{})
		})
	}
	all.Wait()
	return cells
}

// tryHonest runs a command beside nothing else, until it has come as far as it should: all others are
// compared with it.
func tryHonest(t *testing.T, c *cell) *cell {
	t.Helper()
	l := load{}
	var problems []string
	for range 5 {
		done := try(t, c.fault, c.command, l)
		told := len(done.run.stdout) > 0 || c.command.name == "snapshot"
		if c.command.screen {
			told = strings.Contains(tableOf(done.run.screen), "live, 44 claims")
		}
		if problems = done.problems(done); told && len(problems) == 0 {
			return done
		}
		l = currentLoad(t)
	}
	t.Fatalf("%s has no answer from an honest server in time, or a wrong one %q; is the machine busy with something else?", c.command.name, problems)
	return nil
}

// TestCatalog: the table is as large as it is said to be, and every fault has a name of its own.
func TestCatalog(t *testing.T) {
	names := namesOf(catalog())
	if len(names) < 61 {
		t.Errorf("there are %d faults, want at least 60 besides none", len(names)-1)
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("some names are twice in %v", names)
	}
	for _, f := range catalog() {
		for _, c := range commands {
			if w, ok := f.want[c.name]; !ok || w.outcome == 0 {
				t.Errorf("%s: nothing is wanted of %s", f.name, c.name)
			}
		}
	}
}
