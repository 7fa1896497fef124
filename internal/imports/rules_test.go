package imports

import "slices"

// layer says which packages of this module the packages that match a pattern may import.
//
// A pattern is a directory below the module root, or a directory followed by "/..." for it and all below it.
// Of several that match, the longest counts, and a directory before the same one followed by "/...". Test
// files may import every package of the module: the compiler keeps them from cycles, and a test may well read
// the demo cluster.
type layer struct {
	packages string
	may      []string // patterns
}

// commands is what commands may import of the library.
var commands = []string{
	"explain/styled", "inspect/...", "allocator/...", "scheduler/...", "explain/...", "tui", "tui/screen", "internal/checkup",
	"internal/commit/...", "internal/demo", "internal/inputfile", "internal/spell", "internal/timebudget", "internal/yamlpatch",
}

var layers = []layer{
	{"internal/spell", nil},
	{"internal/inputfile", nil},
	{"internal/progress", nil},
	{"internal/turns", nil},
	{"explain/styled", nil},
	{"inspect/quantity", nil},
	{"inspect/schedulerconfig", nil},
	{"inspect/kueueconfig", []string{"inspect/quantity"}},
	{"inspect", []string{"internal/turns", "inspect/kueueconfig", "inspect/quantity", "inspect/schedulerconfig"}},
	{"inspect/manifest", []string{"inspect", "inspect/quantity", "inspect/sharing", "inspect/manifest/...", "internal/inputfile"}},
	{"inspect/manifest/defaults", nil},
	{"inspect/manifest/podtemplate", []string{"inspect", "inspect/quantity"}},
	{"inspect/manifest/validate", []string{"inspect"}},
	{"internal/demo/...", []string{"inspect", "inspect/kueueconfig", "inspect/manifest", "inspect/flowcontrol"}},
	{"inspect/sharing", nil},
	{"inspect/archive/...", []string{"inspect", "inspect/manifest", "inspect/quantity", "inspect/kueueconfig", "inspect/schedulerconfig", "inspect/sharing"}},
	{"inspect/history", []string{"inspect", "inspect/manifest", "inspect/archive"}},
	{"inspect/live/connection", nil},
	{"inspect/live/wire", []string{"inspect", "inspect/quantity", "inspect/sharing"}},
	{"inspect/live/store", []string{"inspect", "inspect/sharing", "inspect/live/wire"}},
	{"inspect/live/programs", []string{"inspect", "inspect/kueueconfig", "inspect/schedulerconfig", "inspect/live/wire"}},
	{"inspect/live", []string{"internal/turns", "inspect", "inspect/manifest", "inspect/kueueconfig", "inspect/schedulerconfig", "inspect/sharing", "inspect/live/..."}},
	{"inspect/flowcontrol/...", []string{"inspect", "inspect/live/connection"}},
	{"inspect/node/cni", []string{"inspect"}},
	{"inspect/storage/...", []string{"inspect"}},
	{"inspect/node", []string{"inspect"}},
	{"inspect/usage", []string{"inspect"}},
	{"inspect/nodeshape", []string{"inspect", "inspect/manifest"}},
	{"allocator/selector", []string{"inspect", "inspect/quantity"}},
	{"allocator/selector/bench", []string{"internal/turns", "allocator/selector"}},
	{"allocator/selector/editor", []string{"inspect", "allocator/selector", "allocator/selector/bench"}},
	{"allocator", []string{"internal/turns", "inspect", "allocator/selector"}},
	{"scheduler/filters", []string{"inspect", "inspect/quantity", "inspect/schedulerconfig", "inspect/storage"}},
	{"scheduler/scores", []string{"inspect", "inspect/schedulerconfig", "scheduler/filters"}},
	{"scheduler", []string{"inspect", "allocator", "allocator/selector", "scheduler/filters"}},
	{"scheduler/kueue/quota", nil},
	{"scheduler/kueue/podrequests", []string{"scheduler/kueue/quota"}},
	{"scheduler/kueue", []string{"inspect", "allocator/selector", "scheduler/kueue/quota", "scheduler/kueue/podrequests"}},
	{"scheduler/extended", []string{"inspect", "allocator", "scheduler", "scheduler/filters"}},
	{"internal/commit/requests", []string{"inspect", "inspect/quantity"}},
	{"internal/commit", []string{"inspect", "inspect/quantity", "allocator", "internal/commit/requests"}},
	// What explains points one way: words < explain < lifecycle, whatif < diagnose, requirement < conflict <
	// fix < cycle < replay < question < text.
	{"explain/words", []string{"inspect"}},
	{"explain", []string{"inspect", "allocator", "scheduler/filters", "explain/words"}},
	{"explain/suppose", []string{"inspect", "explain"}},
	{"explain/whatif", []string{"inspect", "allocator", "scheduler", "scheduler/filters", "explain", "explain/words", "explain/suppose"}},
	{"explain/preemption", []string{"inspect", "allocator", "scheduler", "scheduler/filters", "explain", "explain/words", "explain/whatif"}},
	{"explain/lifecycle", []string{"inspect", "allocator", "scheduler", "explain", "explain/words"}},
	{"explain/diagnose", []string{"inspect", "allocator", "scheduler", "scheduler/filters", "allocator/selector", "explain", "explain/words", "explain/suppose", "explain/whatif"}},
	{"explain/requirement", []string{"internal/spell", "inspect", "inspect/quantity", "allocator", "scheduler", "scheduler/filters", "allocator/selector", "explain", "explain/words", "explain/suppose", "explain/whatif"}},
	{"explain/conflict", []string{"inspect", "allocator", "scheduler", "scheduler/filters", "explain", "explain/words", "explain/whatif", "explain/requirement"}},
	{"explain/spelling", []string{"internal/spell", "inspect", "allocator", "allocator/selector", "explain", "explain/words", "explain/whatif", "explain/requirement"}},
	{"explain/fix", []string{"internal/spell", "inspect", "allocator", "scheduler", "scheduler/filters", "allocator/selector", "explain", "explain/words", "explain/suppose", "explain/whatif", "explain/requirement", "explain/conflict", "explain/spelling"}},
	{"explain/headline", []string{"inspect", "allocator", "scheduler", "scheduler/filters", "allocator/selector", "explain", "explain/words", "explain/whatif", "explain/diagnose"}},
	{"explain/cycle", []string{"inspect", "allocator", "scheduler", "scheduler/filters", "explain", "explain/words", "explain/lifecycle", "explain/suppose", "explain/whatif", "explain/spelling"}},
	{"explain/replay", []string{"internal/progress", "inspect", "allocator", "scheduler", "scheduler/filters", "scheduler/scores", "explain", "explain/words", "explain/lifecycle", "explain/suppose", "explain/whatif", "explain/cycle"}},
	{"explain/together", []string{"inspect", "scheduler", "explain", "explain/words", "explain/suppose", "explain/whatif", "explain/cycle", "explain/replay"}},
	{"explain/question", []string{"internal/progress", "inspect", "inspect/usage", "allocator", "scheduler", "scheduler/filters", "explain", "explain/words", "explain/lifecycle", "explain/suppose", "explain/whatif", "explain/cycle", "explain/replay", "explain/together", "explain/diagnose", "explain/requirement", "explain/conflict", "explain/fix", "explain/headline", "explain/preemption"}},
	{"explain/fit", []string{"internal/progress", "inspect", "allocator", "scheduler", "explain", "explain/words", "explain/diagnose", "explain/requirement", "explain/suppose", "explain/whatif", "explain/cycle", "explain/question"}},
	{"explain/volume", []string{"inspect", "allocator", "scheduler", "scheduler/filters", "explain", "explain/words", "explain/cycle", "explain/question"}},
	{"explain/plan", []string{"internal/progress", "inspect", "allocator", "scheduler", "scheduler/filters", "explain", "explain/words", "explain/lifecycle", "explain/suppose", "explain/whatif", "explain/cycle", "explain/replay", "explain/together", "explain/question", "explain/preemption"}},
	{"explain/disruption", []string{"internal/progress", "inspect", "scheduler", "explain", "explain/words", "explain/suppose", "explain/whatif", "explain/cycle", "explain/replay", "explain/preemption", "explain/plan"}},
	{"explain/admission/config", []string{"inspect", "inspect/kueueconfig", "scheduler/kueue"}},
	{"explain/admission/target", []string{"inspect", "inspect/kueueconfig", "explain", "explain/admission/config"}},
	{"explain/admission", []string{"inspect", "inspect/kueueconfig", "inspect/quantity", "inspect/usage", "allocator", "scheduler", "scheduler/kueue", "explain", "explain/words", "explain/cycle", "explain/question", "explain/plan", "explain/admission/config", "explain/admission/target"}},
	{"explain/plan/moves", []string{"internal/progress", "inspect", "scheduler", "explain", "explain/words", "explain/suppose", "explain/whatif", "explain/cycle", "explain/replay", "explain/question", "explain/plan"}},
	{"explain/plan/shapes", []string{"internal/progress", "inspect", "inspect/nodeshape", "allocator", "scheduler", "explain", "explain/words", "explain/suppose", "explain/whatif", "explain/cycle", "explain/replay", "explain/question", "explain/plan"}},
	{"explain/triage", []string{"internal/progress", "inspect", "allocator", "scheduler", "scheduler/kueue", "explain", "explain/words", "explain/lifecycle", "explain/diagnose", "explain/whatif", "explain/cycle", "explain/replay", "explain/headline", "explain/question", "explain/plan", "explain/admission"}},
	{"explain/flip", []string{"inspect", "inspect/history", "allocator", "scheduler", "explain", "explain/cycle", "explain/question"}},
	{"explain/remedy", []string{"inspect", "explain", "explain/words", "internal/yamlpatch"}},
	{"explain/explaintest", []string{"inspect", "internal/demo", "allocator/selector", "allocator", "scheduler", "explain"}},
	{"explain/text/layout", []string{"explain/styled", "inspect", "explain"}},
	{"explain/text/plans", []string{"explain/styled", "inspect", "explain", "explain/words", "explain/text/layout"}},
	{"explain/text", []string{"explain/styled", "inspect", "allocator", "scheduler", "explain", "explain/words", "explain/text/layout"}},
	{"internal/checkup", []string{"internal/progress", "explain/styled", "inspect/...", "allocator/...", "scheduler/...", "explain/..."}},
	{"tui/keyboard", nil},
	{"tui/theme", []string{"explain/styled"}},
	{"tui/widget", []string{"explain/styled", "tui/theme"}}, // nothing of Kubernetes
	{"tui/screen", []string{"internal/turns", "explain/styled", "inspect", "inspect/flowcontrol", "inspect/usage", "allocator", "scheduler", "allocator/selector", "explain/...", "tui/theme", "tui/widget"}},
	{"tui/listing", []string{"explain/styled", "explain/words", "inspect/...", "internal/spell", "tui/screen", "tui/theme", "tui/widget"}},
	{"tui/reading", []string{"explain/styled", "explain/text", "explain/words", "inspect/...", "tui/screen", "tui/theme", "tui/widget"}},
	{"tui/preferences", []string{"explain/styled", "internal/spell", "tui/screen", "tui/theme"}},
	{"tui/places", []string{"explain/words", "inspect", "internal/spell", "tui/record", "tui/screen"}},
	{"tui/record", []string{"inspect/...", "explain/words", "tui/screen"}},
	// A screen goes to another one by a message to the root, so none of them imports another.
	{"tui/screen/...", []string{
		"explain/styled", "inspect/...", "allocator/...", "scheduler/...", "explain/...", "internal/progress", "internal/timebudget",
		"tui/listing", "tui/reading", "tui/screen", "tui/theme", "tui/widget",
	}},
	{"tui/screen/disruption", []string{"explain/styled", "inspect", "explain", "explain/disruption", "explain/plan", "explain/text/...", "explain/suppose", "explain/whatif", "explain/words", "internal/checkup", "tui/reading", "tui/screen"}},
	{"tui/screen/room", []string{"explain/styled", "explain", "explain/plan/moves", "explain/remedy", "explain/text/...", "explain/words", "tui/reading", "tui/screen"}},
	{"tui/screen/checkup", []string{"explain/styled", "inspect", "internal/checkup", "tui/reading", "tui/screen"}},
	{"tui/screen/screentest", []string{"inspect", "internal/demo", "tui/screen", "tui/theme"}}, // for tests
	{"tui", []string{"explain/styled", "inspect/...", "allocator/...", "scheduler/...", "explain/...", "tui/...", "internal/spell", "internal/timebudget"}},
	{"cmd/kubectl-dra", []string{"cmd/kubectl-dra/internal/cli"}},
	{"cmd/kubectl-dra/internal/output/...", []string{
		"explain/styled", "inspect/...", "allocator/...", "scheduler/...", "explain/...", "internal/checkup", "internal/inputfile",
		"cmd/kubectl-dra/internal/output/...",
	}},
	// A command knows what is shared and no other command; cli, which alone knows them, hands in what one
	// needs of another.
	{"cmd/kubectl-dra/internal/cli", slices.Concat(commands, []string{
		"cmd/kubectl-dra/internal/cli/...", "cmd/kubectl-dra/internal/output/...",
	})},
	{"cmd/kubectl-dra/internal/settings", []string{"internal/inputfile", "internal/spell", "tui"}},
	{"cmd/kubectl-dra/internal/cli/...", slices.Concat(commands, []string{
		"cmd/kubectl-dra/internal/cli/shared/...", "cmd/kubectl-dra/internal/output/...", "cmd/kubectl-dra/internal/settings",
	})},
	{"cmd/kubectl-dra/internal/cli/shared/console", []string{
		"explain/styled", "inspect", "explain", "explain/text", "internal/progress", "internal/spell", "cmd/kubectl-dra/internal/output",
	}},
	{"cmd/kubectl-dra/internal/cli/shared/sources", []string{
		"inspect/...", "allocator/selector", "explain/remedy", "explain/text", "explain/words", "tui", "internal/demo", "internal/inputfile",
		"cmd/kubectl-dra/internal/cli/shared/console", "cmd/kubectl-dra/internal/output",
	}},
	{"cmd/kubectl-dra/internal/cli/shared/inquiry", []string{
		"inspect/...", "scheduler/scores", "explain/replay", "explain/lifecycle", "explain/words", "internal/timebudget",
		"cmd/kubectl-dra/internal/cli/shared/console", "cmd/kubectl-dra/internal/cli/shared/sources", "cmd/kubectl-dra/internal/output",
	}},
	{"cmd/...", []string{"internal/checkup", "cmd/kubectl-dra/internal/output/...", "tui", "tui/theme"}},
	// Support for tests of every layer: no line lists it, so only test files can import it.
	{"internal/scenario", []string{"inspect", "inspect/manifest", "allocator"}},
	{"internal/clusters", []string{"inspect", "inspect/manifest", "internal/demo", "internal/effort", "internal/scenario"}},
	{"internal/benchtable", nil},
	{"internal/effort", nil},
	{"internal/fakeserver", []string{"inspect"}},
	{"internal/imports", nil},
	{"internal/poison", []string{"inspect"}},
	{"internal/randompod", []string{"inspect"}},
	{"internal/randomqueue", []string{"inspect", "scheduler/kueue"}},
	{"internal/randomselector", nil},
	{"internal/timebudget", nil},
	{"internal/yamlpatch", nil},
	{"internal/licences", nil},
	{"internal/apilist", nil},
	{"internal/release", nil},
	{"internal/screenshot", nil},
	{"internal/upstream", []string{"inspect"}},
}

