package text_test

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/remedy"
	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/triage"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

var update = flag.Bool("update", false, "write the golden files again; read every one of them before you keep it")

func demoCluster(t *testing.T) *scheduler.Cluster {
	t.Helper()
	objects, err := demo.Objects()
	if err != nil {
		t.Fatal(err)
	}
	return scheduler.NewCluster(inspect.New(objects, demo.Config(inspect.DefaultFeatures(inspect.NewestMinor))), scheduler.Options{})
}

// TestGolden compares explanations of the demo cluster, as text of 80 columns, with golden files that
// people read.
func TestGolden(t *testing.T) {
	tests := []struct {
		kind, namespace, name string
		verbose               bool
	}{
		{"claim", "ml", "train-0", false}, {"claim", "ml", "train-0", true}, {"claim", "ml", "train-1", false},
		{"claim", "ml", "allreduce-0", false}, {"claim", "ml", "eval-nightly-gpu-8dk4w", false}, {"claim", "ml", "sweep-2", false},
		{"claim", "ml", "sweep-3", false}, {"claim", "ml", "llama-405b-eval", false}, {"claim", "ml", "pretrain-2", false},
		{"claim", "ml", "pretrain-2", true}, {"claim", "ml", "driver-canary", false}, {"claim", "ml", "pretrain-1", false},
		{"claim", "infer", "whisper-large", false}, {"claim", "infer", "whisper-large", true}, {"claim", "infer", "rerank-0", false},
		{"claim", "net", "cdn-egress-2", false}, {"claim", "dev", "transcode-8k", false}, {"claim", "dev", "video-transcode-1", false},
		{"claim", "dev", "scratch-gpu", false}, {"claim", "dev", "notebook-ana", false}, {"claim", "dev", "notebook-li", false},
		{"claim", "dev", "notebook-omar", false}, {"pod", "ml", "train-0", false}, {"pod", "infer", "rerank-0", false},
	}
	cluster := demoCluster(t)
	for _, tt := range tests {
		file := strings.Join([]string{tt.kind, tt.namespace, tt.name}, "-")
		if tt.verbose {
			file += "-v"
		}
		t.Run(file, func(t *testing.T) {
			e, err := ask(cluster, tt.kind, tt.namespace, tt.name)
			if err != nil {
				t.Fatal(err)
			}
			remedy.Add(cluster.Snapshot(), e, remedy.Asked{Args: []string{tt.kind, tt.name, "-n", tt.namespace}})
			var got bytes.Buffer
			if err := text.Render(&got, e, text.Options{Width: 80, Verbose: tt.verbose}); err != nil {
				t.Fatal(err)
			}
			checkWidth(t, got.String(), 80)
			checkGolden(t, file, got.Bytes())
		})
	}
}

