package selector

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	celgo "github.com/google/cel-go/cel"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/utils/ptr"
)

// Features are the feature gates that change the CEL environment.
type Features struct {
	ConsumableCapacity bool
	ListTypeAttributes bool
	// HideSharing says that expressions do not see allowMultipleAllocations, whatever a device says. It is so
	// for the stable allocator of the scheduler before 1.38.
	HideSharing bool
	// Lazy says that an attribute that cannot be read makes only those expressions fail that read it, and
	// that functions may be known that are not known here. It is so since 1.38.
	Lazy bool
}

// Cache compiles expressions, each distinct one once, and remembers what they say of devices. It may be
// used by several goroutines at once.
type Cache struct {
	features          cel.Features
	hideSharing, lazy bool
	library           *Library

	mu       sync.Mutex
	programs map[programKey]*Program
}

type programKey struct {
	expression string
	derived    bool
}

// NewCache returns an empty cache for a set of features, with a library of its own.
func NewCache(f Features) *Cache { return NewLibrary().Cache(f) }

// Fresh returns a cache that knows the same compiled expressions but has seen no devices.
func (c *Cache) Fresh() *Cache {
	return &Cache{features: c.features, hideSharing: c.hideSharing, lazy: c.lazy, library: c.library, programs: map[programKey]*Program{}}
}

// Selector returns the program of a device selector, an expression that must give a boolean.
func (c *Cache) Selector(expression string) *Program { return c.program(programKey{expression, false}) }

// Derived returns the program of a derived attribute, an expression that must give a string, an
// integer, a boolean, a version or a list of one of these.
func (c *Cache) Derived(expression string) *Program { return c.program(programKey{expression, true}) }

func (c *Cache) program(key programKey) *Program {
	c.mu.Lock()
	p, ok := c.programs[key]
	if !ok {
		p = &Program{source: c.library.source(c.features, key), hideSharing: c.hideSharing, lazy: c.lazy}
		c.programs[key] = p
	}
	c.mu.Unlock()
	return p
}

// Program is an expression, compiled when it is first needed, and what it says of devices.
type Program struct {
	*source
	hideSharing, lazy bool

	mu         sync.RWMutex
	matches    map[*resourcev1.Device]match
	projected  map[string]match // by driver and what the expression reads
	attributes map[*resourcev1.Device]derived
}

type match struct {
	ok  bool
	err error
}

type derived struct {
	attribute *resourcev1.DeviceAttribute
	err       error
}

// Match reports whether the device of a driver satisfies the selector. The error is either the
// compile error, a run-time error, or that of the context. The result is remembered by the address of
// the device, which therefore must not change.
func (p *Program) Match(ctx context.Context, driver string, device *resourcev1.Device) (bool, error) {
	p.mu.RLock()
	m, ok := p.matches[device]
	p.mu.RUnlock()
	if ok {
		return m.ok, m.err
	}
	if err := p.CompileError(); err != nil {
		return false, p.compileError(err)
	}
	key := string(p.Projection(make([]byte, 0, 64), driver, device, Convertible(device)))
	if key != "" {
		p.mu.RLock()
		m, ok = p.projected[key]
		p.mu.RUnlock()
	}
	if !ok {
		m.ok, _, m.err = p.Evaluate(ctx, driver, device, key != "")
		if ctx.Err() != nil {
			return m.ok, m.err // an interrupted evaluation says nothing about the device
		}
	}
	p.mu.Lock()
	if p.matches == nil || keptDevices.Exceeded(len(p.matches), 0) {
		p.matches, p.projected = map[*resourcev1.Device]match{}, map[string]match{}
	}
	p.matches[device] = m
	if key != "" {
		p.projected[key] = m
	}
	p.mu.Unlock()
	return m.ok, m.err
}

