package faults

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/internal/commit"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// most is the memory that no run may have resident at once, in bytes.
const most = 500 << 20

// cell is a fault and a command, and what came of them.
type cell struct {
	fault    fault
	command  command
	run      *run
	load     load // of the machine, for which it has more time
	requests []fakeserver.Request
	// changed are the objects that differ in the end, by name.
	changed []string
	claims  written
}

func (c *cell) name() string { return c.fault.name + "/" + strings.ReplaceAll(c.command.name, " ", "") }

func (c *cell) want() want { return c.fault.want[c.command.name] }

// said is all that the user reads, in one piece.
func (c *cell) said() string {
	if c.command.screen {
		return c.run.screen
	}
	return string(c.run.stdout) + "\n" + string(c.run.stderr)
}

// problems are what is wrong with a run, seen beside one against an honest server.
func (c *cell) problems(honest *cell) []string {
	var out []string
	note := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	c.checkManners(note)
	c.checkTime(note)
	c.checkRequests(note)
	c.checkWrites(note)
	if !c.command.writes || len(out) == 0 {
		c.checkOutcome(honest, note)
	}
	return out
}

type noter func(format string, args ...any)

// checkManners checks what holds of every run.
func (c *cell) checkManners(note noter) {
	r := c.run
	if r.killed {
		note("hangs: it was killed after %s", hung)
	}
	if slices.Contains(c.command.cannotBe, r.exit) {
		note("exit code %d is a false answer", r.exit)
	}
	all := slices.Concat(r.stdout, r.stderr, r.drawn)
	if bytes.Contains(all, []byte("goroutine ")) || bytes.Contains(all, []byte("panic:")) {
		note("panics: %s%s", r.stderr, r.screen)
	}
	if bytes.Contains(all, []byte(secret)) {
		note("prints the token of the kubeconfig")
	}
	if r.memory > most {
		note("uses %d MiB of memory", r.memory>>20)
	}
	if c.command.screen && !r.restored {
		note("does not restore the terminal")
	}
	if raw := hostileInDrawing.Find(r.drawn); raw != nil {
		note("draws raw text of the server: %q", raw)
	}
	if raw := rawIn(r.stdout, r.stderr); raw != "" {
		note("prints raw characters: %s", raw)
	}
	if want := []string{archive}; !slices.Equal(r.files, want) {
		note("leaves files: %q, want %q", r.files, want)
	}
}

// hostileInDrawing is what no drawing may contain: the beginnings of the sequences that hostile faults send.
var hostileInDrawing = regexp.MustCompile("\x1b\\]0;pwn|\x1b\\]52;|\x1b\\[31mEVIL|\u009b|\u202e")

