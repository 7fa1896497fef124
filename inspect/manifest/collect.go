package manifest

import (
	"bytes"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	apiversion "k8s.io/apimachinery/pkg/version"
	kjson "sigs.k8s.io/json"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest/defaults"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

const (
	maxListDepth       = 4  // Lists within Lists
	maxObjectWarnings  = 25 // warnings about one object
	maxAllWarnings     = 10000
	maxVersionsTracked = 8
)

// collector gathers what is read.
type collector struct {
	opts      Options
	limits    limits
	counted   struct{ objects, documents int }
	objects   inspect.Objects
	seen      map[identity]origin
	versions  map[inspect.Resource][]string
	warnings  []Warning
	skipped   map[string]int
	gone      []Gone
	failures  failures
	dropped   int            // warnings beyond maxAllWarnings
	unnamed   map[string]int // how many names were made from each generateName
	workloads []*inspect.Workload
	events    []inspect.Event
	// eventsSeen are the names of events.
	eventsSeen map[types.NamespacedName]bool
	access     *inspect.Access
	accessSeen map[identity]metav1.Object // of RBAC, by their kind in place of a resource
	pending    []pending                  // what was found and is not kept yet, in the order of the file
}

type identity struct {
	resource        inspect.Resource
	namespace, name string
}

// origin is where an object was given first.
type origin struct {
	place  string
	object metav1.Object
}

func newCollector(opts Options) *collector {
	return &collector{
		opts: opts, limits: limitsFor(opts.MaxBytes), seen: map[identity]origin{}, versions: map[inspect.Resource][]string{},
		skipped: map[string]int{}, unnamed: map[string]int{}, eventsSeen: map[types.NamespacedName]bool{}, accessSeen: map[identity]metav1.Object{},
	}
}

func (c *collector) warn(w Warning) {
	if len(c.warnings) >= maxAllWarnings {
		c.dropped++
		return
	}
	c.warnings = append(c.warnings, w)
}

func isList(kind string) bool { return strings.HasSuffix(kind, "List") }

// itemHead returns the apiVersion and kind that items of a typed list have when they name none. The
// items of a plain List must name their own.
func itemHead(list head) head {
	if list.kind == "List" {
		return head{}
	}
	return head{apiVersion: list.apiVersion, kind: strings.TrimSuffix(list.kind, "List")}
}

// addValue adds one JSON value: an object, or the items of a list. outer is the head that the object
// inherits where it has none.
func (c *collector) addValue(ctx context.Context, t *text, at extent, outer head, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if t.data[at.from] != '{' {
		return &Error{
			Code: NotObject, Source: t.source, Line: t.line(at.from),
			Detail: "expected a Kubernetes object, found " + jsonTypeAt(t.data[at.from]),
			Advice: "give objects one after the other, or as the items of a List",
		}
	}
	h, err := scanHead(t.data[at.from:at.to], c.limits.depth)
	if scan := asScanError(err); scan != nil {
		return &scanError{offset: at.from + scan.offset, detail: scan.detail, tooDeep: scan.tooDeep}
	}
	if h.apiVersion == "" {
		h.apiVersion = outer.apiVersion
	}
	if h.kind == "" {
		h.kind = outer.kind
	}
	if h.kind == "" && h.items.to > 0 {
		return &Error{
			Code: Syntax, Source: t.source, Line: t.line(at.from), Path: "kind",
			Detail: "a list of items without kind, which kubectl writes last", Advice: "the file seems to be cut off: save it again",
		}
	}
	if isList(h.kind) && h.items.to > 0 {
		return c.addItems(ctx, t, extent{at.from + h.items.from, at.from + h.items.to}, h, depth)
	}
	return c.addObject(ctx, t, at, h)
}

func jsonTypeAt(first byte) string {
	switch first {
	case '[':
		return "a list"
	case '"':
		return "a string"
	}
	return "a single value"
}

func (c *collector) addItems(ctx context.Context, t *text, at extent, list head, depth int) error {
	switch {
	case depth >= maxListDepth:
		return &Error{Code: NotObject, Source: t.source, Line: t.line(at.from), Detail: "Lists within Lists are too deep"}
	case t.data[at.from] != '[':
		if string(t.data[at.from:at.to]) == "null" {
			return nil
		}
		return &Error{
			Code: WrongType, Source: t.source, Line: t.line(at.from), Object: list.kind, Path: "items",
			Detail: "items must be a list",
		}
	}
	return scanItems(t.data, at, c.limits.depth, func(item extent) error {
		return c.addValue(ctx, t, item, itemHead(list), depth+1)
	})
}

// addObject puts off what is to be done with one object.
func (c *collector) addObject(ctx context.Context, t *text, at extent, h head) error {
	k, known := kindOf(h.apiVersion, h.kind)
	if h.kind == "Snapshot" && strings.HasPrefix(h.apiVersion, "kubectl-dra.dev/") {
		return &Error{
			Code: NotObject, Source: t.source, Line: t.line(at.from), Object: h.kind,
			Detail: "a snapshot cannot be read from within a directory or pipe", Advice: "name the file itself",
		}
	}
	if err := c.count(t, at, known); err != nil {
		return err
	}
	c.pending = append(c.pending, pending{text: t, at: at, head: h, kind: k, known: known})
	if len(c.pending) < maxPending {
		return nil
	}
	return c.flush(ctx)
}

// count counts an object that stands at an extent, and refuses it when there are too many or, if it is to be
// decoded, it is too large. What commas separate are values; in these kinds those within strings are few.
func (c *collector) count(t *text, at extent, decoded bool) error {
	c.counted.objects++
	var err *Error
	switch {
	case c.counted.objects > c.limits.objects:
		err = tooLarge(t.source, "more than %d objects, counting all files", c.limits.objects)
	case decoded && at.to-at.from > c.limits.object:
		err = tooLarge(t.source, "an object of more than %s", sizeOf(int64(c.limits.object)))
	case decoded && at.to-at.from > c.limits.values && bytes.Count(t.data[at.from:at.to], []byte(",")) > c.limits.values:
		err = tooLarge(t.source, "an object of more than %d values", c.limits.values)
	default:
		return nil
	}
	err.Line = t.line(at.from)
	return err
}

// decodeGuarded decodes, but refuses quantities that would take forever.
func decodeGuarded(raw []byte, decode decodeFunc) (metav1.Object, []error, error) {
	if guarded := quantity.Replace(raw); guarded != nil {
		if _, _, err := decode(guarded); err != nil {
			return nil, nil, err
		}
	}
	return decode(raw)
}

// complete gives an object what the API server would have given it.
func (c *collector) complete(object metav1.Object, h head, k kind) {
	if k.Namespaced && object.GetNamespace() == "" {
		object.SetNamespace(c.opts.Namespace)
	}
	if !k.Namespaced {
		object.SetNamespace("")
	}
	if prefix := object.GetGenerateName(); object.GetName() == "" && prefix != "" {
		c.unnamed[prefix]++
		object.SetName(fmt.Sprintf("%s%d", prefix, c.unnamed[prefix]))
	}
	inspect.ReduceManagedFields(object)
	defaults.Set(object, h.apiVersion)
	setType(object, k.APIVersion(), h.kind)
}

// objectName names an object in messages.
func objectName(kindName string, k kind, object metav1.Object) string {
	name := object.GetName()
	if name == "" {
		name = "(without name)"
	}
	if k.Namespaced {
		return kindName + " " + object.GetNamespace() + "/" + name
	}
	return kindName + " " + name
}

// isDuplicate reports whether the object was given before. When its content differed, the last one counts, as
// it does when files are applied one after the other, and there is a warning.
func (c *collector) isDuplicate(where string, id identity, object metav1.Object, name string) bool {
	first, found := c.seen[id]
	if !found {
		c.seen[id] = origin{where, object}
		return false
	}
	if !reflect.DeepEqual(first.object, object) {
		c.warn(Warning{Source: where, Object: name, Message: "given before at " + first.place + " with different content; this one counts"})
		reflect.ValueOf(first.object).Elem().Set(reflect.ValueOf(object).Elem())
		c.seen[id] = origin{where, first.object}
	}
	return true
}

// decodeError says which field of which object cannot be decoded.
func (c *collector) decodeError(t *text, at extent, h head, k kind, err error) error {
	raw := t.data[at.from:at.to]
	if syntax, offset := kjson.SyntaxErrorOffset(err); syntax {
		return t.syntaxError(at.from+int(offset), err.Error(), err)
	}
	if guarded := quantity.Replace(raw); guarded != nil {
		raw = guarded
	}
	e := &Error{
		Code: WrongType, Source: t.source, Line: t.line(at.from), Object: rawName(h.kind, raw),
		Detail: "cannot be decoded as " + h.apiVersion + ": " + err.Error(), Err: err,
	}
	if m, ok := findMistake(raw, k.decode); ok {
		e.Path, e.Detail, e.Advice = m.path, m.detail, m.advice
	}
	return e
}

// rawRef is what an object that is not decoded is called.
func rawRef(kindName string, raw []byte) inspect.ObjectRef {
	var partial metav1.PartialObjectMetadata
	_ = kjson.UnmarshalCaseSensitivePreserveInts(raw, &partial) // what has no name is told of without one
	return inspect.ObjectRef{Kind: kindName, Namespace: partial.Namespace, Name: partial.Name}
}

// rawName names an object that could not be decoded.
func rawName(kindName string, raw []byte) string {
	var partial metav1.PartialObjectMetadata
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &partial); err != nil {
		return kindName
	}
	return objectName(kindName, kind{Kind: inspect.Kind{Namespaced: partial.Namespace != ""}}, &partial)
}

