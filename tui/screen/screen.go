package screen

import (
	"cmp"
	"strings"

	tea "charm.land/bubbletea/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Screen is what fills the space between header and status line. It is used by one goroutine only, and
// may change itself in Update.
//
// Messages that a screen gets: [Shown] when it becomes visible, [Changed] when the world has changed while it
// is visible, [Selected] when it shall point at an object, [Filter] while the user types a filter, [Search]
// while the user types what to look for, keys, mouse events with Y counted from the top of the screen, pasted
// text, and the results of its Jobs.
type Screen interface {
	// Update takes in a message. It must neither search nor wait.
	Update(w *World, msg tea.Msg) tea.Cmd
	// View draws at most height lines of at most width columns. It must neither search nor wait, nor do
	// work that grows with the cluster.
	View(w *World, width, height int) string
	// Plain is all that the screen has to show, as text of any height. If width is 0, lines may have any
	// width.
	Plain(w *World, width int) string
	// State is what the screen is about and what can be done with it at the moment.
	State() State
}

// State is what a Screen is about, and what can be done with it at the moment. What it cannot do is zero.
type State struct {
	// Keys are the keys of this screen besides those that mean the same everywhere.
	Keys Keys
	// Selection is the object that keys such as explain are about: the one at the cursor, or the one that a
	// link under the cursor leads to. It is the zero Ref if there is none.
	Selection Ref
	// Status is a few words for the end of the status line, such as "214 claims".
	Status string
	// Typing says that the screen takes text: it gets every key but ctrl+c.
	Typing bool
	// Filters says that the content can be narrowed with the filter line, Filter is what is in force, and
	// FilterHint says in a few words what it takes if that is not words and comparisons of columns.
	Filters            bool
	Filter, FilterHint string
	// Searches says that the user can look for text, and Search is what is looked for.
	Searches bool
	Search   string
	// Arrangement says in a few words how the content is arranged, if there is anything to say.
	Arrangement string
	// Unsettled says that Selection can be about to become another one, because the rows that the user has
	// asked for are still being worked out. It must become false by itself.
	Unsettled bool
	// Marked are the objects of the marked rows, in the order of the rows; Unmark takes all marks away.
	Marked []Ref
	Unmark func()
	// Suppositions are the changes that the screen is about. There are none as long as they are not known.
	Suppositions []Change
	// Header says that the screen begins with a rule of its own, so that none is needed above it.
	Header bool
	// CopyText is what the copy key takes, if that is not the name of the selection.
	CopyText func() string
}

// Kind is a kind of object.
type Kind string

// kindWords are kinds of objects as people call them, and kubectl dra takes them.
var kindWords = map[Kind]string{
	Claim: "claim", Template: "template", Pod: "pod", Node: "node", Device: "device", Pool: "pool",
	Class: "class", TaintRule: "rule", Driver: "driver", PriorityLevel: "level",
	ClusterQueue: "clusterqueue", QueuedWorkload: "workload",
}

// Word returns the kind as people call it. It is safe to show.
func (k Kind) Word() string { return cmp.Or(kindWords[k], inspect.Sanitize(string(k))) }

// The kinds of objects that screens can point at.
const (
	None            Kind = ""
	Claim           Kind = "ResourceClaim"
	Template        Kind = "ResourceClaimTemplate"
	Pod             Kind = "Pod"
	Node            Kind = "Node"
	Device          Kind = "Device" // Name is driver/pool/device
	Pool            Kind = "Pool"   // Name is driver/pool
	Class           Kind = "DeviceClass"
	TaintRule       Kind = "DeviceTaintRule"
	Driver          Kind = "Driver" // Name is that of the driver
	Namespace       Kind = "Namespace"
	PriorityLevel   Kind = "PriorityLevelConfiguration"
	StorageCapacity Kind = "CSIStorageCapacity"
	ClusterQueue    Kind = "ClusterQueue"
	QueuedWorkload  Kind = "Workload" // of Kueue
)

// Ref names an object. It comes from the cluster: Sanitize it before it is shown.
type Ref struct {
	Kind            Kind
	Namespace, Name string
}

// RefsOf are objects of a kind.
func RefsOf[T metav1.Object](kind Kind, objects []T) []Ref {
	return words.Each(objects, func(o T) Ref { return Ref{Kind: kind, Namespace: o.GetNamespace(), Name: o.GetName()} })
}

// String returns "namespace/name", or the name of an object without a namespace.
func (r Ref) String() string {
	if r.Namespace == "" {
		return r.Name
	}
	return r.Namespace + "/" + r.Name
}

// Short is the name by which people know the object: a device is named by its pool, a driver without its
// domain. It is safe to show.
func (r Ref) Short() string {
	switch r.Kind {
	case Device:
		id := DeviceID(r)
		return inspect.Sanitize(id.Pool + "/" + id.Device)
	case Driver:
		return ShortDriver(r.Name)
	}
	return inspect.Sanitize(r.String())
}

// Link is the Ref as the link of a span, which ParseLink reads.
func (r Ref) Link() string { return string(r.Kind) + "\x00" + r.Namespace + "\x00" + r.Name }

// ParseLink reads what Link has written. Of anything else it returns the zero Ref.
func ParseLink(link string) Ref {
	kind, rest, _ := strings.Cut(link, "\x00")
	namespace, name, ok := strings.Cut(rest, "\x00")
	if !ok {
		return Ref{}
	}
	return Ref{Kind: Kind(kind), Namespace: namespace, Name: name}
}

// LinkTo is a text that leads to an object. The text is sanitised.
func LinkTo(r Ref, text string) styled.Span {
	return styled.Span{Text: inspect.Sanitize(text), Role: styled.Name, Link: r.Link()}
}