// rawIn returns the characters that could steer a terminal, quoted, and lines that a server forged.
func rawIn(texts ...[]byte) string {
	var out []string
	for _, text := range texts {
		for _, c := range string(text) {
			if c != '\n' && (unicode.IsControl(c) || unicode.Is(unicode.Cf, c)) {
				out = append(out, fmt.Sprintf("%q", c))
			}
		}
		if bytes.HasPrefix(text, []byte("FORGED")) || bytes.Contains(text, []byte("\nFORGED")) {
			out = append(out, "a forged line")
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}

// limit is how long a command may take.
func (c *cell) limit() time.Duration {
	return time.Duration(max(1, c.want().timeouts))*requestTimeout + c.grace()
}

// mostCPU is how long a command may compute: unpacking a large answer to each of twenty requests takes two
// seconds of an ordinary machine.
const mostCPU = 5 * time.Second

// grace is how long a command may take beside waiting for the server: a second, what it computes, and what
// the load of the machine takes of its time. How much it may compute is checked by itself.
func (c *cell) grace() time.Duration {
	return time.Second + c.load.slow + time.Duration((1+c.load.waits)*float64(c.run.cpu))
}

func (c *cell) checkTime(note noter) {
	limit, took := c.limit(), c.run.took
	if c.run.cpu > mostCPU && !c.command.follows {
		note("computes for %s, more than %s", c.run.cpu.Round(time.Millisecond), mostCPU)
	}
	if c.command.follows {
		took = c.run.first
		if c.run.ending > c.grace() {
			note("ends %s after it was told to", c.run.ending.Round(time.Millisecond))
		}
	}
	if c.command.screen {
		limit = c.grace() // there is always something to show
	}
	if took > limit {
		note("takes %s, more than %s", took.Round(time.Millisecond), limit)
	}
}

func (c *cell) checkRequests(note noter) {
	limit := c.want().requests
	if limit == 0 {
		limit = c.command.requests
	}
	if len(c.requests) > limit {
		note("makes %d requests, more than %d", len(c.requests), limit)
	}
}

// checkWrites checks that what is written is what was to be written, all of it or nothing.
func (c *cell) checkWrites(note noter) {
	if !c.command.writes {
		if i := slices.IndexFunc(c.requests, func(r fakeserver.Request) bool { return r.Write }); i >= 0 {
			note("writes: %s %s", c.requests[i].Method, c.requests[i].Path)
		}
		if len(c.changed) > 0 {
			note("changes %v", c.changed)
		}
		return
	}
	about := "resourceclaims net/dns-edge"
	if c.command.name == "deallocate" {
		about = "resourceclaims dev/notebook-omar"
	}
	for _, name := range c.changed {
		if name != about && name != c.fault.swept {
			note("changes %s", name)
		}
	}
	if c.claims == mangled {
		note("leaves the claim neither as it was nor as it was to be")
	}
	says := string(c.run.stderr)
	switch done := c.claims == complete; {
	case c.run.exit == 0 && !done:
		note("ends with 0, and the claim is %s", c.claims)
	case c.run.exit != 0 && done && !regexp.MustCompile(`is (de)?allocated|may have|is cleared|was cleared`).MatchString(says):
		note("ends with %d and does not say that it was done: %s", c.run.exit, says)
	case c.claims.announced() && !regexp.MustCompile(`announcement|could not be put in order`).MatchString(says):
		note("leaves an announcement and does not say so: %s", says)
	}
}

// written is how a command left its claim.
type written string

const (
	untouched       written = "untouched"
	announced       written = "announced only"
	complete        written = "as it was to be"
	completeAndMore written = "as it was to be, with an announcement"
	mangled         written = "mangled"
)

func (w written) announced() bool { return w == announced || w == completeAndMore }

// writtenTo says how a command left its claim.
func writtenTo(s *fakeserver.Server, c command, before *resourcev1.ResourceClaim) written {
	claim := s.Claim(before.Namespace, before.Name)
	allocate := c.name != "deallocate"
	marked := commit.AnnouncementOn(claim) != nil
	was := devices(before) == devices(claim)
	meant := devices(claim) == "" && !allocate || devices(claim) == "nic.example.com/cpu-01/uplink-0" && allocate
	switch {
	case was && marked:
		return announced
	case was && slices.Equal(before.Finalizers, claim.Finalizers):
		return untouched
	case meant && marked:
		return completeAndMore
	case meant && slices.Contains(claim.Finalizers, resourcev1.Finalizer) == allocate:
		return complete
	}
	return mangled
}

func devices(claim *resourcev1.ResourceClaim) string {
	var names []string
	if claim.Status.Allocation != nil {
		for _, r := range claim.Status.Allocation.Devices.Results {
			names = append(names, r.Driver+"/"+r.Pool+"/"+r.Device)
		}
	}
	return strings.Join(names, " ")
}

// checkOutcome checks that the outcome is one of those wanted.
func (c *cell) checkOutcome(honest *cell, note noter) {
	w := c.want()
	if w.outcome.has(same) && c.isSame(honest) {
		return
	}
	got := ""
	switch {
	case w.outcome.has(fails) && c.failed(), w.outcome.has(unsure) && c.run.exit == 1 && c.command.writes:
	case w.outcome.has(partial) && c.answered(), w.outcome.has(waits) && c.waited():
	default:
		got = "this is something else"
	}
	if got == "" && w.says != "" && !regexp.MustCompile(w.says).MatchString(oneSpaced(c.said())) {
		got = fmt.Sprintf("it does not say %q", w.says)
	}
	if got != "" {
		note("wanted: %s; %s: exit code %d, saved %s, the user sees:\n%s", w.outcome, got, c.run.exit, c.savedWhat(), indent(c.said()))
	}
}

func (c *cell) savedWhat() string {
	if string(c.run.saved) == before {
		return "nothing"
	}
	return "a snapshot"
}

// isSame: the answer is that of an honest server.
func (c *cell) isSame(honest *cell) bool {
	switch {
	case c.run.exit != honest.run.exit, c.claims != honest.claims, c.savedWhat() != honest.savedWhat():
		return false
	case c.command.screen:
		return tableOf(c.run.screen) == tableOf(honest.run.screen)
	case c.command.name == "snapshot":
		return ageless(string(c.run.stderr)) == ageless(string(honest.run.stderr))
	case c.command.follows: // notes on what happened since are welcome
		return strings.HasPrefix(ageless(string(c.run.stdout)), ageless(string(honest.run.stdout)))
	}
	return ageless(string(c.run.stdout)) == ageless(string(honest.run.stdout))
}

// failed: there is no answer, and one line says why.
func (c *cell) failed() bool {
	lines := strings.Split(strings.TrimSpace(string(c.run.stderr)), "\n")
	return c.run.exit == 1 && c.savedWhat() == "nothing" &&
		(len(c.run.stdout) == 0 && strings.HasPrefix(lines[len(lines)-1], "error: ") || c.command.screen)
}

// answered: there is an answer, which must say that it is partial.
func (c *cell) answered() bool {
	if c.want().says == "" {
		panic(c.name() + ": what a partial answer says has to be given")
	}
	ends := []int{0, 1, 3}
	if c.command.follows {
		ends = []int{130}
	}
	if c.command.screen {
		ends = []int{0}
	}
	return slices.Contains(ends, c.run.exit)
}

// waited: a command that follows is still waiting.
func (c *cell) waited() bool {
	if c.command.screen {
		return c.run.exit == 0
	}
	return c.run.exit == 130 && len(c.run.stdout) == 0 && len(c.run.stderr) > 0
}

var (
	ages   = regexp.MustCompile(`\b(\d+[dhmsy])+\b|about \d+ \w+ ago`)
	spaces = regexp.MustCompile(`[ \t]+`)
)

// ageless is a text without what depends on the moment, and so with other spaces.
func ageless(text string) string {
	return strings.TrimSpace(spaces.ReplaceAllString(strings.ReplaceAll(ages.ReplaceAllString(text, "AGE"), "\n", " \n"), " "))
}

func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

// indent is a text for the report of a test, without its middle and the empty parts of a screen.
func indent(text string) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.Trim(line, " ─") == "" })
	if n := len(lines); n > 12 {
		lines = slices.Concat(lines[:6], []string{"…"}, lines[n-6:])
	}
	for i, line := range lines {
		if len(line) > 600 {
			line = strings.ToValidUTF8(line[:600], "") + "…"
		}
		lines[i] = "    " + strings.TrimRight(line, " ")
	}
	return strings.Join(lines, "\n")
}

// tableOf says how many claims the table on a screen has, and whether the cluster is followed. Which of them
// are to be seen first depends on how far the work on their reasons is.
func tableOf(screen string) string {
	return strings.Join(summaries.FindAllString(screen, -1), ", ")
}

var summaries = regexp.MustCompile(`● live|\b\d+ claims\b`)
