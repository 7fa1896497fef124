package bench

import (
	"runtime"
	"strconv"
	"sync"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator/selector"
)

// Trying an expression on many devices is fast because most devices look the same to it. What an
// expression can read of the devices is kept in columns, one for each field: for every device a small
// number, equal for devices on which the field has the same value. The devices are then partitioned
// by the columns of the fields that an expression reads, and one device of each part is evaluated for
// all of them.
//
//	device   driver  model  memory      model == "A100" reads driver and model:
//	gpu-0      0       1       1          part 0: gpu-0, gpu-1
//	gpu-1      0       1       2          part 1: gpu-2
//	gpu-2      0       2       2
//
// The driver always counts, because it decides to which domain a bare name belongs.

// Subject is a device of a driver that an expression is tried on.
type Subject struct {
	Driver string
	Device *resourcev1.Device
}

// columns are the columns of a fixed list of subjects, filled as expressions need them. They may be
// used by several goroutines at once. A column has a number for each subject, equal for equal values.
type columns struct {
	subjects []Subject

	mu     sync.Mutex
	base   []uint32 // driver, sharing, and a number of its own for what cannot be converted
	fields map[selector.Field][]uint32
	odd    []bool // which cannot be converted; filled with base
}

// everything is the field that stands for all that can be read.
var everything = selector.Field{}

// fieldsOf returns the columns that an expression reads.
func fieldsOf(r selector.Reads) []selector.Field {
	if r.Everything {
		return []selector.Field{everything}
	}
	return r.Fields
}

// partition is a division of subjects into parts that look the same.
type partition struct {
	of    []uint32 // the part of each subject
	first []int    // a subject of each part
}

// divide returns the coarsest partition whose parts agree in everything that is read.
func (c *columns) divide(r selector.Reads) partition {
	of, columns := c.get(fieldsOf(r))
	for _, column := range columns {
		of = refine(of, column)
	}
	p := partition{of: of}
	for i, part := range of {
		if int(part) == len(p.first) { // parts are numbered in the order of their first subjects
			p.first = append(p.first, i)
		}
	}
	return p
}

// refine divides the parts of a by b. The result is numbered in the order of first subjects.
func refine(a, b []uint32) []uint32 {
	out := make([]uint32, len(a))
	type pair struct{ a, b uint32 }
	ids := map[pair]uint32{}
	last, id := pair{}, uint32(0)
	for i := range a {
		key := pair{a[i], b[i]}
		if i == 0 || key != last {
			var ok bool
			if id, ok = ids[key]; !ok {
				id = uint32(len(ids)) //nolint:gosec // there are fewer devices than that
				ids[key] = id
			}
			last = key
		}
		out[i] = id
	}
	return out
}

// get returns the base column and those of the fields, after computing the ones that are not there yet.
func (c *columns) get(fields []selector.Field) (base []uint32, out [][]uint32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var wanted []selector.Field
	for _, f := range fields {
		if _, ok := c.fields[f]; !ok {
			wanted = append(wanted, f)
		}
	}
	if len(wanted) > 0 || c.base == nil {
		c.read(wanted)
	}
	for _, f := range fields {
		out = append(out, c.fields[f])
	}
	return c.base, out
}

// read fills the base column and those of the fields. What takes the time is to fetch the devices from
// memory, so all columns are filled in one pass, by all processors.
func (c *columns) read(fields []selector.Field) {
	n := len(c.subjects)
	shards := make([]shard, min(runtime.GOMAXPROCS(0), 1+n/1024))
	var wg sync.WaitGroup
	for i := range shards {
		from, to := i*n/len(shards), (i+1)*n/len(shards)
		wg.Go(func() { shards[i].read(c.subjects[from:to], from, fields) })
	}
	wg.Wait()
	if c.fields == nil {
		c.fields = map[selector.Field][]uint32{}
	}
	if c.base == nil { // others may read it by now
		c.base = join(shards, 0, n)
		c.odd = make([]bool, 0, n)
		for i := range shards {
			c.odd = append(c.odd, shards[i].odd...)
		}
	}
	for i, f := range fields {
		c.fields[f] = join(shards, i+1, n)
	}
}

// join puts the parts of a column together and makes their numbers those of one interner. Equal values
// get equal numbers, in the order in which they come.
func join(shards []shard, number, n int) []uint32 {
	out := make([]uint32, 0, n)
	all := interner{ids: map[string]uint32{}}
	for i := range shards {
		part := &shards[i].interners[number]
		ids := make([]uint32, len(part.keys))
		for local, key := range part.keys {
			ids[local] = all.id([]byte(key))
		}
		for _, local := range shards[i].columns[number] {
			out = append(out, ids[local])
		}
	}
	return out
}

