package tui

import (
	"strconv"

	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/causes"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/cel"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/changes"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/checkup"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/claims"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/copies"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/detail"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/devices"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/disruption"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/explanation"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/logs"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/manifest"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/nodes"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/objects"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/priority"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/queues"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/room"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/storage"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/usage"
)

// viewEntry is a view.
type viewEntry struct {
	name, title string
	// short is the title where all of them have little room. It is empty if the title is short itself.
	short string
	// make makes the screen, when the view is first shown.
	make func(*Options) screen.Screen
}

// viewTable lists the views: first those with a number, by which a key leads to them, then the queues, to
// which a letter does where there is Kueue, then lists of kinds, to which only their names lead. A new view
// is a package and a line here.
var viewTable = []viewEntry{
	{"claims", "Claims", "", func(*Options) screen.Screen { return claims.New() }},
	{"devices", "Devices", "Dev", func(*Options) screen.Screen { return devices.New() }},
	{"nodes", "Nodes", "", func(*Options) screen.Screen { return nodes.New() }},
	{"priority", "Priority", "Prio", func(o *Options) screen.Screen { return priority.New(o.priority()) }},
	{"storage", "Storage", "Stor", func(*Options) screen.Screen { return storage.New() }},
	{"cel", "CEL", "", func(*Options) screen.Screen { return cel.New() }},
	{"causes", "Causes", "Why", func(*Options) screen.Screen { return causes.New() }},
	{"usage", "Usage", "Use", func(*Options) screen.Screen { return usage.New() }},
	{"changes", "Changes", "Chg", func(o *Options) screen.Screen { return changes.New(o.changes()) }},
	{"queues", "Queues", "Q", func(*Options) screen.Screen { return queues.New() }},

	{"checkup", "Checkup", "", func(*Options) screen.Screen { return checkup.New() }},
	{"pods", "Pods", "", func(*Options) screen.Screen { return objects.NewPods(detail.About) }},
	{"classes", "Classes", "", func(*Options) screen.Screen { return objects.NewClasses(detail.About) }},
	{"templates", "Templates", "", func(*Options) screen.Screen { return objects.NewTemplates(detail.About) }},
	{"rules", "Rules", "", func(*Options) screen.Screen { return objects.NewRules(detail.About) }},
	{"drivers", "Drivers", "", func(*Options) screen.Screen { return objects.NewDrivers(detail.About) }},
	{"pools", "Pools", "", func(*Options) screen.Screen { return objects.NewPools(detail.About) }},
	{"namespaces", "Namespaces", "", func(*Options) screen.Screen { return objects.NewNamespaces(detail.About) }},
}

// numbered is how many of the views have a number, by which a key leads to them.
const numbered = 9

// queuesKey leads to the view behind those with a number.
const queuesKey = "Q"

// tabbed is how many of the views have a key and a title above the screen: the queues do where there are any.
func (n *navigation) tabbed() int {
	if n.world.Snapshot != nil && admission.Here(n.world.Snapshot) {
		return numbered + 1
	}
	return numbered
}

// viewKey is the key of a view that has one.
func viewKey(view int) string {
	if view == numbered {
		return queuesKey
	}
	return strconv.Itoa(view + 1)
}

// pageTable lists the pages about one object, with the kinds of objects that they are about.
var pageTable = map[screen.Page]pageEntry{
	screen.Explain:  {kinds: explanation.Kinds, make: explanation.New, several: explanation.NewSeveral},
	screen.Detail:   {kinds: detail.Kinds, make: detail.New},
	screen.YAML:     {kinds: manifest.Kinds, make: manifest.New, several: manifest.NewSeveral},
	screen.Fit:      {kinds: copies.Kinds, make: copies.New},
	screen.Logs:     {kinds: logs.Kinds, make: logs.New},
	screen.Drain:    disruptionOf(screen.Drain),
	screen.Lose:     disruptionOf(screen.Lose),
	screen.Taint:    disruptionOf(screen.Taint),
	screen.Delete:   {kinds: disruption.Kinds[screen.Delete], make: disruptionOf(screen.Delete).make},
	screen.Evict:    disruptionOf(screen.Evict),
	screen.MakeRoom: {kinds: room.Kinds, make: room.New},
}

// disruptionOf is a page that says what would be if objects were taken away together.
func disruptionOf(p screen.Page) pageEntry {
	return pageEntry{
		kinds:   disruption.Kinds[p],
		make:    func(ref screen.Ref) screen.Screen { return disruption.New(p, only(ref)) },
		several: func(refs []screen.Ref) screen.Screen { return disruption.New(p, refs) },
	}
}

type pageEntry struct {
	kinds []screen.Kind
	make  func(screen.Ref) screen.Screen
	// several makes the page for objects that were marked. It is nil if there is none.
	several func([]screen.Ref) screen.Screen
}

// Views returns the names of the views, in the order of their numbers.
func Views() []string {
	return words.Each(viewTable, func(v viewEntry) string { return v.name })
}
