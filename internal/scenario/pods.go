package scenario

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// PodScenario is a cluster with pods that wait in it, and what becomes of them.
type PodScenario struct {
	// Name is that of the file without ".txtar".
	Name string
	// Comment says in words what the scenario is about.
	Comment string
	// Snapshot is the cluster, under the feature gates of the scenario.
	Snapshot *inspect.Snapshot
	// Cluster is the objects as they are written, and Features the gates that differ from the defaults of
	// Kubernetes 1.37.
	Cluster  []byte
	Features map[inspect.Gate]bool
	// Wants are in the order of the file. Preview are those for the release that is a preview, if the file
	// has any.
	Wants, Preview []PodWant
	// Placed is the number of pods that are placed, if those are all asked about together, or -1 if it is not
	// said.
	Placed int
}

// PodWant is what has to be said of a pod.
type PodWant struct {
	Pod     inspect.PodRef
	Verdict string
	// Headline is the message without the name of the pod. It is not checked if it is "".
	Headline string
	// Refuses has the plugins of kube-scheduler that refuse each node, sorted. Nodes that are not in it are
	// not refused. It is not checked if it is nil.
	Refuses map[inspect.NodeName][]string
	// Conflict are the kinds of the requirements that cannot hold together. It is not checked if it is nil.
	Conflict []string
	// Fixes are fixes that have to be among those that are offered.
	Fixes []WantedFix
	// Preemption is what is said of preemption. It is not checked if it is "".
	Preemption string
	// Unknown are parts of what is said to be unknown.
	Unknown []string
}

// WantedFix is a fix.
type WantedFix struct{ Kind, Message string }

// LoadPods reads the scenario in a file of the directory testdata/pods, testdata/several or
// testdata/releases.
func LoadPods(path string) (*PodScenario, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &PodScenario{Name: strings.TrimSuffix(filepath.Base(path), ".txtar"), Placed: -1}
	if err := s.parse(data); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", s.Name, err)
	}
	return s, nil
}

func (s *PodScenario) parse(data []byte) error {
	comment, sections, err := sectionsOf(data, "cluster.yaml", "features", "want", "want-preview")
	if err != nil {
		return err
	}
	s.Comment, s.Cluster = comment, sections["cluster.yaml"]
	own, err := readOwn(s.Cluster)
	if err != nil {
		return err
	}
	if len(own.Warnings) > 0 {
		return fmt.Errorf("cluster.yaml: %v", own.Warnings)
	}
	if s.Features, err = inspect.ParseFeatures(strings.Join(lines(sections["features"]), ",")); err != nil {
		return err
	}
	s.Snapshot = inspect.New(own.Objects, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor).With(s.Features)})
	for _, section := range []string{"want-preview", "want"} {
		s.Preview, s.Wants = s.Wants, nil
		for _, line := range lines(sections[section]) {
			if err := s.readLine(line); err != nil {
				return fmt.Errorf("%s: %q: %w", section, line, err)
			}
		}
	}
	if len(s.Wants) == 0 {
		return fmt.Errorf("nothing is wanted")
	}
	return nil
}

// readLine reads a line of the answers: "namespace/name: Verdict", or an indented line that says more of the
// pod before.
func (s *PodScenario) readLine(line string) error {
	if !strings.HasPrefix(line, " ") {
		name, verdict, ok := strings.Cut(line, ": ")
		if !ok {
			return fmt.Errorf("want POD: VERDICT")
		}
		if name == "placed" {
			_, err := fmt.Sscan(verdict, &s.Placed)
			return err
		}
		ref := inspect.PodRef(claimRef(name))
		if _, ok := s.Snapshot.Pod(ref); !ok {
			return fmt.Errorf("there is no pod %s", ref)
		}
		s.Wants = append(s.Wants, PodWant{Pod: ref, Verdict: verdict})
		return nil
	}
	if len(s.Wants) == 0 {
		return fmt.Errorf("indented, but no pod comes before it")
	}
	w := &s.Wants[len(s.Wants)-1]
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word {
	case "headline":
		w.Headline = rest
	case "preemption":
		w.Preemption = rest
	case "unknown":
		w.Unknown = append(w.Unknown, rest)
	case "conflict":
		w.Conflict = append(w.Conflict, strings.Fields(rest)...)
	case "fix":
		kind, message, _ := strings.Cut(rest, " ")
		w.Fixes = append(w.Fixes, WantedFix{kind, message})
	case "refuses":
		return w.readRefusal(s.Snapshot, strings.Fields(rest))
	default:
		return fmt.Errorf("unknown word %q", word)
	}
	return nil
}

// readRefusal reads "NODE PLUGIN…", or "nothing" if no node is refused.
func (w *PodWant) readRefusal(s *inspect.Snapshot, words []string) error {
	if w.Refuses == nil {
		w.Refuses = map[inspect.NodeName][]string{}
	}
	if slices.Equal(words, []string{"nothing"}) {
		return nil
	}
	if len(words) < 2 {
		return fmt.Errorf("want a node and plugins")
	}
	node := inspect.NodeName(words[0])
	if _, ok := s.Node(node); !ok {
		return fmt.Errorf("there is no node %s", node)
	}
	plugins := words[1:]
	slices.Sort(plugins)
	w.Refuses[node] = plugins
	return nil
}
