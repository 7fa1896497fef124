package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/sharing"
)

// Row is what a server's own table says of an object. It is a fraction of the object, which is what
// completing its name in a shell can afford.
type Row struct {
	Name string
	// Namespace is known only where the server answers with objects in place of a table.
	Namespace string
	// Driver, Pool and Node are those of a ResourceSlice; Node is "" where the devices are of no single node.
	Driver, Pool, Node string
}

// asTable makes a server answer with its table, without the objects. What knows no tables answers with
// metadata or with objects.
const asTable = runtime.ContentTypeJSON + ";as=Table;g=meta.k8s.io;v=v1," + asMetadataList + "," + runtime.ContentTypeJSON

// Rows lists a resource as a table, in one namespace or in all (""), in the order of the server. It takes
// what the server has in its cache, asks once and does not wait for a server that is busy: it is for help,
// and for no verdict.
func (f *Finder) Rows(ctx context.Context, resource inspect.Resource, namespace string) ([]Row, error) {
	k, ok := wire.KindOf(resource)
	if !ok {
		return nil, fmt.Errorf("listing %q: not a resource that can be read", resource)
	}
	rows, _, err := f.rowsOf(ctx, k, namespace)
	return rows, err
}

// rowsOf lists a kind at its newest version that the server serves, and returns which that is. Discovery
// would take as long as asking.
func (f *Finder) rowsOf(ctx context.Context, k wire.Kind, namespace string) (rows []Row, at wire.Version, err error) {
	for _, v := range k.Versions {
		rows, err = f.rows(ctx, k.Path(v, namespace))
		if err == nil || !isNotServed(err) {
			at = v
			break
		}
	}
	if err != nil {
		return nil, at, fmt.Errorf("listing %s: %s", k.Qualified(), wire.Clean(cause(err)))
	}
	return rows, at, nil
}

// rows asks for the table at a path.
func (f *Finder) rows(ctx context.Context, path []string) ([]Row, error) {
	request, err := f.askFor(path, asTable)
	if err != nil {
		return nil, err
	}
	request.Param("includeObject", string(metav1.IncludeNone)).Param("resourceVersion", "0").MaxRetries(0)
	data, err := raw(request.Do(connection.With(ctx, connection.Bounds{Bytes: limits.page})))
	if err != nil {
		return nil, err
	}
	return readRows(data)
}

// tableOrList is a Table, or a list of objects or of their metadata.
type tableOrList struct {
	ColumnDefinitions []struct{ Name string }
	Rows              []struct{ Cells []any }
	Items             []struct {
		Metadata struct{ Name, Namespace string }
		Spec     json.RawMessage
	}
}

func readRows(data []byte) ([]Row, error) {
	var read tableOrList
	if err := json.Unmarshal(data, &read); err != nil {
		return nil, fmt.Errorf("the answer is no list: %s", wire.Clean(err.Error()))
	}
	out := make([]Row, 0, len(read.Rows)+len(read.Items))
	columns := map[string]int{}
	for i, column := range read.ColumnDefinitions {
		columns[strings.ToLower(column.Name)] = i
	}
	for _, row := range read.Rows {
		cell := func(column string) string {
			i, ok := columns[column]
			if !ok || i >= len(row.Cells) {
				return ""
			}
			text, _ := row.Cells[i].(string)
			return text
		}
		out = append(out, Row{Name: cell("name"), Driver: cell("driver"), Pool: cell("pool"), Node: cell("node")})
	}
	for _, item := range read.Items {
		row := Row{Name: item.Metadata.Name, Namespace: item.Metadata.Namespace}
		row.fill(item.Spec)
		out = append(out, row)
	}
	return out, nil
}

// fill reads what the spec of a ResourceSlice says. Other objects have no such fields, or others.
func (r *Row) fill(spec json.RawMessage) {
	var slice struct {
		Driver, NodeName string
		Pool             struct{ Name string }
	}
	if json.Unmarshal(spec, &slice) == nil {
		r.Driver, r.Pool, r.Node = slice.Driver, slice.Pool.Name, slice.NodeName
	}
}

// some is how many objects are read at a time by Some.
const some = 8

// Some reads those objects of a resource that has no namespaces which are chosen by their rows: by name, each
// with a request of its own, from the cache of the server. Like Rows it is for help, and for no verdict: what
// cannot be read is left out.
func (f *Finder) Some(ctx context.Context, resource inspect.Resource, choose func([]Row) []string) (inspect.Objects, error) {
	var out inspect.Objects
	k, ok := wire.KindOf(resource)
	if !ok {
		return out, fmt.Errorf("listing %q: not a resource that can be read", resource)
	}
	rows, at, err := f.rowsOf(ctx, k, "")
	if err != nil {
		return out, err
	}
	names := choose(rows)
	found := make([][]wire.Object, len(names))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(some)
	for i, name := range names {
		group.Go(func() error {
			found[i], _ = f.named(groupCtx, k, at, name) // what is gone by now is no failure
			return nil
		})
	}
	_ = group.Wait() // nothing fails
	var all []wire.Object
	for _, objects := range found {
		all = append(all, objects...)
	}
	inspect.SetObjects(&out, k.Kind, all)
	return out, ctx.Err() //nolint:wrapcheck // of the caller
}

// named reads the object of a name.
func (f *Finder) named(ctx context.Context, k wire.Kind, v wire.Version, name string) ([]wire.Object, error) {
	options := metav1.ListOptions{FieldSelector: "metadata.name=" + name, ResourceVersion: "0"}
	page, err := f.listPage(ctx, k, v, "", options, &bytes.Buffer{})
	if err != nil {
		return nil, err
	}
	objects, err := k.Read(v, page.list, sharing.New())
	if err != nil {
		return nil, err
	}
	var out []wire.Object
	for _, o := range objects {
		if o.GetName() == name { // not every server selects
			out = append(out, o)
		}
	}
	return out, nil
}
