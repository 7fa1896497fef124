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

// The signature of a node depends on a question only through what it reads of devices. So the nodes are
// sorted once for all questions that read the same, and a Cluster that follows another (Options.Like) looks
// only at the nodes that have changed since.

// maxKeptGroups is the number of different sets of fields for which a Cluster remembers the groups of nodes.
const maxKeptGroups = 8

// nodeGroups are the nodes of a snapshot by their signatures. They are not written once they were built.
type nodeGroups struct {
	key      string
	snapshot *inspect.Snapshot
	known    *signatureNumbers
	numbers  []int32 // by the index of the node
	groups   [][]int // indices of nodes with the same number, in the order of their first
}

// signatureNumbers numbers signatures, in no particular order.
type signatureNumbers struct {
	mu      sync.Mutex
	numbers map[string]int32
}

func newSignatureNumbers() *signatureNumbers { return &signatureNumbers{numbers: map[string]int32{}} }

func (n *signatureNumbers) of(signature []byte) int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	number, ok := n.numbers[string(signature)]
	if !ok {
		number = int32(len(n.numbers))
		n.numbers[string(signature)] = number
	}
	return number
}

func (n *signatureNumbers) len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.numbers)
}

// keptGroups are those that were used last, the latest first.
type keptGroups struct {
	mu     sync.Mutex
	tables []*nodeGroups
}

func (t *keptGroups) find(key string) *nodeGroups {
	t.mu.Lock()
	defer t.mu.Unlock()
	at := slices.IndexFunc(t.tables, func(table *nodeGroups) bool { return table.key == key })
	if at < 0 {
		return nil
	}
	table := t.tables[at]
	copy(t.tables[1:at+1], t.tables[:at])
	t.tables[0] = table
	return table
}

func (t *keptGroups) add(table *nodeGroups) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tables = slices.DeleteFunc(t.tables, func(other *nodeGroups) bool { return other.key == table.key })
	t.tables = slices.Insert(t.tables, 0, table)
	t.tables = t.tables[:min(len(t.tables), maxKeptGroups)]
}

func (t *keptGroups) clone() *keptGroups {
	t.mu.Lock()
	defer t.mu.Unlock()
	return &keptGroups{tables: slices.Clone(t.tables)}
}

// key identifies what the question reads.
func (signer *nodeSigner) key() string {
	fields := slices.Clone(signer.reads.Fields)
	slices.SortFunc(fields, compareFields)
	names := slices.Clone(signer.names)
	slices.Sort(names)
	return fmt.Sprintf("%t %q %q", signer.reads.Everything, fields, names)
}

// keptSignatures bounds the signatures that are known, for the nodes that there are.
var keptSignatures = selector.Bound{PerUse: 4, Spare: 1024}

// groupsOfAll sorts all nodes of the snapshot by their signatures for a question.
func (c *Cluster) groupsOfAll(ctx context.Context, signer *nodeSigner) (*nodeGroups, error) {
	key := signer.key()
	before := c.groups.find(key)
	if before != nil && before.snapshot == c.snapshot {
		return before, nil
	}
	nodes := c.snapshot.Nodes()
	table := &nodeGroups{key: key, snapshot: c.snapshot, numbers: make([]int32, len(nodes))}
	if before == nil || keptSignatures.Exceeded(before.known.len(), len(nodes)) {
		before = &nodeGroups{known: newSignatureNumbers()}
	}
	table.known = before.known
	if err := table.sign(ctx, signer, table.inherit(before)); err != nil {
		return nil, err
	}
	table.groups = groupsOf(table.numbers, table.known.len())
	c.groups.add(table)
	return table, nil
}

// inherit takes over the numbers of nodes that cannot look otherwise than before, and returns the others.
func (t *nodeGroups) inherit(before *nodeGroups) []int {
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

// sign finds out the signatures of some nodes.
func (t *nodeGroups) sign(ctx context.Context, first *nodeSigner, nodes []int) error {
	return Parallel((len(nodes)+chunk-1)/chunk, func(i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		signer := first.clone()
		mine := map[string]int32{}
		for _, n := range nodes[i*chunk : min((i+1)*chunk, len(nodes))] {
			pools, err := t.snapshot.PoolsAt(n)
			t.numbers[n] = signer.number(t.known, mine, t.snapshot.Nodes()[n], pools, err)
		}
		return nil
	})
}

// number returns the number of the signature of a node. mine has those that a worker has seen itself.
func (signer *nodeSigner) number(known *signatureNumbers, mine map[string]int32, node *corev1.Node, pools []*inspect.NodePool, err error) int32 {
	signature := signer.of(node, pools)
	if err != nil {
		signature = append(signer.buf[:0], "error "+node.Name...) // decided by itself
	}
	number, ok := mine[string(signature)]
	if !ok {
		number = known.of(signature)
		mine[string(signature)] = number
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
