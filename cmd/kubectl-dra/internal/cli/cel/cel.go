package cel

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/allocator/selector/bench"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/inquiry"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/sources"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/celtest"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// celKinds are the objects whose selectors can be tested.
var celKinds = []inquiry.Kind{inquiry.Claim, inquiry.Template, inquiry.Class}

// celOptions are a request to test selectors: an expression, or the selectors of objects.
type celOptions struct {
	sources.Options
	file string
	// class, driver and node say which devices are tested; empty ones do not narrow them.
	class, driver, node string
	expression          string
	kind                inquiry.Kind
	names               []string // if there are none, the expression is tested
	namespace           string
	// lab is set when nothing was given to test and there is a terminal to type into.
	lab bool
}

const celExample = `  # Which devices are these?
  kubectl dra cel 'device.driver == "gpu.example.com"'

  # On the devices of a class only, every device in a row of its own
  kubectl dra cel --class gpu.example.com -v 'device.attributes["gpu.example.com"].numa == 0'

  # All selectors of a claim
  kubectl dra cel claim train-0 -n ml

  # For a script
  kubectl dra cel -f selector.cel -o jsonpath='{.matched}'`

// Lab opens the selector lab of the terminal UI, and returns when it is closed. The flags are those of the
// command.
type Lab func(ctx context.Context, flags *pflag.FlagSet) error