// exempt are packages that no rule is asked of.
var exempt []string

// fence keeps imports with a prefix inside some packages. Of several prefixes that match an import,
// the longest counts.
type fence struct {
	prefixes []string // import paths; each matches itself and everything below it
	within   []string // patterns of packages that may import them
	tests    []string // patterns of packages whose test files may import them, besides those in within
	why      string
}

var everywhere = []string{"..."}

var fences = []fence{
	{
		prefixes: []string{
			"charm.land/bubbletea", "charm.land/bubbles", "charm.land/lipgloss",
			"github.com/charmbracelet/bubbletea", "github.com/charmbracelet/bubbles", "github.com/charmbracelet/lipgloss",
		},
		within: []string{"tui/..."},
		why:    "only the terminal UI knows of screens",
	},
	{
		prefixes: []string{"github.com/charmbracelet/x/ansi"},
		within:   []string{"explain/styled", "tui/...", "internal/screenshot"},
		why:      "text is measured, cut and wrapped in one place",
	},
	{
		prefixes: []string{"github.com/charmbracelet/ultraviolet"},
		within:   []string{"internal/screenshot"},
		why:      "only pictures of screens need a grid of cells; screens are text",
	},
	{
		prefixes: []string{"github.com/spf13/cobra", "github.com/spf13/pflag", "k8s.io/cli-runtime"},
		within:   []string{"cmd/..."},
		why:      "only commands know of flags and printers",
	},
	{
		prefixes: []string{"github.com/google/cel-go", "k8s.io/apiserver/pkg/cel"},
		within:   []string{"allocator/selector"},
		why:      "expressions have one owner, and cel-go is slow to start",
	},
	{
		prefixes: []string{"k8s.io/dynamic-resource-allocation/cel"},
		within:   []string{"allocator/selector", "explain/explaintest"},
		tests:    everywhere, // the oracle takes a cache from this package
		why:      "expressions have one owner",
	},
	{
		prefixes: []string{"k8s.io/dynamic-resource-allocation/structured"},
		within:   []string{"explain/explaintest"}, // which only tests import
		tests:    everywhere,
		why:      "the scheduler's own allocator is the oracle of tests and must not decide anything here",
	},
	{
		prefixes: []string{"github.com/containernetworking/cni"},
		within:   []string{"inspect/node/cni"},
		why:      "only one package reads network configurations",
	},
	{
		prefixes: []string{"github.com/invopop/jsonschema"},
		within:   []string{"cmd/kubectl-dra/internal/schemadoc"},
		why:      "schemas are made when the program is built, and part of it as files",
	},
	{
		prefixes: []string{"github.com/santhosh-tekuri/jsonschema"},
		within:   []string{"cmd/kubectl-dra/internal/output/schematest"}, // which only tests import
		why:      "tests validate, the program prints",
	},
	{
		prefixes: []string{"github.com/yuin/goldmark"},
		tests:    []string{"cmd/kubectl-dra/internal/documents", "cmd/kubectl-dra/internal/output"},
		why:      "tests read Markdown, the program writes it",
	},
	{
		prefixes: []string{"google.golang.org/grpc", "k8s.io/kubelet"},
		within:   []string{"inspect/node"},
		tests:    []string{"cmd/..."}, // which have kubelets that are made up
		why:      "only what reads a node asks its kubelet",
	},
	{
		prefixes: []string{"k8s.io/client-go"},
		within:   []string{"inspect/live/...", "inspect/flowcontrol/...", "internal/commit/...", "cmd/..."},
		why:      "only the packages that talk to a server know of clients",
	},
}

