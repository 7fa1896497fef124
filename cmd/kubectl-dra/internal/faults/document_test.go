package faults

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	document = "../../../../docs/reliability.md"
	intro    = "testdata/reliability.md"
	// begin and end stand around the part of the document that is written here.
	begin = "<!-- written by make reliability: begin -->\n"
	end   = "<!-- end -->\n"
)

// checkDocument compares the table in the document with what came of the sample, or writes it: whether there
// is a row, and the exit code of commands that end by themselves. The words depend on which of several
// requests fails first, and the others are ended at a moment that depends on the machine.
func checkDocument(t *testing.T, cells []*cell, honest map[string]*cell) {
	t.Helper()
	if *update {
		if *only != "all" {
			t.Fatal("only the whole table can be written: -faults=all")
		}
		writeDocument(t, cells, honest)
		return
	}
	written := readDocument(t)
	for _, c := range cells {
		if !c.fault.sample || slices.Contains(failing, c.name()) {
			continue
		}
		exit := c.exit()
		if got, ok := written[c.name()]; !ok || got[0] != exit && !c.command.follows {
			t.Errorf("docs/reliability.md says of %s %q, and it ends with %s: make reliability writes it anew", c.name(), got, exit)
		}
	}
}

// exit is the exit code as it stands in the table.
func (c *cell) exit() string { return fmt.Sprint(c.run.exit) }

// theSame stands for the answer of an honest server.
const theSame = "the same"

// seen is the line by which the user knows what came of a command.
func (c *cell) seen(honest *cell) string {
	if c.isSame(honest) {
		return theSame
	}
	text := string(c.run.stderr)
	if c.command.screen {
		text = apart.ReplaceAllString(c.run.screen, "\n")
	} else if strings.TrimSpace(text) == "" {
		text = string(c.run.stdout)
	}
	return brief(telling(text, c.want().says))
}

// apart is what stands between texts that are on one line of a screen.
var apart = regexp.MustCompile(` {2,}|│`)

// telling returns the line of a text that says what is the matter: an error, or else the first that says what
// was to be said, or else the first below the head of a table.
func telling(text, says string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if line = strings.Trim(line, " ─▸"); line != "" && line != "error: interrupted" && !strings.HasPrefix(line, "NAMESPACE") {
			lines = append(lines, line)
		}
	}
	if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "error: ") }); i >= 0 {
		return lines[i]
	}
	if i := slices.IndexFunc(lines, func(l string) bool { return says != "" && regexp.MustCompile(says).MatchString(l) }); i >= 0 {
		return lines[i]
	}
	if len(lines) == 0 {
		return "nothing"
	}
	return lines[0]
}

// varying is what differs from run to run.
var varying = []struct {
	pattern *regexp.Regexp
	is      string
}{
	{regexp.MustCompile(`(127\.0\.0\.1|localhost):\d+(->127\.0\.0\.1:\d+)?`), "SERVER"},
	{regexp.MustCompile(`\d\d:\d\d:\d\d`), "TIME"},
	// Which of the clocks that run on a request is the first to notice.
	{regexp.MustCompile(`(context deadline exceeded|net/http: request canceled)( \(Client\.Timeout[^)]*\))?`), "context deadline exceeded"},
	{regexp.MustCompile(`\b\d+(\.\d+)?m?s\b`), "N s"},
	{ages, "AGE"},
}

// longest is how much of a line the table has, in characters.
const longest = 200

// brief is a line as it stands in the table.
func brief(line string) string {
	for _, v := range varying {
		line = v.pattern.ReplaceAllString(line, v.is)
	}
	line = oneSpaced(line)
	if r := []rune(line); len(r) > longest {
		line = string(r[:longest]) + "…"
	}
	return "`" + strings.NewReplacer("|", `\|`, "`", "'").Replace(line) + "`"
}

// row is what several commands make of a fault.
type row struct {
	commands   []string
	exit, seen string
	took       time.Duration
	requests   int
}

