package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// YAML is turned into JSON by the rules that kubectl and the API server follow (YAML 1.1, map keys
// become strings). The conversion is our own so that aliases cannot multiply a small file into
// gigabytes: the output has a budget.

const (
	yamlBudgetFactor = 8       // bytes of JSON for each byte of YAML; real manifests need about one
	yamlBudgetBase   = 4 << 20 // bytes of JSON that every document may use
)

var errAliasBomb = errors.New("aliases multiply the document beyond what a manifest can need")

// yamlToJSON converts one document. Duplicate keys are returned as complaints and the last value
// counts, as it does in the API server without strict validation.
func yamlToJSON(doc []byte) (raw []byte, duplicates []string, err error) {
	var value any
	err = yaml.UnmarshalStrict(doc, &value)
	var typeErr *yaml.TypeError
	if errors.As(err, &typeErr) {
		duplicates = typeErr.Errors
		value = nil
		err = yaml.Unmarshal(doc, &value)
	}
	if err != nil {
		return nil, nil, err
	}
	w := jsonWriter{budget: yamlBudgetBase + yamlBudgetFactor*len(doc)}
	w.buf.Grow(len(doc))
	if err := w.value(value); err != nil {
		return nil, nil, err
	}
	return w.buf.Bytes(), duplicates, nil
}

type jsonWriter struct {
	buf    bytes.Buffer
	budget int // bytes
}

func (w *jsonWriter) value(v any) error {
	if w.buf.Len() > w.budget {
		return errAliasBomb
	}
	switch v := v.(type) {
	case nil:
		w.buf.WriteString("null")
	case map[any]any:
		return w.object(v)
	case []any:
		return w.list(v)
	case string:
		return w.string(v)
	case bool, int, int64, uint64:
		fmt.Fprint(&w.buf, v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the number %v has no JSON form", v)
		}
		return w.encode(v)
	default:
		return fmt.Errorf("a value of type %T has no JSON form", v)
	}
	return nil
}

func (w *jsonWriter) string(s string) error {
	if w.buf.Len()+len(s) > w.budget {
		return errAliasBomb
	}
	return w.encode(s)
}

func (w *jsonWriter) encode(v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.buf.Write(raw)
	return nil
}

func (w *jsonWriter) list(list []any) error {
	w.buf.WriteByte('[')
	for i, item := range list {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		if err := w.value(item); err != nil {
			return err
		}
	}
	w.buf.WriteByte(']')
	return nil
}

func (w *jsonWriter) object(m map[any]any) error {
	type field struct {
		key   string
		value any
	}
	fields := make([]field, 0, len(m))
	for k, v := range m {
		key, err := fieldName(k)
		if err != nil {
			return err
		}
		fields = append(fields, field{key, v})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	w.buf.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			w.buf.WriteByte(',')
		}
		if err := w.string(f.key); err != nil {
			return err
		}
		w.buf.WriteByte(':')
		if err := w.value(f.value); err != nil {
			return err
		}
	}
	w.buf.WriteByte('}')
	return nil
}

// fieldName turns a YAML key into a JSON field name, as sigs.k8s.io/yaml does.
func fieldName(key any) (string, error) {
	switch k := key.(type) {
	case string:
		return k, nil
	case int, int64, uint64, bool:
		return fmt.Sprint(k), nil
	case float64:
		return strconv.FormatFloat(k, 'g', -1, 32), nil
	}
	return "", fmt.Errorf("a field name must be a string, not %T", key)
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?line (\d+): (.*)$`)

// yamlProblem splits the parser's message into the line within the document, 0 if it gives none, and
// the rest.
func yamlProblem(message string) (line int, detail string) {
	m := yamlLine.FindStringSubmatch(strings.TrimSpace(message))
	if m == nil {
		return 0, strings.TrimPrefix(message, "yaml: ")
	}
	line, err := strconv.Atoi(m[1])
	if err != nil {
		return 0, m[2]
	}
	return line, m[2]
}
