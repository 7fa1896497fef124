package scenario

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// defaultNamespace is that of claims that a scenario names without one.
const defaultNamespace = "default"

// templatePrefix marks, in a question, a claim that is to be made from a ResourceClaimTemplate.
const templatePrefix = "template:"

// Load reads the scenario in a file of the directory testdata/scenarios.
func Load(path string) (*Scenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	testdata := os.DirFS(filepath.Join(filepath.Dir(path), ".."))
	return Parse(strings.TrimSuffix(filepath.Base(path), ".txtar"), data, testdata)
}

// Parse reads a scenario from the text of its file. The files that it includes are looked up in
// testdata. Errors name the scenario and the line at fault.
func Parse(name string, data []byte, testdata fs.FS) (*Scenario, error) {
	s := &Scenario{Name: name}
	comment, sections, err := sectionsOf(data, "cluster.yaml", "features", "files", "question", "want")
	if err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	s.Comment = comment
	if err := s.readCluster(sections, testdata); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", name, err)
	}
	if err := s.readQuestions(lines(sections["question"])); err != nil {
		return nil, fmt.Errorf("scenario %s: question: %w", name, err)
	}
	if err := s.readWants(lines(sections["want"])); err != nil {
		return nil, fmt.Errorf("scenario %s: want: %w", name, err)
	}
	return s, nil
}

// sectionsOf returns the comment and the sections of a file, which has no others than the allowed ones.
func sectionsOf(data []byte, allowed ...string) (comment string, sections map[string][]byte, err error) {
	archive := txtar.Parse(data)
	if comment = strings.TrimSpace(string(archive.Comment)); comment == "" {
		return "", nil, errors.New("no comment says what it is about")
	}
	sections = map[string][]byte{}
	for _, f := range archive.Files {
		if _, twice := sections[f.Name]; twice {
			return "", nil, fmt.Errorf("section %s is there twice", f.Name)
		}
		if !slices.Contains(allowed, f.Name) {
			return "", nil, fmt.Errorf("unknown section %s", f.Name)
		}
		sections[f.Name] = f.Data
	}
	return comment, sections, nil
}

func (s *Scenario) readCluster(sections map[string][]byte, testdata fs.FS) error {
	objects, err := readFiles(lines(sections["files"]), testdata)
	if err != nil {
		return err
	}
	own, err := readOwn(sections["cluster.yaml"])
	if err != nil {
		return err
	}
	s.Warnings = own.Warnings
	objects = appendObjects(objects, own.Objects)
	if err := addTemplateClaims(&objects, lines(sections["question"])); err != nil {
		return err
	}
	gates, err := inspect.ParseFeatures(strings.Join(lines(sections["features"]), ","))
	if err != nil {
		return err
	}
	features := inspect.DefaultFeatures(inspect.NewestMinor).With(gates)
	s.Snapshot = inspect.New(objects, inspect.Config{Features: features})
	return nil
}

// lines returns the lines of a section without comments, blank lines and spaces at the end.
func lines(data []byte) []string {
	var out []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimRight(line, " \t\r\n")
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			out = append(out, line)
		}
	}
	return out
}

// readQuestions reads lines "node: claim claim".
func (s *Scenario) readQuestions(text []string) error {
	for _, line := range text {
		node, claims, ok := strings.Cut(line, ":")
		if !ok {
			return fmt.Errorf("%q: want NODE: followed by claims", line)
		}
		q := Question{Node: inspect.NodeName(node)}
		if _, ok := s.Snapshot.Node(q.Node); !ok {
			return fmt.Errorf("%q: there is no node %q", line, node)
		}
		for _, name := range strings.Fields(claims) {
			ref := claimRef(name)
			if _, ok := s.Snapshot.Claim(ref); !ok {
				return fmt.Errorf("%q: there is no claim %s", line, ref)
			}
			q.Claims = append(q.Claims, ref)
		}
		s.Questions = append(s.Questions, q)
	}
	if len(s.Questions) == 0 {
		return fmt.Errorf("there is none")
	}
	return nil
}

