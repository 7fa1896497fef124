package output

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect/flowcontrol"
)

// APIVersion is the version of all wire types of this package.
const APIVersion = "kubectl-dra.dev/v1alpha1"

// Head is what every document begins with.
type Head struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// HeadOf begins a document of a kind.
func HeadOf(kind string) Head { return Head{APIVersion, kind} }

// Item is one entry of a List.
type Item interface {
	// Meta returns how the item is called and found.
	Meta() Meta
}

// Listed is what all items have in common.
type Listed struct {
	// Metadata has the name where objects of the API have it.
	Metadata Meta `json:"metadata"`
}

// Meta implements Item.
func (l *Listed) Meta() Meta { return l.Metadata }

// Meta is how an item is called and found.
type Meta struct {
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Aliases are further names by which a user may ask for the item.
	Aliases []string `json:"-"`
	// Common is the name by which most ask for the item and others like it. It is empty if that is Name.
	Common string `json:"-"`
	// Labels are those of the object behind the item.
	Labels map[string]string `json:"-"`
	// OtherLabels are those of the further objects where several are behind the item: the slices of a pool.
	OtherLabels []map[string]string `json:"-"`
	// Created is the zero time when it is not known.
	Created metav1.Time `json:"creationTimestamp,omitempty,omitzero"`
}

// Spoken is the name by which most ask for the item.
func (m Meta) Spoken() string { return cmp.Or(m.Common, m.Name) }

// Selected reports whether a selector selects an object behind the item.
func (m Meta) Selected(selector labels.Selector) bool {
	return selector.Matches(labels.Set(m.Labels)) || slices.ContainsFunc(m.OtherLabels, func(other map[string]string) bool {
		return selector.Matches(labels.Set(other))
	})
}

// List is a list of items of one kind.
type List struct {
	Head
	Items []Item `json:"items"`
	// Partial says what could not be read, where devices are counted: that many of them are free at most.
	Partial []string `json:"partial,omitempty"`
	// ServerConcurrency is set in a PriorityLevelList.
	ServerConcurrency *ServerConcurrency `json:"serverConcurrency,omitempty"`
	// DanglingFlowSchemas, in a PriorityLevelList, lead to levels that do not exist, so the server passes
	// over them.
	DanglingFlowSchemas []flowcontrol.Dangling `json:"danglingFlowSchemas,omitempty"`
	// Totals is set in an ExtendedResourceList: the sums over its items, by resource.
	Totals []ResourceTotal `json:"totals,omitempty"`
	// By says what the items of a UsageList are about, and Usage is what they come to.
	By    string      `json:"by,omitempty"`
	Usage *UsageTotal `json:"total,omitempty"`

	// Resource is what -o name prints before the slash.
	Resource string `json:"-"`
	// Table says how the items are shown to people.
	Table Table `json:"-"`

	sumUp func(*List) // see AddTotals
}

// NewList makes an empty list of a kind, which is printed as a table.
func NewList(kind, resource string, table Table) *List {
	return &List{Head: HeadOf(kind), Items: []Item{}, Resource: resource, Table: table}
}

// ListOf is a document of several answers.
type ListOf[T any] struct {
	Head
	Items []T `json:"items"`
}

// OneOrList is the only one of some answers, or a document of several or none.
func OneOrList[T any](kind string, items []T) any {
	if len(items) == 1 {
		return items[0]
	}
	return &ListOf[T]{Head: HeadOf(kind), Items: OrEmpty(items)}
}

// Keep drops the items for which keep is false.
func (l *List) Keep(keep func(Item) bool) { l.Items = OrEmpty(words.Keep(l.Items, keep)) }

// ServerConcurrency is the limit that the priority levels of a list share, in seats, and how it is known.
type ServerConcurrency struct {
	Limit int `json:"limit"`
	// Source is Flag, Server (its metrics) or Default.
	Source flowcontrol.ConcurrencySource `json:"source" enum:"flowcontrol.ConcurrencySource"`
}