// rowsOf puts commands together of which the user sees the same.
func rowsOf(cells []*cell, honest map[string]*cell) []*row {
	var rows []*row
	for _, c := range cells {
		exit, seen := c.exit(), c.seen(honest[c.command.name])
		if seen == theSame {
			exit = "" // it differs from command to command
		}
		i := slices.IndexFunc(rows, func(r *row) bool { return r.exit == exit && r.seen == seen })
		if i < 0 {
			i = len(rows)
			rows = append(rows, &row{exit: exit, seen: seen})
		}
		took := c.run.took
		if c.command.follows {
			took = c.run.first
		}
		r := rows[i]
		r.commands = append(r.commands, c.command.name)
		r.took, r.requests = max(r.took, took), max(r.requests, len(c.requests))
	}
	return rows
}

func writeDocument(t *testing.T, cells []*cell, honest map[string]*cell) {
	t.Helper()
	text, err := os.ReadFile(intro)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(whole), begin)
	_, after, _ := strings.Cut(string(whole), end)
	var b strings.Builder
	b.WriteString(before + begin)
	b.Write(text)
	fmt.Fprintf(&b, "\nThere are %d faults and %d commands.\n", len(catalog())-1, len(commands))
	for _, s := range sections() {
		fmt.Fprintf(&b, "\n### %s\n\n| fault | commands | exit | the user sees | s | requests |\n|---|---|---|---|---|---|\n", s.title)
		for _, f := range s.faults {
			of := slices.DeleteFunc(slices.Clone(cells), func(c *cell) bool { return c.fault.name != f.name })
			if f.name == "none" {
				writeHonest(&b, of)
				continue
			}
			title := fmt.Sprintf("**%s**: %s", f.name, f.about)
			for _, r := range rowsOf(of, honest) {
				fmt.Fprintf(&b, "| %s | %s | %s | %s | %.1f | %d |\n", title, strings.Join(r.commands, ", "), r.exit, r.seen, r.took.Seconds(), r.requests)
				title = ""
			}
		}
	}
	b.WriteString(end + after)
	if err := os.WriteFile(document, []byte(b.String()), 0o644); err != nil { //nolint:gosec // a document is for all to read
		t.Fatal(err)
	}
}

// writeHonest writes a row for each command, with the exit code that "the same" stands for.
func writeHonest(b *strings.Builder, cells []*cell) {
	for _, c := range cells {
		took := c.run.took
		if c.command.follows {
			took = c.run.first
		}
		fmt.Fprintf(b, "| **none** | %s | %s | `kubectl dra %s` | %.1f | %d |\n", c.command.name, c.exit(), strings.Join(c.command.args, " "), took.Seconds(), len(c.requests))
	}
}

// readDocument returns what the table says of each cell: the exit code and what the user sees.
func readDocument(t *testing.T) map[string][2]string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][2]string{}
	exits := map[string]string{} // of an honest server, by command
	fault := ""
	_, table, _ := strings.Cut(string(text), begin)
	for _, line := range strings.Split(table, "\n") {
		fields := regexp.MustCompile(`(?:^| )\| ?`).Split(line, -1)
		if len(fields) < 7 || fields[1] == "fault" {
			continue
		}
		if name, _, ok := strings.Cut(strings.TrimPrefix(fields[1], "**"), "**"); ok {
			fault = name
		}
		for _, name := range strings.Split(fields[2], ", ") {
			c := cell{fault: theFault(fault), command: command{name: name}}
			exit, seen := fields[3], fields[4]
			if fault == "none" {
				exits[name], seen = exit, theSame
			} else if seen == theSame {
				exit = exits[name]
			}
			out[c.name()] = [2]string{exit, seen}
		}
	}
	return out
}

func theFault(name string) fault { return fault{name: name} }

// TestDocumentIsWhole: every fault has its rows in the document, for all commands, and no row is of a fault
// that there is not.
func TestDocumentIsWhole(t *testing.T) {
	written := readDocument(t)
	for _, f := range catalog() {
		for _, c := range commands {
			name := (&cell{fault: f, command: c}).name()
			if _, ok := written[name]; !ok {
				t.Errorf("docs/reliability.md has no row of %s: make reliability writes it anew", name)
			}
			delete(written, name)
		}
	}
	for name := range written {
		t.Errorf("docs/reliability.md has a row of %s, which is not in the table", name)
	}
}