func claimRef(name string) inspect.ClaimRef {
	name = strings.TrimPrefix(name, templatePrefix)
	if namespace, name, ok := strings.Cut(name, "/"); ok {
		return inspect.ClaimRef{Namespace: namespace, Name: name}
	}
	return inspect.ClaimRef{Namespace: defaultNamespace, Name: name}
}

// readWants reads one block for each question, in the same order. A block is a line "node: outcome"
// and the indented lines below it.
func (s *Scenario) readWants(text []string) error {
	next := 0
	var q *Question
	for _, line := range text {
		if strings.HasPrefix(line, " ") {
			if q == nil {
				return fmt.Errorf("%q: indented, but no question comes before it", line)
			}
			if err := q.Want.readLine(strings.TrimSpace(line)); err != nil {
				return fmt.Errorf("%q: %w", strings.TrimSpace(line), err)
			}
			continue
		}
		if next == len(s.Questions) {
			return fmt.Errorf("%q: there are only %d questions", line, next)
		}
		q = &s.Questions[next]
		next++
		if err := q.readOutcome(line); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
	}
	if next < len(s.Questions) {
		return fmt.Errorf("%d answers to %d questions", next, len(s.Questions))
	}
	for i := range s.Questions {
		if err := s.Questions[i].checkClaims(); err != nil {
			return err
		}
	}
	return nil
}

func (q *Question) readOutcome(line string) error {
	node, outcome, ok := strings.Cut(line, ":")
	if !ok || node != string(q.Node) {
		return fmt.Errorf("want the answer for node %s", q.Node)
	}
	words := strings.Fields(outcome)
	if len(words) == 0 {
		return fmt.Errorf("the outcome is missing")
	}
	q.Want.Outcome = Outcome(words[0])
	switch {
	case q.Want.Outcome == Abort && len(words) == 2:
		q.Want.Code = allocator.Code(words[1])
		return knownCode(q.Want.Code)
	case len(words) == 1 && slices.Contains([]Outcome{Allocated, Unsatisfiable, InvalidPools}, q.Want.Outcome):
		return nil
	}
	return fmt.Errorf("want allocated, unsatisfiable, invalid-pools or abort CODE")
}

func knownCode(code allocator.Code) error {
	if !slices.Contains(allocator.Codes(), code) {
		return fmt.Errorf("there is no code %q", code)
	}
	return nil
}

// checkClaims makes sure that an allocated answer speaks of every claim that was asked for.
func (q *Question) checkClaims() error {
	var asked, answered []string
	for _, ref := range q.Claims {
		asked = append(asked, ref.Name)
	}
	for _, c := range q.Want.Claims {
		answered = append(answered, c.Name)
	}
	if q.Want.Outcome != Allocated {
		asked = nil
	}
	if !slices.Equal(asked, answered) {
		return fmt.Errorf("%s: the answer is about claims %v, want %v", q.Node, answered, asked)
	}
	return nil
}

// readLine reads one indented line of an answer.
func (w *Want) readLine(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "claim":
		w.Claims = append(w.Claims, Claim{Name: claimRef(rest).Name})
		return nil
	case "says":
		w.Says = append(w.Says, rest)
		return nil
	case "scheduler":
		text, ok := strings.CutPrefix(rest, "says ")
		if !ok {
			return fmt.Errorf("want scheduler says TEXT")
		}
		w.SchedulerSays = append(w.SchedulerSays, strings.TrimSpace(text))
		return nil
	case "rejected":
		w.Rejections = append(w.Rejections, rest)
		return nil
	}
	if len(w.Claims) == 0 {
		return fmt.Errorf("want claim, says, scheduler says or rejected")
	}
	c := &w.Claims[len(w.Claims)-1]
	switch word {
	case "nodes":
		c.Nodes = rest
	case "config":
		c.Config = append(c.Config, rest)
	default:
		c.Devices = append(c.Devices, line)
	}
	return nil
}
