package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Format is what -o asks for: a name and, for some, an argument after "=".
type Format struct {
	// Name is empty for the output for people.
	Name     string
	Argument string
}

// Sets of formats that commands offer.
var (
	// TableFormats are those for lists.
	TableFormats = []string{"wide", "json", "yaml", "name", "custom-columns", "jsonpath", "go-template"}
	// ObjectFormats are those for answers and objects.
	ObjectFormats = []string{"json", "yaml", "jsonpath", "go-template"}
	// NamedFormats are those for objects that have a name.
	NamedFormats = append([]string{"name"}, ObjectFormats...)
)

// NeedsArgument reports whether a format wants something after "=".
func NeedsArgument(name string) bool {
	return name == "custom-columns" || name == "jsonpath" || name == "go-template"
}

// ParseFormat reads the value of -o. An argument that cannot be used is an error: a template or path that
// does not parse.
func ParseFormat(text string, allowed []string) (Format, error) {
	if text == "" {
		return Format{}, nil
	}
	name, argument, _ := strings.Cut(text, "=")
	f := Format{Name: name, Argument: argument}
	switch {
	case !slices.Contains(allowed, name):
		return Format{}, fmt.Errorf("unknown output format %q; there are %s", name, strings.Join(allowed, ", "))
	case !NeedsArgument(name) && argument != "":
		return Format{}, fmt.Errorf("output format %s takes no argument", name)
	case !NeedsArgument(name):
		return f, nil
	case argument == "":
		return Format{}, fmt.Errorf("output format %s needs an argument: -o %s=…", name, name)
	}
	var err error
	if name == "custom-columns" {
		_, err = parseCustomColumns(argument)
	} else {
		_, err = f.templatePrinter()
	}
	return f, err
}

// PrintList prints a list in the format.
func (f Format) PrintList(w io.Writer, list *List, opts TableOptions) error {
	switch f.Name {
	case "", "wide":
		opts.Wide = f.Name == "wide"
		return PrintTable(w, list, opts)
	case "name":
		for _, item := range list.Items {
			resource := list.Resource
			if of, ok := item.(interface{ Resource() string }); ok { // a list may have several
				resource = of.Resource()
			}
			if _, err := fmt.Fprintf(w, "%s/%s\n", resource, inspect.Sanitize(item.Meta().Name)); err != nil {
				return err
			}
		}
		return nil
	case "custom-columns":
		columns, err := parseCustomColumns(f.Argument)
		if err != nil {
			return err
		}
		return columns.print(w, list, opts)
	}
	return f.PrintValue(w, list)
}

// PrintValue prints anything that has a JSON form, in the formats json, yaml and those with templates.
func (f Format) PrintValue(w io.Writer, value any) error {
	var data []byte
	var err error
	switch f.Name {
	case "json":
		data, err = encodeJSON(value, "    ") // as kubectl does
	case "yaml":
		data, err = encodeYAML(value)
	default:
		return f.printTemplate(w, value)
	}
	if err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// templatePrinter makes the printer of kubectl for the argument, which is a template or path.
func (f Format) templatePrinter() (printers.ResourcePrinter, error) {
	if f.Name == "go-template" {
		printer, err := printers.NewGoTemplatePrinter([]byte(f.Argument))
		if err != nil {
			return nil, fmt.Errorf("reading the argument of -o %s: error parsing template %s, %w", f.Name, f.Argument, err)
		}
		printer.AllowMissingKeys(true)
		return printer, nil
	}
	printer, err := printers.NewJSONPathPrinter(f.Argument)
	if err != nil {
		return nil, fmt.Errorf("reading the argument of -o %s: error parsing jsonpath %s, %w", f.Name, f.Argument, err)
	}
	printer.AllowMissingKeys(true)
	return printer, nil
}

func (f Format) printTemplate(w io.Writer, value any) error {
	printer, err := f.templatePrinter()
	if err != nil {
		return err
	}
	tree, err := toTree(value)
	if err != nil {
		return err
	}
	// Values may well be printed raw, so they are made safe; line breaks in values are kept.
	safe, _ := mapStrings(tree, sanitizeLines).(map[string]any)
	// kubectl's printers write the whole object where a template fails, in the middle of the answer.
	var out bytes.Buffer
	if err := printer.PrintObj(&unstructured.Unstructured{Object: safe}, &out); err != nil {
		return fmt.Errorf("printing with -o %s: %w", f.Name, err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// sanitizeLines sanitises text line by line.
func sanitizeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = inspect.Sanitize(lines[i])
	}
	return strings.Join(lines, "\n")
}

// toTree decodes the JSON form of a value; whole numbers become int64.
func toTree(value any) (any, error) {
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	var tree any
	if err := utiljson.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("encoding JSON: %w", err)
	}
	return tree, nil
}
