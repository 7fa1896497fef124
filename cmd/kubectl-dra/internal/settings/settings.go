package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
	"github.com/kubectl-dra/kubectl-dra/internal/spell"
	"github.com/kubectl-dra/kubectl-dra/tui"
)

// Variable is the environment variable that names another file, or, if it is set and empty, none.
const Variable = "KUBECTL_DRA_CONFIG"

// limit is how long a file may be.
const limit = 256 << 10

// Path returns where the file is, and whether the user has named it. It is "" if there is none to be read.
func Path() (path string, named bool) {
	if path, named = os.LookupEnv(Variable); named {
		return path, true
	}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // as the specification says of others
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "kubectl-dra", "config.yaml"), false
}

// Read returns what is in the file. Without a file, or with one that cannot be read or is not in order, that
// is nothing; notice says why if the user will want to know. It need not be safe to show.
func Read() (p tui.Preferences, notice string) {
	path, named := Path()
	if path == "" {
		return tui.Preferences{}, ""
	}
	data, err := read(path, named)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return tui.Preferences{}, ""
	}
	if err == nil {
		p, err = Parse(data)
	}
	if err != nil {
		return tui.Preferences{}, fmt.Sprintf("%s is ignored: %v", path, err)
	}
	return p, ""
}

// read reads a file. A link is only followed if the user has named it: it may have been put there to have
// another file read.
func read(path string, named bool) ([]byte, error) {
	look := os.Lstat
	if named {
		look = os.Stat
	}
	info, err := look(path)
	switch {
	case err != nil:
		return nil, bare(err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, errors.New("it is a symbolic link; name the file in " + Variable)
	case info.IsDir():
		return nil, errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	}
	data, err := inputfile.ReadAll(path, limit)
	return data, bare(err)
}

// bare is an error without the path, which is said already.
func bare(err error) error {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		return failed.Err
	}
	return err
}

// Parse reads what is in a file. An error names the first field that is wrong, and how many others there are.
func Parse(data []byte) (p tui.Preferences, err error) {
	var tree any
	if err := yaml.UnmarshalStrict(data, &tree); err != nil {
		return p, errors.New(strings.Join(strings.Fields(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")), " "))
	}
	problems := misfits("", tree, reflect.TypeFor[tui.Preferences]())
	if len(problems) == 0 {
		if err := yaml.UnmarshalStrict(data, &p); err != nil {
			return tui.Preferences{}, fmt.Errorf("reading it: %w", err)
		}
		problems = tui.CheckPreferences(&p)
	}
	switch n := len(problems) - 1; {
	case n < 0:
		return p, nil
	case n == 0:
		return tui.Preferences{}, problems[0]
	default:
		return tui.Preferences{}, fmt.Errorf("%w (and %d more)", problems[0], n)
	}
}

// misfits says, in a defined order, what in a document does not have the form of a type: fields that there
// are not, and values of another kind. What is null is as if it were not there.
func misfits(path string, value any, t reflect.Type) (out []error) {
	if value == nil {
		return nil
	}
	at := strings.TrimPrefix(path, ".")
	wrong := func(want string) []error {
		if at == "" {
			return []error{fmt.Errorf("it has to be %s", want)}
		}
		return []error{fmt.Errorf("%s: it has to be %s", at, want)}
	}
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		object, ok := value.(map[string]any)
		if !ok {
			return wrong("an object, with a name before each value")
		}
		fields := fieldsOf(t)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			of, known := fields[name]
			if t.Kind() == reflect.Map {
				of, known = t.Elem(), true
			}
			if !known {
				out = append(out, unknown(strings.TrimPrefix(path+"."+name, "."), name, slices.Sorted(maps.Keys(fields))))
				continue
			}
			out = append(out, misfits(path+"."+name, object[name], of)...)
		}
	case reflect.Slice:
		list, ok := value.([]any)
		if !ok {
			return wrong("a list, such as [a, b]")
		}
		for i, item := range list {
			out = append(out, misfits(fmt.Sprintf("%s[%d]", path, i), item, t.Elem())...)
		}
	case reflect.String:
		switch value.(type) {
		case string:
		case bool:
			return wrong("text; y, n, yes, no, on and off are none without quotes")
		case float64, int64:
			return wrong("text; a number is none without quotes")
		default:
			return wrong("text")
		}
	}
	return out
}

// fieldsOf are the types of the fields of a struct, by the names that they have in files.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	if t.Kind() != reflect.Struct {
		return fields
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		fields[name] = t.Field(i).Type
	}
	return fields
}

func unknown(path, name string, fields []string) error {
	hint := ""
	if near := spell.Nearest(name, fields); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q? ", near[0])
	}
	return fmt.Errorf("%s: there is no such field; %sthere are %s", path, hint, strings.Join(fields, ", "))
}
