package whatif

import (
	"fmt"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/suppose"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What is there hypothetically that is not there: classes, devices and nodes.

// CreateClassesEdit creates device classes that select every device.
type CreateClassesEdit struct{ Names []string }

// Key names the classes.
func (e CreateClassesEdit) Key() string { return fmt.Sprintf("create classes %q", e.Names) }

// Apply adds those classes that do not exist.
func (e CreateClassesEdit) Apply(d *Draft) {
	d.changes[e.Key()] = func(o *inspect.Objects) {
		for _, name := range e.Names {
			if !slices.ContainsFunc(o.Classes, func(c *resourcev1.DeviceClass) bool { return c.Name == name }) {
				o.Classes = append(o.Classes, &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: name}})
			}
		}
	}
}

// GrantEdit lets claims of a namespace have admin access.
type GrantEdit struct{ Namespace string }

// Key names the namespace.
func (e GrantEdit) Key() string { return "grant admin access in " + e.Namespace }

// Apply labels the namespace.
func (e GrantEdit) Apply(d *Draft) {
	d.changes[e.Key()] = func(o *inspect.Objects) { o.GrantAdminAccess(e.Namespace) }
}

// AddDevicesEdit publishes copies of devices on a node, as AddDevices does.
type AddDevicesEdit struct {
	Node  string
	Added []suppose.DeviceCopies
}

// Key names the node and the devices.
func (e AddDevicesEdit) Key() string {
	var b strings.Builder
	fmt.Fprintf(&b, "add devices %s", e.Node)
	for _, a := range e.Added {
		fmt.Fprintf(&b, " %d %s", a.Count, a.ID)
	}
	return b.String()
}

// Apply adds the slices.
func (e AddDevicesEdit) Apply(d *Draft) {
	s := d.q.Cluster.Snapshot()
	d.changes[e.Key()] = func(o *inspect.Objects) { suppose.AddDevices(o, s, e.Node, e.Added) }
}