// skip counts an object that is not read, and warns when its author may have expected otherwise.
func (c *collector) skip(t *text, at extent, h head) {
	where := place(t.source, t.line(at.from))
	if h.apiVersion == "" || h.kind == "" {
		c.skipped["(no apiVersion or kind)"]++
		c.warn(Warning{Source: where, Object: h.kind, Message: missingHead(h)})
		return
	}
	c.skipped[h.apiVersion+" "+h.kind]++
	if c.skipNewer(t, at, h) {
		return
	}
	if reason := gone(h.apiVersion, h.kind); reason != "" {
		raw := t.data[at.from:at.to]
		c.warn(Warning{Source: where, Object: rawName(h.kind, raw), Path: "apiVersion", Message: reason})
		if len(c.gone) < maxAllWarnings {
			c.gone = append(c.gone, Gone{Object: rawRef(h.kind, raw), Why: reason})
		}
	}
}

// uncounted are kinds of resource.k8s.io that this program knows, and that no question needs.
var uncounted = []string{"ResourcePoolStatusRequest", "PodSchedulingContext"}

// skipNewer says of an object that it is newer than this program, if it is. Of a version of a kind that is
// read, what is in it is missed.
func (c *collector) skipNewer(t *text, at extent, h head) bool {
	group, v := splitVersion(h.apiVersion)
	known, ok := kindNamed(group, h.kind)
	e := &Error{Code: Newer, Source: t.source, Line: t.line(at.from), Object: rawName(h.kind, t.data[at.from:at.to]), Path: "apiVersion", Detail: h.apiVersion + " is newer than this program"}
	switch {
	case ok && apiversion.CompareKubeAwareVersionStrings(v, known.Version) > 0:
		if c.failures.lost == nil {
			c.failures.lost = map[inspect.Resource]bool{}
		}
		c.failures.lost[known.Resource] = true
		c.failures.list = append(c.failures.list, e)
	case !ok && group == resourcev1.GroupName && gone(h.apiVersion, h.kind) == "" && !slices.Contains(uncounted, h.kind):
		e.Path, e.Detail = "kind", "the kind is newer than this program, or no kind of "+group
		c.warn(e.Warning())
	default:
		return false
	}
	return true
}