// TestTriageGolden is TestGolden for everything that is stuck in the demo cluster.
func TestTriageGolden(t *testing.T) {
	cluster := demoCluster(t)
	result, err := triage.Of(t.Context(), cluster, triage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, verbose := range []bool{false, true} {
		var got bytes.Buffer
		if err := text.Write(&got, text.TriageLines(result, text.Options{Width: 80, Verbose: verbose}), false); err != nil {
			t.Fatal(err)
		}
		checkWidth(t, got.String(), 80)
		checkGolden(t, map[bool]string{false: "triage", true: "triage-v"}[verbose], got.Bytes())
	}
}

func ask(c *scheduler.Cluster, kind, namespace, name string) (*explain.Explanation, error) {
	if kind == "pod" {
		return question.Pod(context.Background(), c, inspect.PodRef{Namespace: namespace, Name: name}, question.Options{})
	}
	return question.Claim(context.Background(), c, inspect.ClaimRef{Namespace: namespace, Name: name}, question.Options{})
}

// checkWidth allows a line to be longer than the width only for a word that cannot be broken.
func checkWidth(t *testing.T, output string, width int) {
	t.Helper()
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\n")
		if utf8.RuneCountInString(line) > width && strings.Contains(strings.TrimSpace(line), " ") {
			t.Errorf("line of %d columns: %q", utf8.RuneCountInString(line), line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("trailing space: %q", line)
		}
	}
}

// TestHostileNames: nothing that came from a cluster steers the terminal.
func TestHostileNames(t *testing.T) {
	e := &explain.Explanation{
		Subject: explain.Subject{Kind: "ResourceClaim", Namespace: "a", Name: "b\x1b[31m"}, Verdict: explain.Unsatisfiable,
		Message: "b\x1b[31m cannot\u202e", Scheduler: []explain.Note{{Kind: "Pod", Name: "p\x07", Message: "x\ny\x9b2J"}},
		Groups:     []explain.Group{{Nodes: []inspect.NodeName{"n\x1b]0;x\x07"}, Reasons: []explain.Reason{{Message: "r\r"}}}},
		Partial:    []string{"p\x00"},
		Allocation: &explain.Allocation{Devices: []explain.Device{{ID: inspect.DeviceID{Device: "d\x1b"}}}},
		Lifecycle: &explain.Lifecycle{
			Outcome: explain.Failing, Pods: []explain.PodProgress{{Pod: inspect.PodRef{Name: "p\x1b"}, Stage: explain.Starting}},
			Problems: []explain.Problem{{
				Fails: true, Object: explain.Subject{Kind: "Pod", Name: "p\x1b"}, Message: "m\x1b[2J", Said: "s\x1b\n\u202e", Actor: explain.DriverAdmin, Driver: "d\x9b",
				Commands: []string{"kubectl logs \x1b]0;x\x07 y"},
			}},
			Containers: []explain.Container{{Name: "c\x1b", Stage: explain.ContainerTerminated, Reason: "r\x1b", Exit: &explain.ContainerExit{}}},
			Devices: []explain.DeviceState{{
				ID: inspect.DeviceID{Device: "d\x1b"}, Health: explain.Unhealthy, HealthSaid: "h\x1b",
				Conditions: []metav1.Condition{{Type: "t\x1b", Status: "False\x1b", Reason: "r\x1b", Message: "m\x1b"}},
				Network:    &explain.Network{Interface: "e\x1b", Addresses: []string{"1\x1b"}, Hardware: "0\x1b"},
			}},
			Events: []inspect.Event{{Kind: "Pod\x1b", Name: "q\x1b", Reason: "R\x1b", Message: "m\x1b\u2066", Count: 2}},
		},
	}
	for _, verbose := range []bool{false, true} {
		var got bytes.Buffer
		if err := text.Render(&got, e, text.Options{Verbose: verbose}); err != nil {
			t.Fatal(err)
		}
		for _, r := range strings.ReplaceAll(got.String(), "\n", "") {
			if inspect.Unsafe(r) {
				t.Errorf("unsafe character %q in %q", r, got.String())
			}
		}
	}
}

// TestColorsAddNothing: without its colours the coloured output is the plain one.
func TestColorsAddNothing(t *testing.T) {
	e, err := ask(demoCluster(t), "claim", "ml", "train-0")
	if err != nil {
		t.Fatal(err)
	}
	var plain, colored bytes.Buffer
	if err := text.Render(&plain, e, text.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := text.Render(&colored, e, text.Options{Color: true}); err != nil {
		t.Fatal(err)
	}
	stripped := colored.String()
	for _, code := range []string{"1", "2", "31", "32", "33", "36", "0"} {
		stripped = strings.ReplaceAll(stripped, "\x1b["+code+"m", "")
	}
	if stripped != plain.String() || colored.String() == plain.String() {
		t.Errorf("stripped:\n%s\nplain:\n%s", stripped, plain.String())
	}
}

// TestReadmeShowsWhatIsPrinted: the example in README.md is the beginning of a golden file.
func TestReadmeShowsWhatIsPrinted(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile(filepath.Join("testdata", "claim-ml-train-0.txt"))
	if err != nil {
		t.Fatal(err)
	}
	example, _, ok := strings.Cut(string(golden), "\nThe scheduler's own message")
	if !ok || !strings.Contains(string(readme), example) {
		t.Errorf("README.md does not show this:\n%s", example)
	}
}

// TestWideTextFits: lines are as wide as a terminal draws them, whatever the number of their runes.
func TestWideTextFits(t *testing.T) {
	const width = 40
	wide := strings.Repeat("装置が足りない ", 12)            // two columns a character
	accents := strings.Repeat("e\u0301te\u0301 ", 24) // five runes on three columns
	e := &explain.Explanation{
		Subject: explain.Subject{Kind: "ResourceClaim", Namespace: "ml", Name: "train"}, Verdict: explain.Allocatable,
		Message: wide, Scheduler: []explain.Note{{Kind: "Pod", Name: "p", Message: accents}},
		Allocation: &explain.Allocation{Devices: []explain.Device{
			{Request: "装置", ID: inspect.DeviceID{Driver: "a", Pool: "b", Device: "c"}},
			{Request: "gpu", ID: inspect.DeviceID{Driver: "a", Pool: "b", Device: "d"}},
		}},
	}
	var got bytes.Buffer
	if err := text.Render(&got, e, text.Options{Width: width}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(got.String(), "\n")
	for _, line := range lines {
		if n := styled.Width(line); n > width {
			t.Errorf("%q has %d columns, not %d", line, n, width)
		}
	}
	if longest := slices.MaxFunc(lines, func(a, b string) int { return styled.Width(a) - styled.Width(b) }); styled.Width(longest) < width-8 {
		t.Errorf("all lines are short, the longest is %q", longest)
	}
	for _, line := range []string{"  装置  a/b/c", "  gpu   a/b/d"} {
		if !slices.Contains(lines, line) {
			t.Errorf("%q is not a line of\n%s", line, got.String())
		}
	}
	if accented := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, "te\u0301") }); styled.Width(lines[accented]) < width-8 {
		t.Errorf("a line with accents ends early: %q", lines[accented])
	}
}
