package selector

import (
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
)

// When a cluster changes, most devices stay what they are: the same objects, often in the same places. A
// bench that is continued takes over what the one before has read of them, and reads only the others.

// Continue returns a bench for other devices, those of a later snapshot of the same cluster. What is known
// of devices that are the same objects as before is kept. The bench it continues stays as it is.
func (b *Bench) Continue(subjects []Subject) *Bench {
	next := NewBench(b.cache, subjects)
	if slices.Equal(subjects, b.columns.subjects) {
		next.inventoryOnce.Do(func() { next.inventory = b.Inventory() })
	}
	from := b.columns.find(subjects)
	next.columns.take(&b.columns, from)
	return next
}

// find says for each subject where it is among those of the columns, or -1.
func (c *columns) find(subjects []Subject) []int {
	var places map[*resourcev1.Device]int
	from := make([]int, len(subjects))
	next := 0
	for i := range subjects {
		s := &subjects[i]
		if next >= len(c.subjects) || c.subjects[next] != *s {
			if places == nil {
				places = make(map[*resourcev1.Device]int, len(c.subjects))
				for j := range c.subjects {
					places[c.subjects[j].Device] = j
				}
			}
			j, ok := places[s.Device]
			if !ok || c.subjects[j].Driver != s.Driver {
				from[i] = -1
				continue
			}
			next = j
		}
		from[i] = next
		next++
	}
	return from
}

// take takes over the columns of others; from says where each subject is among theirs.
func (c *columns) take(other *columns, from []int) {
	other.mu.Lock()
	base, odd := other.base, other.odd
	var fields []Field
	columns := []*column{base}
	for f, column := range other.fields {
		if !keptValues.Exceeded(column.values.size(), len(from)) {
			fields = append(fields, f)
			columns = append(columns, column)
		}
	}
	other.mu.Unlock()
	if base == nil || keptValues.Exceeded(base.values.size(), len(from)) {
		return
	}
	var read []int // what cannot be converted is numbered by its place, so it is read again
	for i, j := range from {
		if j < 0 || odd[j] {
			read = append(read, i)
		}
	}
	shards := readAll(c.subjects, func(i int) int { return read[i] }, len(read), fields)
	c.fields = map[Field]*column{}
	c.base = columns[0].move(from, read, shards, 0)
	for i, f := range fields {
		c.fields[f] = columns[i+1].move(from, read, shards, i+1)
	}
	c.odd = make([]bool, len(from))
	at := 0
	for i := range shards {
		for _, is := range shards[i].odd {
			c.odd[read[at]] = is
			at++
		}
	}
}

// move returns the column with its numbers in other places, and those in read from the shards.
func (c *column) move(from, read []int, shards []shard, number int) *column {
	out := &column{of: make([]uint32, len(from)), values: c.values}
	for i, j := range from {
		if j >= 0 {
			out.of[i] = c.of[j]
		}
	}
	at := 0
	out.values.join(shards, number, func(id uint32) {
		out.of[read[at]] = id
		at++
	})
	return out
}
