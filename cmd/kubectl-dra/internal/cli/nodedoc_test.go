package cli

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"
)

// TestNodeDocument checks that every command in docs/node.md can be given, that its pod is one and runs such
// a command, and that its table has every problem.
func TestNodeDocument(t *testing.T) {
	data, err := os.ReadFile("../../../../docs/node.md")
	if err != nil {
		t.Fatal(err)
	}
	document := string(data)
	commands := 0
	for _, block := range codeBlocks(document, "sh") {
		for line := range strings.Lines(block) {
			line, _, _ = strings.Cut(line, "#")
			args, ok := strings.CutPrefix(strings.TrimSpace(line), "kubectl dra ")
			if !ok {
				t.Errorf("no command of the plugin: %q", line)
				continue
			}
			commands++
			acceptable(t, strings.Fields(args))
		}
	}
	if commands < 11 {
		t.Errorf("only %d commands were found", commands)
	}
	for _, block := range codeBlocks(document, "yaml") {
		var pod corev1.Pod
		if err := yaml.UnmarshalStrict([]byte(block), &pod); err != nil {
			t.Fatal(err)
		}
		command := pod.Spec.Containers[0].Command
		acceptable(t, command[1:])
		for _, arg := range command {
			if strings.HasPrefix(arg, "/") && !slices.ContainsFunc(pod.Spec.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == arg }) {
				t.Errorf("%s is not mounted", arg)
			}
		}
	}

	source, err := os.ReadFile("../../../../inspect/node/report.go")
	if err != nil {
		t.Fatal(err)
	}
	inCode, inTable := names(string(source), `ProblemCode = "(\w+)"`), names(document, "(?m)^\\| `([A-Z]\\w+)` \\|")
	if diff := cmp.Diff(inCode, inTable); diff != "" || len(inCode) < 10 {
		t.Errorf("problems (-code +document):\n%s", diff)
	}
}

// acceptable checks that a command takes such flags and arguments, by asking for its help with them.
func acceptable(t *testing.T, args []string) {
	t.Helper()
	var out, errors bytes.Buffer
	code := Main(append(slices.Clone(args), "--help"), genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errors}, time.Now)
	if code != 0 || !strings.Contains(out.String(), "kubectl dra "+args[0]) {
		t.Errorf("%q: exit code %d, %s", args, code, errors.String())
	}
}

// codeBlocks are the blocks of code in a language.
func codeBlocks(document, language string) []string {
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```").FindAllStringSubmatch(document, -1) {
		out = append(out, m[1])
	}
	return out
}

// names are what an expression finds, sorted.
func names(text, expression string) []string {
	var out []string
	for _, m := range regexp.MustCompile(expression).FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	slices.Sort(out)
	return out
}