// Projection appends to a buffer what the expression sees of a device, so that equal bytes mean equal
// results. It appends nothing for a device that is unlike any other: one that is not [Convertible], which
// makes every expression fail in its own way, or since 1.38 some.
func (p *Program) Projection(buf []byte, driver string, device *resourcev1.Device, convertible bool) []byte {
	if !convertible && !p.lazy {
		return buf
	}
	buf = AppendString(buf, driver)
	buf = strconv.AppendBool(buf, ptr.Deref(p.shared(device), false))
	reads := p.Reads()
	return reads.Append(buf, driver, device)
}

// Attribute evaluates a derived attribute for a device of a driver. The result is remembered by the
// address of the device, which therefore must not change.
func (p *Program) Attribute(ctx context.Context, driver string, device *resourcev1.Device) (*resourcev1.DeviceAttribute, error) {
	p.mu.RLock()
	d, ok := p.attributes[device]
	p.mu.RUnlock()
	if ok {
		return d.attribute, d.err
	}
	if err := p.CompileError(); err != nil {
		return nil, p.compileError(err)
	}
	input, unread := p.input(driver, device)
	d.attribute, _, d.err = p.guarded().EvaluateDerivedAttribute(ctx, input)
	d.err = p.unless(unread, d.err)
	if ctx.Err() == nil {
		p.mu.Lock()
		if p.attributes == nil || keptDevices.Exceeded(len(p.attributes), 0) {
			p.attributes = map[*resourcev1.Device]derived{}
		}
		p.attributes[device] = d
		p.mu.Unlock()
	}
	return d.attribute, d.err
}

// shared is what the expression sees of whether a device can be shared.
func (p *Program) shared(device *resourcev1.Device) *bool {
	if p.hideSharing {
		return nil
	}
	return device.AllowMultipleAllocations
}

// input prepares a device for evaluation. A driver may publish an attribute or capacity both as "x"
// and as "<driver>/x"; which of the two the scheduler sees then depends on the order of a Go map. So
// that the same question always gets the same answer, the qualified one counts here, as it always does since
// 1.38. The boolean says that an attribute was left out that the expression reads and that cannot be read.
func (p *Program) input(driver string, device *resourcev1.Device) (cel.Device, bool) {
	in := cel.Device{
		Driver:                   driver,
		AllowMultipleAllocations: p.shared(device),
		Attributes:               withoutShadowed(driver, device.Attributes),
		Capacity:                 withoutShadowed(driver, device.Capacity),
	}
	if !p.lazy || Convertible(device) {
		return in, false
	}
	reads, unread := p.Reads(), false
	in.Attributes = maps.Clone(in.Attributes)
	maps.DeleteFunc(in.Attributes, func(name resourcev1.QualifiedName, a resourcev1.DeviceAttribute) bool {
		whole := FieldOf("attributes", driver, name)
		whole.Name = ""
		drop := !convertible(&a)
		unread = unread || drop && (reads.Everything || slices.Contains(reads.Fields, whole) || slices.Contains(reads.Fields, FieldOf("attributes", driver, name)))
		return drop
	})
	return in, unread
}

// Unclear says that it is not known here what an expression gives in a release that is newer than the CEL of
// this program.
type Unclear struct{ Why string }

func (e *Unclear) Error() string { return "not decided: " + e.Why }

// unless returns the error of an evaluation for which an attribute was left out that cannot be read. The
// scheduler fails where it comes to it, so an evaluation that failed without it fails there, too; one that
// did not may.
func (p *Program) unless(unread bool, err error) error {
	if unread && err == nil {
		return &Unclear{"the expression reads an attribute whose value cannot be read"}
	}
	return err
}

// compileError is the error of an expression that does not compile here.
func (p *Program) compileError(err error) error {
	if p.lazy && strings.Contains(err.Error(), "undeclared reference") {
		return &Unclear{"the CEL of the release may know a function that this program does not: " + err.Error()}
	}
	return err
}

// Seen is a device as expressions see it.
func (c *Cache) Seen(device *resourcev1.Device) *resourcev1.Device {
	if !c.hideSharing || device.AllowMultipleAllocations == nil {
		return device
	}
	out := *device
	out.AllowMultipleAllocations = nil
	return &out
}

