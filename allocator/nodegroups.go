package allocator

import (
	"context"
	"fmt"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What nodes look like depends on a question only through what it reads of devices. So the nodes are
// sorted once for all questions that read the same, and a Cluster that follows another (Options.Like) looks
// only at the nodes that have changed since.

// maxLooks is the number of different sets of fields for which a Cluster remembers what nodes look like.
const maxLooks = 8

// lookTable says for every node of a snapshot what it looks like. It is not written once it was built.
type lookTable struct {
	key      string
	snapshot *inspect.Snapshot
	known    *lookNumbers
	numbers  []int32 // by the index of the node
	groups   [][]int // indices of nodes with the same number, in the order of their first
}

// lookNumbers numbers what nodes look like, in no particular order.
type lookNumbers struct {
	mu      sync.Mutex
	numbers map[string]int32
}

func newLookNumbers() *lookNumbers { return &lookNumbers{numbers: map[string]int32{}} }

func (n *lookNumbers) of(look []byte) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	number, ok := n.numbers[string(look)]
	if !ok {
		number = int32(len(n.numbers))
		n.numbers[string(look)] = number
	}
	return number
}

func (n *lookNumbers) len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.numbers)
}

// lookTables are the tables that were used last, the latest first.
type lookTables struct {
	mu     sync.Mutex
	tables []*lookTable
}

func (t *lookTables) find(key string) *lookTable {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.tables, func(table *lookTable) bool { return table.key == key })
	if at < 0 {
		return nil
	}
	table := t.tables[at]
	copy(t.tables[1:at+1], t.tables[:at])
	t.tables[0] = table
	return table
}

func (t *lookTables) add(table *lookTable) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tables = slices.DeleteFunc(t.tables, func(other *lookTable) bool { return other.key == table.key })
	t.tables = slices.Insert(t.tables, 0, table)
	t.tables = t.tables[:min(len(t.tables), maxLooks)]
}

func (t *lookTables) clone() *lookTables {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &lookTables{tables: slices.Clone(t.tables)}
}

// key identifies what the question reads.
func (l *look) key() string {
	fields := slices.Clone(l.reads.Fields)
	slices.SortFunc(fields, compareFields)
	names := slices.Clone(l.names)
	slices.Sort(names)
	return fmt.Sprintf("%t %q %q", l.reads.Everything, fields, names)
}

// keptLooks bounds the looks that are known, for the nodes that there are.
var keptLooks = selector.Bound{PerUse: 4, Spare: 1024}

// tableOf returns what all nodes of the snapshot look like to a question.
func (c *Cluster) tableOf(ctx context.Context, l *look) (*lookTable, error) {
	key := l.key()
	before := c.looks.find(key)
	if before != nil && before.snapshot == c.snapshot {
		return before, nil
	}
	nodes := c.snapshot.Nodes()
	table := &lookTable{key: key, snapshot: c.snapshot, numbers: make([]int32, len(nodes))}
	if before == nil || keptLooks.Exceeded(before.known.len(), len(nodes)) {
		before = &lookTable{known: newLookNumbers()}
	}
	table.known = before.known
	if err := table.look(ctx, l, table.inherit(before)); err != nil {
		return nil, err
	}
	table.groups = groupsOf(table.numbers, table.known.len())
	c.looks.add(table)
	return table, nil
}

// inherit takes over the numbers of nodes that cannot look otherwise than before, and returns the others.
func (t *lookTable) inherit(before *lookTable) []int {
	var others []int
	at := 0
	var old []*corev1.Node
	if before.snapshot != nil {
		old = before.snapshot.Nodes()
	}
	for i, node := range t.snapshot.Nodes() {
		for at < len(old) && old[at] != node && old[at].Name < node.Name {
			at++
		}
		if at < len(old) && t.snapshot.SameDevices(i, before.snapshot, at) {
			t.numbers[i] = before.numbers[at]
		} else {
			others = append(others, i)
		}
	}
	return others
}

// look finds out what some nodes look like.
func (t *lookTable) look(ctx context.Context, first *look, nodes []int) error {
	return Parallel((len(nodes)+chunk-1)/chunk, func(i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l := first.clone()
		mine := map[string]int32{}
		for _, n := range nodes[i*chunk : min((i+1)*chunk, len(nodes))] {
			pools, err := t.snapshot.PoolsAt(n)
			t.numbers[n] = l.number(t.known, mine, t.snapshot.Nodes()[n], pools, err)
		}
		return nil
	})
}

// number returns the number of what a node looks like. mine is what a worker has seen itself.
func (l *look) number(known *lookNumbers, mine map[string]int32, node *corev1.Node, pools []*inspect.NodePool, err error) int32 {
	look := l.of(node, pools)
	if err != nil {
		look = append(l.buf[:0], "error "+node.Name...) // decided by itself
	}
	number, ok := mine[string(look)]
	if !ok {
		number = known.of(look)
		mine[string(look)] = number
	}
	return number
}

// groupsOf puts the indices with the same number together. The numbers are less than a limit.
func groupsOf(numbers []int32, limit int) [][]int {
	counts := make([]int, limit)
	for _, n := range numbers {
		counts[n]++
	}
	backing := make([]int, len(numbers))
	at := make([]int, limit) // number -> index of the group + 1
	var groups [][]int
	for i, n := range numbers {
		if at[n] == 0 {
			groups = append(groups, backing[:0:counts[n]])
			backing = backing[counts[n]:]
			at[n] = len(groups)
		}
		group := &groups[at[n]-1]
		*group = append(*group, i)
	}
	return groups
}
