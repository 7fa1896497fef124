package output

import (
	"cmp"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/storage"
)

// Storage is an item of a StorageList: what is left for one StorageClass on one set of nodes.
type Storage struct {
	Listed
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	StorageClass string `json:"storageClass"`
	// Capacity and MaximumVolumeSize are absent when the driver does not say.
	Capacity          string `json:"capacity,omitempty"`
	MaximumVolumeSize string `json:"maximumVolumeSize,omitempty"`
	// Nodes are those that can reach the storage.
	Nodes []string `json:"nodes"`
	// NodeTopology is as in the object: absent selects no node, {} selects all.
	NodeTopology *metav1.LabelSelector `json:"nodeTopology,omitempty"`
	// Error says why NodeTopology selects nothing: it is invalid.
	Error string `json:"error,omitempty"`
	Age   string `json:"age"`
	// Created is RFC 3339, or empty.
	Created string `json:"created,omitempty"`
}

// StorageCapacities lists the storage capacities of a snapshot, in one namespace or in all ("").
func StorageCapacities(s *inspect.Snapshot, namespace string) *List {
	list := NewList("StorageList", "csistoragecapacity.storage.k8s.io", storageTable)
	for _, c := range storage.Capacities(s) {
		o := c.Object
		if namespace != "" && o.Namespace != namespace {
			continue
		}
		item := &Storage{
			Namespace: o.Namespace, Name: o.Name, StorageClass: c.Class, Nodes: words.Strings(c.Nodes), NodeTopology: o.NodeTopology,
			Age: age(o.CreationTimestamp, s.Time()), Created: Timestamp(o.CreationTimestamp),
			Listed: Listed{Meta{Namespace: o.Namespace, Name: o.Name, Labels: o.Labels, Created: o.CreationTimestamp}},
		}
		if c.Total != nil {
			item.Capacity = c.Total.String()
		}
		if c.Largest != nil {
			item.MaximumVolumeSize = c.Largest.String()
		}
		if c.Err != nil {
			item.Error = c.Err.Error()
		}
		list.Items = append(list.Items, item)
	}
	return list
}

// shownNodes is how many nodes a table names; more are counted.
const shownNodes = 3

var storageTable = Table{
	Namespaced: true,
	Columns: []Column{
		{Header: "NAME"}, {Header: "STORAGECLASS"}, {Header: "CAPACITY"}, {Header: "MAX-VOLUME"}, {Header: "NODES", Cut: CutList},
		{Header: "TOPOLOGY", Cut: CutText, Rank: 1}, {Header: "AGE"},
	},
	Row: func(item Item) []string {
		s := item.(*Storage)
		nodes := OrNone(strings.Join(s.Nodes, ","))
		if len(s.Nodes) > shownNodes {
			nodes = fmt.Sprintf("%d nodes", len(s.Nodes))
		}
		return []string{s.Name, s.StorageClass, cmp.Or(s.Capacity, "<unknown>"), cmp.Or(s.MaximumVolumeSize, "<unknown>"), nodes, s.topology(), s.Age}
	},
}

func (s *Storage) topology() string {
	switch {
	case s.Error != "":
		return s.Error
	case s.NodeTopology == nil:
		return "<none>"
	case len(s.NodeTopology.MatchLabels)+len(s.NodeTopology.MatchExpressions) == 0:
		return "all nodes"
	}
	return metav1.FormatLabelSelector(s.NodeTopology)
}