// prepared holds what is given to a program of a device. It is used again, for the maps are large and the
// evaluation copies what it needs out of them.
type prepared struct {
	attributes map[resourcev1.QualifiedName]resourcev1.DeviceAttribute
	capacity   map[resourcev1.QualifiedName]resourcev1.DeviceCapacity
}

var prepareds = sync.Pool{New: func() any {
	return &prepared{
		map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}, map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{},
	}
}}

// Evaluate is Match without remembering the result, and says what the evaluation cost. The caller says
// whether the device is [Convertible].
func (p *Program) Evaluate(ctx context.Context, driver string, device *resourcev1.Device, convertible bool) (match bool, cost uint64, err error) {
	if err := p.CompileError(); err != nil {
		return false, 0, p.compileError(err)
	}
	match, details, err := p.evaluate(ctx, driver, device, convertible)
	if details != nil && details.ActualCost() != nil {
		cost = *details.ActualCost()
	}
	if unclear := (*Unclear)(nil); errors.As(err, &unclear) {
		return match, cost, err
	}
	return match, cost, cel.EnhanceRuntimeError(err)
}

// evaluate gives the program only what it reads of a device that can be converted, which is all that its
// result, its error and its cost depend on: to convert a device takes longer than to evaluate it.
func (p *Program) evaluate(ctx context.Context, driver string, device *resourcev1.Device, convertible bool) (bool, *celgo.EvalDetails, error) {
	reads := p.Reads()
	wholeDomain := func(f Field) bool { return f.Name == "" }
	if !convertible || p.lazy && !Convertible(device) || reads.Everything || slices.ContainsFunc(reads.Fields, wholeDomain) {
		input, unread := p.input(driver, device)
		match, details, err := p.guarded().DeviceMatches(ctx, input)
		return match, details, p.unless(unread, err)
	}
	seen := prepareds.Get().(*prepared)
	defer prepareds.Put(seen)
	clear(seen.attributes)
	clear(seen.capacity)
	for i := range reads.Fields {
		f := &reads.Fields[i]
		if f.Kind == "attributes" {
			copyField(seen.attributes, device.Attributes, f, driver)
		} else {
			copyField(seen.capacity, device.Capacity, f, driver)
		}
	}
	return p.guarded().DeviceMatches(ctx, cel.Device{
		Driver: driver, AllowMultipleAllocations: p.shared(device), Attributes: seen.attributes, Capacity: seen.capacity,
	})
}

// copyField copies a field if the device has it.
func copyField[V any](to, from map[resourcev1.QualifiedName]V, f *Field, driver string) {
	v, ok := find(from, f, driver)
	switch {
	case !ok:
	case f.Domain == driver:
		to[resourcev1.QualifiedName(f.Name)] = v
	default:
		to[resourcev1.QualifiedName(f.Domain+"/"+f.Name)] = v
	}
}

func withoutShadowed[V any](driver string, m map[resourcev1.QualifiedName]V) map[resourcev1.QualifiedName]V {
	shadowed := 0
	for name := range m {
		if _, twice := m[unqualified(driver, name)]; twice {
			shadowed++
		}
	}
	if shadowed == 0 {
		return m
	}
	out := make(map[resourcev1.QualifiedName]V, len(m)-shadowed)
	for name, value := range m {
		if _, twice := m[resourcev1.QualifiedName(driver)+"/"+name]; !twice {
			out[name] = value
		}
	}
	return out
}

// unqualified returns the bare form of a name in the domain of the driver, or "", which is no name. Most
// names are bare, so this is asked instead of the qualified form, which would have to be put together.
func unqualified(driver string, name resourcev1.QualifiedName) resourcev1.QualifiedName {
	if len(name) > len(driver) && name[len(driver)] == '/' && string(name[:len(driver)]) == driver {
		return name[len(driver)+1:]
	}
	return ""
}
