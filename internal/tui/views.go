package tui

import (
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/causes"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/cel"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/claims"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/copies"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/detail"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/devices"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/explanation"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/nodes"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/priority"
	"github.com/kubectl-dra/kubectl-dra/internal/tui/screen/storage"
)

// viewEntry is a view that has a number.
type viewEntry struct {
	name, title string
	// make makes the screen, when the view is first shown.
	make func(*Options) screen.Screen
}

// viewTable lists the views by their numbers. A new view is a package and a line here.
var viewTable = []viewEntry{
	{"claims", "Claims", func(*Options) screen.Screen { return claims.New() }},
	{"devices", "Devices", func(*Options) screen.Screen { return devices.New() }},
	{"nodes", "Nodes", func(*Options) screen.Screen { return nodes.New() }},
	{"priority", "Priority", func(o *Options) screen.Screen { return priority.New(o.priority()) }},
	{"storage", "Storage", func(*Options) screen.Screen { return storage.New() }},
	{"cel", "CEL", func(*Options) screen.Screen { return cel.New() }},
	{"causes", "Causes", func(*Options) screen.Screen { return causes.New() }},
}

// pageTable lists the pages about one object, with the kinds of objects that they are about.
var pageTable = map[screen.Page]pageEntry{
	screen.Explain: {explanation.Kinds, explanation.New},
	screen.Detail:  {detail.Kinds, detail.New},
	screen.YAML:    {manifest.Kinds, manifest.New},
	screen.Fit:     {copies.Kinds, copies.New},
}

type pageEntry struct {
	kinds []screen.Kind
	make  func(screen.Ref) screen.Screen
}

// Views returns the names of the views, in the order of their numbers.
func Views() []string {
	names := make([]string, len(viewTable))
	for i, v := range viewTable {
		names[i] = v.name
	}
	return names
}