// New returns the command cel. With nothing to test, on a terminal, it opens the lab.
func New(streams *console.Streams, reader *sources.Reader, completer *inquiry.Completer, lab Lab) *cobra.Command {
	o := &celOptions{Options: sources.Options{Streams: streams, Reader: reader}}
	cmd := &cobra.Command{
		Use:   "cel [EXPRESSION | -f FILE | claim|template|class NAME...]",
		Short: "Test a device selector on real devices",
		Long: `Test a device selector on real devices: which devices it matches, why it does not
match the others, on which it fails, what it costs, and whether the API server
accepts it. It is compiled and run exactly as the scheduler does.

With claim, template or class all selectors of the object are tested, each on
the devices that reach it: those that the class, and the selectors before it,
let through.

With nothing to test, on a terminal, it opens the selector lab of kubectl dra top:
an editor that completes a selector and tries it on every device as you type.

Exit codes: 0 some device matches, 3 none does, 1 it does not compile, or fails
on a device: the scheduler then gives up with an error.`,
		Example: celExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.complete(args); err != nil {
				return err
			}
			if o.lab {
				return lab(cmd.Context(), cmd.Flags())
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.file, "filename", "f", "", "read the expression from this file or - (stdin)")
	f.StringVar(&o.class, "class", "", "test on the devices of this device class only")
	f.StringVar(&o.driver, "driver", "", "test on the devices of this driver only")
	f.StringVar(&o.node, "node", "", "test on the devices that this node can use only")
	console.AddOutputFlags(cmd, &o.Format, output.AnswerFormats)
	console.CompleteArguments(cmd, "`claim`, `template`, `class`, then names", completer.Typed(celKinds))
	console.CompleteFiles(cmd, "filename")
	console.CompleteFlag(cmd, "node", "nodes", completer.Nodes)
	console.CompleteFlag(cmd, "class", "device classes", completer.Each(inspect.Classes))
	console.CompleteFlag(cmd, "driver", "drivers", completer.Drivers)
	return cmd
}

// complete finds out what is tested, and refuses what does not go together.
func (o *celOptions) complete(args []string) error {
	if err := o.subject(args); err != nil {
		return err
	}
	if !o.lab && len(o.names) == 0 && strings.TrimSpace(o.expression) == "" {
		return console.Usagef("the expression is empty")
	}
	if o.class != "" && o.kind.Resource == inspect.Claims {
		return console.Usagef("--class and claim exclude each other: the requests name their classes")
	}
	var err error
	o.namespace, err = o.Reader.Namespace()
	return err
}

// subject finds out what is tested: an expression, objects, or what will be typed in the lab.
func (o *celOptions) subject(args []string) (err error) {
	switch {
	case o.file != "" && len(args) > 0:
		return console.Usagef("-f and an expression exclude each other")
	case o.file != "":
		if o.file == "-" && slices.Contains(o.Reader.From, "-") {
			return console.Usagef("-f and --from cannot both read stdin")
		}
		o.expression, err = readExpression(o.In, o.file)
	case len(args) == 0 && o.Interactive() && o.driver == "" && o.node == "" && o.class == "" && o.Format.Name == "":
		o.lab = true
	case len(args) == 0:
		return console.Usagef("give an expression, as in kubectl dra cel 'device.driver == \"gpu.example.com\"', or claim, template or class and a name")
	case isObject(args):
		o.kind, o.names, err = inquiry.SplitArguments(args, celKinds)
	case len(args) > 1:
		return console.Usagef("give one expression, in quotes for the shell: these are %d arguments", len(args))
	default:
		o.expression = args[0]
	}
	return err
}

// typeAndName is TYPE/NAME, which is no expression: no variable is called like a type.
var typeAndName = regexp.MustCompile(`^([a-z]+)/[a-z0-9]([a-z0-9.-]*[a-z0-9])?$`)

// isObject reports whether the arguments name an object. A lone word is an expression.
func isObject(args []string) bool {
	word := args[0]
	if m := typeAndName.FindStringSubmatch(word); m != nil {
		word = m[1]
	} else if len(args) == 1 && !slices.ContainsFunc(celKinds, func(k inquiry.Kind) bool { return k.HasName(word) }) {
		return false
	}
	return slices.ContainsFunc(celKinds, func(k inquiry.Kind) bool { return k.HasName(word) })
}

// maxExpressionFile is far above what the API server accepts, so that one that is too long is still
// tested and told to be so.
const maxExpressionFile = 1 << 20

func readExpression(stdin io.Reader, path string) (string, error) {
	r := stdin
	if path != "-" {
		file, err := inputfile.Open(path)
		if err != nil {
			return "", fmt.Errorf("reading the expression: %w", err)
		}
		defer func() { _ = file.Close() }() // it was only read
		r = file
	}
	data, err := io.ReadAll(io.LimitReader(r, maxExpressionFile+1))
	if err != nil {
		return "", fmt.Errorf("reading the expression from %s: %w", path, err)
	}
	if len(data) > maxExpressionFile {
		return "", fmt.Errorf("reading the expression from %s: it is longer than %d bytes", path, maxExpressionFile)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

func (o *celOptions) run(ctx context.Context) error {
	needs := []inspect.Resource{inspect.Slices, inspect.Classes, inspect.Nodes}
	if len(o.names) > 0 && o.kind.Resource != inspect.Classes {
		needs = append(needs, o.kind.Resource)
	}
	snapshot, err := o.Reader.Read(ctx, o.namespace, needs)
	if err != nil {
		return err
	}
	if h := snapshot.Health(inspect.Slices); h.State == inspect.Forbidden || h.State == inspect.Broken {
		return errors.New(console.HealthText(inspect.Slices, h))
	}
	o.NoteHealth(snapshot, needs)
	if other := selector.OtherCEL(snapshot.Features().Minor); other != "" {
		o.Note("note: expressions are compiled as Kubernetes 1.%d does; %s", inspect.NewestMinor, other)
	}
	devices, err := o.devices(snapshot)
	if err != nil {
		return err
	}
	t := &selectorTester{options: o, snapshot: snapshot, selectors: scheduler.NewCluster(snapshot, scheduler.Options{}).Selectors(), all: devices}
	if err := t.test(ctx); err != nil {
		return err
	}
	return o.print(t)
}

// print prints the tests and turns the worst result into the exit code.
func (o *celOptions) print(t *selectorTester) error {
	code := t.code
	for _, test := range t.tests {
		code = console.WorstExitCode(code, testCode(test))
	}
	return sources.AnswerEach(&o.Options, output.OneOrList("SelectorTestList", t.tests), t.tests, func(w io.Writer, _ text.Options, test *celtest.SelectorTest) error {
		opts := celtest.SelectorOptions{Width: o.Width(), TableWidth: o.TableWidth(), All: o.Verbosity > 0}
		return celtest.PrintSelectorTest(w, test, opts)
	}, code)
}

// testCode is the exit code of one test.
func testCode(s *celtest.SelectorTest) int {
	switch {
	case !s.Valid || s.Failed > 0:
		return console.ExitFailed
	case s.Matched == 0:
		return console.ExitNo
	}
	return console.ExitAnswered
}

// selectorTester tests selectors one after the other.
type selectorTester struct {
	options   *celOptions
	snapshot  *inspect.Snapshot
	selectors *selector.Cache
	all       []inspect.DeviceStatus // that pass the filters

	tests []*celtest.SelectorTest
	code  int // what the tests do not say
}

func (t *selectorTester) test(ctx context.Context) error {
	if len(t.options.names) > 0 {
		return t.testObjects(ctx)
	}
	devices := t.all
	if t.options.class != "" {
		var err error
		if devices, err = t.ofClass(ctx, t.options.class); err != nil {
			return err
		}
	}
	test, _, err := t.testOne(ctx, t.options.expression, devices)
	if err != nil {
		return err
	}
	test.Scope = t.options.scope(t.options.class)
	t.tests = append(t.tests, test)
	return nil
}

// testOne tests an expression and returns the devices that match as well.
func (t *selectorTester) testOne(ctx context.Context, expression string, devices []inspect.DeviceStatus) (*celtest.SelectorTest, []inspect.DeviceStatus, error) {
	on := bench.New(t.selectors, subjects(devices))
	trial, err := on.Try(ctx, expression)
	if err != nil {
		return nil, nil, err
	}
	return celtest.NewSelectorTest(on, trial, devices), matching(trial, devices), nil
}

func subjects(devices []inspect.DeviceStatus) []bench.Subject {
	return words.Each(devices, func(d inspect.DeviceStatus) bench.Subject {
		return bench.Subject{Driver: d.ID.Driver, Device: d.Device}
	})
}