// heavy are packages that the program may not contain, by whatever way they would come in.
var heavy = []struct {
	prefixes []string // import paths; each matches itself and everything below it
	why      string
}{
	{
		prefixes: []string{"sigs.k8s.io/kustomize", "k8s.io/cli-runtime/pkg/genericclioptions", "k8s.io/cli-runtime/pkg/resource"},
		why: "genericclioptions brings in kustomize, which imports package plugin, so that the linker may leave out no method: " +
			"25 of 100 MB, for flags that clientcmd can bind (cmd/kubectl-dra/internal/cli/shared/sources/connectionflags.go)",
	},
	{
		prefixes: []string{"k8s.io/client-go/discovery", "k8s.io/client-go/kubernetes"},
		why:      "they bring in every type of the API and of OpenAPI: 17 of 75 MB, where a REST client and a scheme of what is read will do",
	},
}

// pure are the packages that are functions of a snapshot: no IO and no clock. Their test files may do both.
var pure = []string{
	"explain/styled", "inspect", "inspect/quantity", "inspect/schedulerconfig", "inspect/kueueconfig", "inspect/sharing", "inspect/storage", "inspect/nodeshape", "inspect/usage", "inspect/manifest/validate", "allocator", "allocator/selector", "allocator/selector/bench", "allocator/selector/editor",
	"scheduler", "scheduler/filters", "scheduler/scores", "scheduler/extended", "scheduler/kueue", "scheduler/kueue/quota", "scheduler/kueue/podrequests",
	"explain", "explain/words", "explain/lifecycle", "explain/suppose", "explain/whatif", "explain/cycle", "explain/diagnose", "explain/requirement", "explain/conflict", "explain/fix",
	"explain/headline", "explain/preemption", "explain/question", "explain/spelling", "explain/replay", "explain/together", "explain/fit", "explain/volume", "explain/plan", "explain/disruption", "explain/plan/moves", "explain/plan/shapes", "explain/triage", "explain/flip", "explain/text", "explain/admission/config", "explain/admission/target", "explain/admission", "explain/remedy", "internal/checkup",
}

// impureImports are packages of the standard library that pure packages may not import.
var impureImports = []string{"io/ioutil", "log", "net", "net/http", "os", "os/exec", "os/signal", "syscall", "unsafe"}

// clockNames are the names of package time that read or wait for the clock. Pure packages may import time,
// for they handle timestamps, but not mention these.
var clockNames = []string{"After", "AfterFunc", "NewTicker", "NewTimer", "Now", "Since", "Sleep", "Tick", "Until"}

// writeNames are the methods of clients, and of requests, by which something is written.
var writeNames = []string{"Post", "Put", "Patch", "Verb", "Create", "UpdateStatus", "Apply", "ApplyStatus", "DeleteCollection", "Evict", "EvictV1", "EvictV1beta1"}
