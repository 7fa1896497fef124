package checkup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Notice is something that a driver has done to what it publishes.
type Notice struct {
	At       time.Time
	Severity Severity
	// Subject is what it is about, in words: "pool gpu.example.com/n1". Detail says what has happened. Both
	// quote the cluster.
	Subject, Detail string
}

// Watch looks at what a driver publishes while it does so. What happens between two snapshots it sees only as
// far as it shows in the second.
type Watch struct {
	driver string
	pools  map[inspect.PoolID]*publication
	fields map[string]bool // attributes and capacities of all its devices, when it last had any; nil before that
}

// NewWatch returns a watch of a driver that has seen nothing yet.
func NewWatch(driver string) *Watch {
	return &Watch{driver: driver, pools: map[inspect.PoolID]*publication{}}
}

// publication is what a pool was like.
type publication struct {
	slices     []*resourcev1.ResourceSlice // of the newest generation, sorted by name
	generation int64
	incomplete time.Time   // since when; zero if it is complete
	repeated   []time.Time // when it was published again as it was
}

const (
	// restless is how often a pool may be published again as it was, within churnWindow.
	restless    = 3
	churnWindow = time.Minute
)

// Next takes in a snapshot of a later moment, and returns what has happened since the one before, in the
// order of pools.
func (w *Watch) Next(s *inspect.Snapshot) []Notice {
	c := &comparison{Watch: w, s: s, at: s.Time(), first: w.fields == nil, dropped: map[string][]string{}}
	pools := map[inspect.PoolID][]*resourcev1.ResourceSlice{}
	var order []inspect.PoolID
	for _, slice := range s.Objects().Slices { // without the taints of rules, which are not the driver's
		if id := inspect.PoolOf(slice); slice.Spec.Driver == w.driver {
			if pools[id] == nil {
				order = append(order, id)
			}
			pools[id] = append(pools[id], slice)
		}
	}
	slices.SortFunc(order, inspect.PoolID.Compare)
	for id := range w.pools {
		if pools[id] == nil {
			c.tell(Warning, id, "it is gone")
			delete(w.pools, id)
		}
	}
	fields, devices := map[string]bool{}, 0
	for _, id := range order {
		newest := inspect.NewestSlices(pools[id])
		w.pools[id] = c.pool(id, w.pools[id], newest)
		gatherFields(fields, newest)
		for _, slice := range newest {
			devices += len(slice.Spec.Devices)
		}
	}
	if devices > 0 { // else nothing is known of what the driver will publish
		c.lost(fields)
		w.fields = fields
	}
	return c.notices
}

// comparison is one look.
type comparison struct {
	*Watch
	s       *inspect.Snapshot
	at      time.Time
	first   bool
	notices []Notice
	// dropped are the devices that are still there and no longer have a field, by its name, in the order of
	// pools.
	dropped map[string][]string
}

func (c *comparison) tell(severity Severity, id inspect.PoolID, format string, args ...any) {
	c.notices = append(c.notices, Notice{c.at, severity, "pool " + id.String(), fmt.Sprintf(format, args...)})
}

// pool compares a pool with what it was like before, which may be nil.
func (c *comparison) pool(id inspect.PoolID, before *publication, newest []*resourcev1.ResourceSlice) *publication {
	now := &publication{slices: newest, generation: newest[0].Spec.Pool.Generation}
	if before == nil {
		before = &publication{generation: now.generation, slices: newest}
		c.tell(Note, id, "generation %d has %s with %s", now.generation, words.Count(len(newest), "slice"), words.Count(len(devicesOf(newest)), "device"))
	}
	now.incomplete, now.repeated = before.incomplete, before.repeated
	wanted := newest[0].Spec.Pool.ResourceSliceCount
	complete := int64(len(newest)) == wanted
	c.changes(id, before, now)
	switch {
	case !complete && before.incomplete.IsZero():
		now.incomplete = c.at
		c.tell(Warning, id, "generation %d has %d of %s, so nobody can use it", now.generation, len(newest), words.Count(int(wanted), "slice"))
	case complete && !before.incomplete.IsZero():
		now.incomplete = time.Time{}
		c.tell(Note, id, "generation %d is complete, after %s", now.generation, c.at.Sub(before.incomplete).Round(100*time.Millisecond))
	}
	return now
}