func missingHead(h head) string {
	missing := "kind"
	if h.apiVersion == "" {
		missing = "apiVersion"
	}
	for _, key := range h.keys {
		if key != missing && strings.EqualFold(key, missing) {
			return fmt.Sprintf("left out: the field must be written %q, not %q (field names are case-sensitive)", missing, key)
		}
	}
	return "left out: it has no " + missing + ", so it is not a Kubernetes object"
}

// warningsOf are what the API server would refuse in one object. The paths of the decoder and of validation
// become those of the file.
func warningsOf(where, name string, f findings, h head, ofDecoder, ofValidation func(path string) string) []Warning {
	var all []Warning
	for _, complaint := range f.complaints {
		path, message := explainComplaint(complaint.Error(), h)
		if f.newer && message == unknownMessage {
			message = "the field is newer than this program, which keeps it; where it may decide, answers are Unknown"
		}
		all = append(all, Warning{Source: where, Object: name, Path: ofDecoder(path), Message: message})
	}
	for _, problem := range f.invalid {
		message := inspect.SanitizeShort(problem.Message, maxDetailLength)
		all = append(all, Warning{Source: where, Object: name, Path: ofValidation(problem.Path), Message: message})
	}
	return all
}

// report records warnings about one object.
func (c *collector) report(all []Warning) {
	all = folded(all)
	for i, w := range all {
		if i == maxObjectWarnings {
			c.warn(Warning{Source: w.Source, Object: w.Object, Message: fmt.Sprintf("%d more problems", len(all)-i)})
			return
		}
		c.warn(w)
	}
}

// result sorts and hands over what was gathered.
func (c *collector) result() *Result {
	c.objects.Sort()
	health := map[inspect.Resource]inspect.Health{}
	for resource, versions := range c.versions {
		slices.Sort(versions)
		health[resource] = inspect.Health{State: inspect.Synced, Version: strings.Join(versions, ", ")}
	}
	if c.dropped > 0 {
		c.warnings = append(c.warnings, Warning{Source: "manifests", Message: fmt.Sprintf("%d more warnings", c.dropped)})
	}
	c.failures.mark(health)
	return &Result{Failures: c.failures.list, Objects: c.objects, Warnings: c.warnings, Skipped: c.skipped, Gone: c.gone, Health: health, Workloads: c.workloads, Events: c.events, Access: c.access}
}