// interner numbers distinct byte strings in the order in which they come.
type interner struct {
	ids  map[string]uint32
	keys []string
	last uint32 // the number of what came last, which often comes again
}

func (n *interner) id(key []byte) uint32 {
	if len(n.keys) > 0 && n.keys[n.last] == string(key) {
		return n.last
	}
	id, ok := n.ids[string(key)]
	if !ok {
		id = uint32(len(n.keys)) //nolint:gosec // there are fewer devices than that
		n.keys = append(n.keys, string(key))
		n.ids[n.keys[id]] = id
	}
	n.last = id
	return id
}

// shard reads a part of the subjects. Column 0 is the base, the others those of the fields.
type shard struct {
	columns   [][]uint32
	interners []interner
	odd       []bool
	versions  map[string]bool // parsing one takes longer than all the rest
	buf       []byte
	// wanted are the single attributes for the driver of the subject at hand.
	driver string
	wanted []wanted
}

// wanted is an attribute by both of its names; bare is "" when only the qualified one counts.
type wanted struct {
	bare, qualified resourcev1.QualifiedName
	column          int
}

// attribute is one that a device may have.
type attribute struct {
	value resourcev1.DeviceAttribute
	set   bool
}

// read reads subjects, the first of which has the number from.
func (s *shard) read(subjects []Subject, from int, fields []selector.Field) {
	s.versions = map[string]bool{}
	s.columns, s.interners = make([][]uint32, len(fields)+1), make([]interner, len(fields)+1)
	for i := range s.columns {
		s.columns[i] = make([]uint32, len(subjects))
		s.interners[i].ids = map[string]uint32{}
	}
	s.odd = make([]bool, len(subjects))
	single := make([]bool, len(fields))
	for i, f := range fields {
		single[i] = f.Kind == "attributes" && f.Name != ""
	}
	found := make([]attribute, len(fields)+1)
	for i := range subjects {
		subject := &subjects[i]
		if i == 0 || subject.Driver != s.driver {
			s.want(subject.Driver, fields, single)
		}
		clear(found)
		convertible := s.scan(subject.Device, found)
		s.odd[i] = !convertible
		s.columns[0][i] = s.base(subject, from+i, convertible)
		for f := range fields {
			s.buf = s.buf[:0]
			switch {
			case !single[f]:
				reads := selector.Reads{Fields: fields[f : f+1], Everything: fields[f] == everything}
				s.buf = reads.Append(s.buf, subject.Driver, subject.Device)
			case found[f+1].set:
				s.buf = selector.AppendAttribute(s.buf, &found[f+1].value)
			}
			s.columns[f+1][i] = s.interners[f+1].id(s.buf)
		}
	}
}

func (s *shard) want(driver string, fields []selector.Field, single []bool) {
	s.driver, s.wanted = driver, s.wanted[:0]
	for i, f := range fields {
		if !single[i] {
			continue
		}
		w := wanted{qualified: resourcev1.QualifiedName(f.Domain + "/" + f.Name), column: i + 1}
		if f.Domain == driver {
			w.bare = resourcev1.QualifiedName(f.Name)
		}
		s.wanted = append(s.wanted, w)
	}
}

// scan finds the wanted attributes of a device and reports whether all can be converted. A qualified
// name hides a bare one.
func (s *shard) scan(device *resourcev1.Device, found []attribute) bool {
	ok := true
	for name, a := range device.Attributes {
		ok = ok && selector.ConvertibleAttribute(&a, s.version)
		for i := range s.wanted {
			w := &s.wanted[i]
			if name == w.qualified || name == w.bare && w.bare != "" && !found[w.column].set {
				found[w.column] = attribute{a, true}
			}
		}
	}
	return ok
}

// version is ValidVersion, each version once.
func (s *shard) version(v string) bool {
	ok, known := s.versions[v]
	if !known {
		ok = selector.ValidVersion(v)
		s.versions[v] = ok
	}
	return ok
}

// base numbers what always counts of a subject.
func (s *shard) base(subject *Subject, index int, convertible bool) uint32 {
	shared := subject.Device.AllowMultipleAllocations != nil && *subject.Device.AllowMultipleAllocations
	s.buf = strconv.AppendBool(selector.AppendString(s.buf[:0], subject.Driver), shared)
	if !convertible {
		s.buf = strconv.AppendInt(append(s.buf, '!'), int64(index), 10)
	}
	return s.interners[0].id(s.buf)
}
