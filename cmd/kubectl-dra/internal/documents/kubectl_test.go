package documents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/itchyny/gojq"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"mvdan.cc/sh/v3/interp"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// kubectl does what little of kubectl blocks need: it prints objects as YAML or JSON, and writes them. It
// reports whether it knows the command.
func (sh *shell) kubectl(of interp.HandlerContext, args []string) (code int, known bool) {
	if len(args) == 0 {
		return 0, false
	}
	verb, rest := args[0], args[1:]
	switch verb {
	case "get":
		return sh.kubectlGet(of, rest)
	case "apply", "create", "replace":
		i := slices.IndexFunc(rest, func(a string) bool { return a == "-f" || a == "--filename" })
		if i < 0 || i+1 == len(rest) {
			return 0, false
		}
		data, err := readInput(of, rest[i+1])
		if err == nil {
			err = sh.apply(data, flagValue(rest, "-n", "--namespace"))
		}
		if err != nil {
			_, _ = fmt.Fprintf(of.Stderr, "error: %v\n", err) // it is a buffer
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// kubectlGet prints all objects of some kinds.
func (sh *shell) kubectlGet(of interp.HandlerContext, args []string) (code int, known bool) {
	format := flagValue(args, "-o", "--output")
	if len(args) == 0 || format != "yaml" && format != "json" {
		return 0, false
	}
	items := []any{}
	for _, resource := range strings.Split(args[0], ",") {
		names := sh.server.Names(inspect.Resource(resource))
		state := sh.server.State()
		for _, name := range names {
			items = append(items, state[resource+" "+name])
		}
		found := len(names)
		for _, o := range sh.server.workloads {
			if strings.ToLower(o.GetKind())+"s" == resource {
				items = append(items, o.Object)
				found++
			}
		}
		if found == 0 && inspect.KindOf(inspect.Resource(resource)).Name == "" {
			return 0, false
		}
	}
	list := map[string]any{"apiVersion": "v1", "kind": "List", "items": items}
	data, err := yaml.Marshal(list)
	if format == "json" {
		data, err = json.Marshal(list)
	}
	if err == nil {
		_, err = of.Stdout.Write(data)
	}
	return map[bool]int{true: 0, false: 1}[err == nil], true
}

func flagValue(args []string, names ...string) string {
	for i, a := range args {
		for _, name := range names {
			if a == name && i+1 < len(args) {
				return args[i+1]
			}
			if value, ok := strings.CutPrefix(a, name+"="); ok {
				return value
			}
		}
		if value, ok := strings.CutPrefix(a, "-o"); ok && value != "" && slices.Contains(names, "-o") {
			return value
		}
	}
	return ""
}

func readInput(of interp.HandlerContext, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(of.Stdin)
	}
	return os.ReadFile(name) //nolint:gosec // named by a page of the repository
}

// apply stores the objects of manifests.
func (sh *shell) apply(data []byte, namespace string) error {
	for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096); ; {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if o.Object == nil {
			continue
		}
		i := slices.IndexFunc(inspect.Kinds(), func(k inspect.Kind) bool { return k.Name == o.GetKind() })
		if i < 0 {
			sh.server.workloads = append(sh.server.workloads, o)
			continue
		}
		k := inspect.Kinds()[i]
		if k.Namespaced && o.GetNamespace() == "" {
			o.SetNamespace("default")
			if namespace != "" {
				o.SetNamespace(namespace)
			}
		}
		if slices.Contains(sh.server.Names(k.Resource), fakeserver.Key{Namespace: o.GetNamespace(), Name: o.GetName()}.String()) {
			sh.server.Delete(k.Resource, fakeserver.Key{Namespace: o.GetNamespace(), Name: o.GetName()})
		}
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return err
		}
		sh.server.Apply(string(text))
	}
}

// jq does what jq does with the flags that blocks give it.
func jq(of interp.HandlerContext, args []string) int {
	raw, exit := false, false
	var rest []string
	for _, a := range args {
		switch a {
		case "-r", "--raw-output":
			raw = true
		case "-e", "--exit-status":
			exit = true
		case "-c", "-M", "-C", ".": // the layout is not compared
		default:
			rest = append(rest, a)
		}
	}
	in := of.Stdin
	if len(rest) > 1 {
		f, err := os.Open(rest[1])
		if err != nil {
			_, _ = fmt.Fprintln(of.Stderr, "jq:", err) // it is a buffer
			return 2
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	code, err := runJQ(of.Stdout, in, strings.Join(rest[:min(1, len(rest))], ""), raw, exit)
	if err != nil {
		_, _ = fmt.Fprintln(of.Stderr, "jq:", err) // it is a buffer
		return 5
	}
	return code
}

// runJQ prints what a query finds in each of several values.
func runJQ(out io.Writer, in io.Reader, text string, raw, exit bool) (int, error) {
	if text == "" {
		text = "."
	}
	query, err := gojq.Parse(text)
	if err != nil {
		return 0, err
	}
	var last any
	for decoder := json.NewDecoder(in); ; {
		var value any
		if err := decoder.Decode(&value); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return 0, err
		}
		for iter := query.Run(value); ; {
			found, ok := iter.Next()
			if !ok {
				break
			}
			if err, failed := found.(error); failed {
				return 0, err
			}
			last = found
			if s, ok := found.(string); ok && raw {
				_, err = fmt.Fprintln(out, s)
			} else {
				var data []byte
				if data, err = gojq.Marshal(found); err == nil {
					_, err = fmt.Fprintln(out, string(data))
				}
			}
			if err != nil {
				return 0, err
			}
		}
	}
	if exit && (last == nil || last == false) {
		return 1, nil
	}
	return 0, nil
}