// changes tells what differs between two looks at a pool.
func (c *comparison) changes(id inspect.PoolID, before, now *publication) {
	if before.generation > now.generation {
		c.tell(Error, id, "its generation went back from %d to %d: while slices of the higher one are around, they count", before.generation, now.generation)
	}
	old, fresh := devicesOf(before.slices), devicesOf(now.slices)
	var added, removed, changed []string
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		was, known := old[name]
		switch {
		case !known:
			added = append(added, name)
		case !equality.Semantic.DeepEqual(was, fresh[name]):
			changed = append(changed, name)
			c.drop(id, was, fresh[name])
			if a, b := identity(was), identity(fresh[name]); a != "" && b != "" && a != b {
				c.tell(Warning, id, "device %s is other hardware than before: %s instead of %s; claims that hold the name hold that now", name, b, a)
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if fresh[name] == nil {
			removed = append(removed, name)
		}
	}
	switch same := len(added)+len(removed)+len(changed) == 0; {
	case same && before.generation != now.generation:
		c.repeated(id, now)
	case !same:
		c.tell(Note, id, "generation %d: %s", now.generation, difference(added, removed, changed))
		if before.generation == now.generation && len(now.slices) > 1 && len(added)+len(removed) > 0 {
			c.tell(Warning, id, "its devices changed without a new generation: the scheduler may see half of the change")
		}
	}
}

// repeated counts that a pool was published again as it was.
func (c *comparison) repeated(id inspect.PoolID, now *publication) {
	now.repeated = slices.DeleteFunc(append(slices.Clone(now.repeated), c.at), func(t time.Time) bool { return c.at.Sub(t) > churnWindow })
	if n := len(now.repeated); n >= restless {
		c.tell(Warning, id, "it was published %d times within %s without a change: each time the scheduler looks at all that waits again", n, churnWindow)
	}
}

// difference says in a few words how devices changed.
func difference(added, removed, changed []string) string {
	var parts []string
	for _, p := range []struct {
		what  string
		names []string
	}{{"new", added}, {"gone", removed}, {"changed", changed}} {
		if len(p.names) > 0 {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", words.Count(len(p.names), "device"), p.what, words.Shorten(p.names, 3)))
		}
	}
	return strings.Join(parts, ", ")
}

// drop notes what a device no longer has. Selectors that read it fail at that device, whatever others have.
func (c *comparison) drop(id inspect.PoolID, before, now *resourcev1.Device) {
	has := map[string]bool{}
	fieldsOf(has, id.Driver, now)
	had := map[string]bool{}
	fieldsOf(had, id.Driver, before)
	for name := range had {
		if !has[name] {
			c.dropped[name] = append(c.dropped[name], id.Pool+"/"+now.Name)
		}
	}
}

// lost tells of attributes and capacities that no device has any more, of those that only some devices have
// lost and selectors read, and of these selectors.
func (c *comparison) lost(fields map[string]bool) {
	if c.first {
		return
	}
	gone := map[string]bool{}
	for name := range c.fields {
		gone[name] = !fields[name]
	}
	for name := range c.dropped {
		gone[name] = gone[name] || fields[name]
	}
	maps.DeleteFunc(gone, func(_ string, is bool) bool { return !is })
	if len(gone) == 0 {
		return
	}
	readers := c.readers()
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		detail, by := "no device has it any more", readers[name]
		if fields[name] {
			if len(by) == 0 {
				continue // a device may well have less than others
			}
			lacking := c.dropped[name]
			detail = fmt.Sprintf("%s no longer %s it (%s)", words.Count(len(lacking), "device"), words.Plural(len(lacking), "has", "have"), words.Shorten(lacking, 3))
		}
		if len(by) > 0 {
			detail += "; it is read by " + words.Shorten(by, 3)
		}
		c.notices = append(c.notices, Notice{c.at, Warning, "driver " + c.driver + ", " + name, detail})
	}
}

// readers are the classes, templates and claims whose selectors read a field, by its name.
func (c *comparison) readers() map[string][]string {
	out := map[string][]string{}
	cache := scheduler.NewCluster(c.s, scheduler.Options{}).Selectors()
	v := &visit{s: c.s}
	for _, f := range v.filters() {
		for _, expression := range expressions(f.selectors[len(f.selectors)-f.own:]) {
			for _, field := range cache.Fields(expression) {
				name := fieldName(field.Kind == "capacity", field.Domain+"/"+field.Name)
				if who := subjectOf(f.object); !slices.Contains(out[name], who) {
					out[name] = append(out[name], who)
				}
			}
		}
	}
	return out
}

func fieldName(capacity bool, name string) string {
	if capacity {
		return "capacity " + name
	}
	return "attribute " + name
}

// gatherFields adds the full names of what the devices have.
func gatherFields(to map[string]bool, of []*resourcev1.ResourceSlice) {
	for _, slice := range of {
		for i := range slice.Spec.Devices {
			fieldsOf(to, slice.Spec.Driver, &slice.Spec.Devices[i])
		}
	}
}

// fieldsOf adds the full names of what a device of a driver has.
func fieldsOf(to map[string]bool, driver string, d *resourcev1.Device) {
	full := func(name resourcev1.QualifiedName) string {
		if strings.Contains(string(name), "/") {
			return string(name)
		}
		return driver + "/" + string(name)
	}
	for name := range d.Attributes {
		to[fieldName(false, full(name))] = true
	}
	for name := range d.Capacity {
		to[fieldName(true, full(name))] = true
	}
}

// devicesOf are the devices of slices by name.
func devicesOf(of []*resourcev1.ResourceSlice) map[string]*resourcev1.Device {
	out := map[string]*resourcev1.Device{}
	for _, slice := range of {
		for i := range slice.Spec.Devices {
			out[slice.Spec.Devices[i].Name] = &slice.Spec.Devices[i]
		}
	}
	return out
}

// identity is what tells which hardware a device is, or "".
func identity(d *resourcev1.Device) string {
	if all := identities(d); len(all) > 0 {
		return all[0]
	}
	return ""
}
