package replay

import (
	"bufio"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Tables, as kube-apiserver 1.37 sends them when it is asked for no objects in them: what kubectl get shows,
// and what a completion of names reads.

// about is what of an object stands in tables.
type about struct{ namespace, name, node, driver, pool string }

func aboutOf(o object) about {
	a := about{namespace: o.GetNamespace(), name: o.GetName()}
	if slice, ok := o.(*resourcev1.ResourceSlice); ok {
		a.driver, a.pool = slice.Spec.Driver, slice.Spec.Pool.Name
		if slice.Spec.NodeName != nil {
			a.node = *slice.Spec.NodeName
		}
	}
	return a
}

// columnsOf are the columns of a resource.
var columnsOf = map[string][]string{
	"/v1/nodes":                         {"Name", "Status", "Roles", "Age", "Version", "Internal-IP", "External-IP", "OS-Image", "Kernel-Version", "Container-Runtime"},
	"/v1/pods":                          {"Name", "Ready", "Status", "Restarts", "Age", "IP", "Node", "Nominated Node", "Readiness Gates"},
	"resource.k8s.io/v1/resourceclaims": {"Name", "State", "Age"},
	"resource.k8s.io/v1/resourceslices": {"Name", "Node", "Driver", "Pool", "Age"},
}

// withoutNamespace splits "/v1/namespaces/ml/pods".
func withoutNamespace(path string) (collection, namespace string) {
	parts := strings.Split(path, "/")
	if n := len(parts); n > 3 && parts[n-3] == "namespaces" {
		return strings.Join(append(parts[:n-3:n-3], parts[n-1]), "/"), parts[n-2]
	}
	return path, ""
}

// table sends the table of a collection, or of what is in a namespace.
func (s *Server) table(w http.ResponseWriter, path, namespace string, c *collection) {
	columns := columnsOf[path]
	if columns == nil {
		columns = []string{"Name", "Age"}
	}
	table := metav1.Table{TypeMeta: metav1.TypeMeta{Kind: "Table", APIVersion: "meta.k8s.io/v1"}, Rows: []metav1.TableRow{}}
	for _, column := range columns {
		table.ColumnDefinitions = append(table.ColumnDefinitions, metav1.TableColumnDefinition{Name: column, Type: "string", Description: strings.Repeat("what the column means ", 8)})
	}
	s.mu.Lock()
	for _, a := range c.about {
		if namespace != "" && a.namespace != namespace {
			continue
		}
		cells := make([]any, len(columns))
		for i, column := range columns {
			cells[i] = a.cell(column)
		}
		table.Rows = append(table.Rows, metav1.TableRow{Cells: cells, Object: runtime.RawExtension{}})
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	buffered := bufio.NewWriterSize(w, 1<<18)
	_ = json.NewEncoder(buffered).Encode(table)
	_ = buffered.Flush()
}

// cell is what a row has in a column. What nobody reads is as long as it usually is.
func (a *about) cell(column string) string {
	switch column {
	case "Name":
		return a.name
	case "Node":
		return a.node
	case "Driver":
		return a.driver
	case "Pool":
		return a.pool
	case "OS-Image":
		return "Debian GNU/Linux 12 (bookworm)"
	case "Kernel-Version", "Container-Runtime":
		return "containerd://2.1.4"
	}
	return "<none>"
}

// named is the place of the object of a name, behind all others if there is none.
func (s *Server) named(c *collection, name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.IndexFunc(c.about, func(a about) bool { return a.name == name }); i >= 0 {
		return i
	}
	return len(c.about)
}
