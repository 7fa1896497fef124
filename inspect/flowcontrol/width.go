package flowcontrol

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Stored is what the server knows of the objects of a resource.
type Stored struct {
	Objects int
	// Bytes is the size of all of them together, nil where the server does not estimate it: before 1.34, or without the gate
	// SizeBasedListCostEstimate. It is negative while the server does not know.
	Bytes *int
	// Watches are the watches of the resource that are open, in any namespace.
	Watches int
}

// WidthReason says what the width of a request follows from.
type WidthReason string

// The reasons.
const (
	WidthSingle      WidthReason = "Single"      // it reads one object, or no resource
	WidthName        WidthReason = "Name"        // it lists one object, by its name
	WidthNoInitial   WidthReason = "NoInitial"   // a watch that wants no initial events
	WidthNotStored   WidthReason = "NotStored"   // the server does not store the resource, or does not know it
	WidthUnknown     WidthReason = "Unknown"     // without the server's metrics it cannot be told
	WidthCache       WidthReason = "Cache"       // a list or watch that the cache of the server answers
	WidthStorage     WidthReason = "Storage"     // a list that etcd answers
	WidthStorageAll  WidthReason = "StorageAll"  // a list that etcd answers, with a selector: the server has to look at more than it returns
	WidthFewWatches  WidthReason = "FewWatches"  // a write that fewer than ten watch
	WidthManyWatches WidthReason = "ManyWatches" // a write that many watch: afterwards it holds seats until they are told
)

// Width is how many seats a request takes.
type Width struct {
	Reason WidthReason
	// Seats are those it holds while it is executed.
	Seats int
	// FinalSeats are those it holds afterwards, for Afterwards. They are at most so many where not all watches of the
	// resource look at the object.
	FinalSeats int
	Afterwards time.Duration
	// Cap is the most that its level allows such a request.
	Cap int
	// Stored is what the estimate goes by, for lists and writes.
	Stored Stored
}

// Widest are the seats that one request of a kind may take in a level.
type Widest struct{ List, Write int }

const (
	bytesPerSeat    = 100_000
	cachedAtMost    = 1_000_000 // of a list that the cache answers, so many bytes count
	largestObject   = 1_500_000 // what is assumed of objects whose size is not known
	objectsPerSeat  = 100
	watchesPerSeat  = 10
	widestList      = 100
	widestListOld   = 10
	widestWrite     = 10
	perSeatOfEvents = 5 * time.Millisecond
)

// WidestOf returns the widest requests of a level. A level with queues allows a request the least of 15 % of its nominal seats and
// what leaves room for all queues of a hand. sized says that the server goes by the size of objects, as it does since 1.34.
func WidestOf(level *Level, sized bool) Widest {
	list, write := widestListOld, widestWrite
	if sized {
		list = widestList
	}
	if q := level.Queuing; q != nil && q.HandSize > 0 {
		most := max(1, min(int(math.Ceil(float64(level.Nominal)*0.15)), level.Nominal/q.HandSize))
		list, write = min(list, most), min(write, most)
	}
	return Widest{list, write}
}

// WidthOf estimates the seats of a request as the server does (k8s.io/apiserver/pkg/util/flowcontrol/request, which cannot be a
// dependency because it brings in etcd's client). The level is that of its classification, and the metrics are those of the
// server, or nil.
func WidthOf(r *Request, level *Level, metrics *Metrics) Width {
	var stored Stored
	known, sized := false, true
	if metrics != nil {
		stored, known = metrics.Stored[schema.GroupResource{Group: r.Info.APIGroup, Resource: r.Info.Resource}.String()]
		sized = metrics.Sized
	}
	widest := WidestOf(level, sized)
	verb := r.Info.Verb
	switch {
	case verb == "list" || verb == "watch":
		reason, fromCache := listReason(r)
		w := Width{Reason: reason, Seats: 1, Cap: widest.List, Stored: stored}
		switch {
		case w.Reason == WidthNoInitial:
		case metrics == nil:
			w.Reason = WidthUnknown
		case !known:
			w.Reason = WidthNotStored
		default:
			w.Seats = max(1, min(w.listSeats(r, fromCache), w.Cap))
		}
		return w
	case r.Info.IsResourceRequest && slices.Contains([]string{"create", "update", "patch", "delete"}, verb):
		return writeWidth(r, stored, metrics != nil, widest.Write)
	}
	return Width{Reason: WidthSingle, Seats: 1, Cap: 1}
}

// listReason says what the seats of a list or a watch follow from, and whether the server's cache answers it. The newest state
// comes from the cache, with every etcd since 3.4.25 and 3.5.8.
func listReason(r *Request) (reason WidthReason, fromCache bool) {
	query := r.URL.Query()
	version, limit, match := query.Get("resourceVersion"), query.Get("limit"), query.Get("resourceVersionMatch")
	old := version != "" && version != "0"
	if r.Info.Verb == "watch" {
		fromCache = true
		if initial, _ := strconv.ParseBool(query.Get("sendInitialEvents")); !initial && old {
			return WidthNoInitial, true
		}
	} else {
		page := query.Get("continue") != "" || limit != "" && limit != "0" && old
		fromCache = match == "NotOlderThan" || match == "" && !page
	}
	switch {
	case r.Info.Name != "":
		return WidthName, fromCache
	case fromCache:
		return WidthCache, true
	case query.Get("fieldSelector") != "" || query.Get("labelSelector") != "":
		return WidthStorageAll, false
	}
	return WidthStorage, false
}

// listSeats is what a list takes if its level sets no limit: by the size of the objects, or, before 1.34, by their number.
func (w *Width) listSeats(r *Request, fromCache bool) int {
	objects := w.Stored.Objects
	limit, err := strconv.Atoi(r.URL.Query().Get("limit"))
	if err != nil || limit <= 0 || limit > objects {
		limit = objects
	}
	if w.Stored.Bytes == nil {
		looked := map[WidthReason]int{WidthName: 1, WidthCache: objects, WidthStorageAll: objects + limit, WidthStorage: 2 * limit}[w.Reason]
		return (looked + objectsPerSeat - 1) / objectsPerSeat
	}
	average := 0
	switch {
	case objects > 0 && *w.Stored.Bytes > 0:
		average = *w.Stored.Bytes / objects
	case objects > 0:
		average = largestObject
	}
	loaded := map[WidthReason]int{WidthName: 1, WidthCache: limit, WidthStorageAll: max(limit, objects/2), WidthStorage: limit}[w.Reason]
	bytes := loaded * average
	if fromCache {
		bytes = min(bytes, cachedAtMost)
	}
	return (bytes + bytesPerSeat - 1) / bytesPerSeat
}

func writeWidth(r *Request, stored Stored, asked bool, most int) Width {
	w := Width{Reason: WidthFewWatches, Seats: 1, Cap: most, Stored: stored}
	switch {
	case r.Resource() == "serviceaccounts/token": // nothing is stored, so nobody is told
		w.Reason = WidthSingle
	case !asked:
		w.Reason = WidthUnknown
	case stored.Watches >= watchesPerSeat:
		w.Reason = WidthManyWatches
		wanted := (stored.Watches + watchesPerSeat - 1) / watchesPerSeat
		w.FinalSeats = min(wanted, most)
		// The work is the same: what may not be wide takes longer.
		w.Afterwards = perSeatOfEvents * time.Duration(wanted) / time.Duration(w.FinalSeats)
	}
	return w
}

// Message says in words what a width follows from. It has no text of the cluster in it.
func (w Width) Message() string {
	stored := fmt.Sprintf("%d objects", w.Stored.Objects)
	if b := w.Stored.Bytes; b != nil && *b > 0 {
		stored += fmt.Sprintf(" of %s in all", kilobytes(*b))
	}
	switch w.Reason {
	case WidthSingle:
		return "it is about one object at most"
	case WidthName:
		return "it lists one object, by its name"
	case WidthNoInitial:
		return "a watch from a known version sends no initial events"
	case WidthNotStored:
		return "this server does not store the resource, or has not counted it yet"
	case WidthUnknown:
		return "at least; how many objects there are, and how many watch them, is only in the server's metrics"
	case WidthCache:
		return "there are " + stored + "; the server's cache answers"
	case WidthStorage:
		return "there are " + stored + "; etcd has to answer"
	case WidthStorageAll:
		return "there are " + stored + "; etcd has to answer, and the server looks at more than it selects"
	case WidthFewWatches:
		return "fewer than ten watch the resource, which counts as none"
	case WidthManyWatches:
		return fmt.Sprintf("up to %d watches are told of a change: at most %d seats for %s more when it has ended", w.Stored.Watches, w.FinalSeats, w.Afterwards)
	}
	return string(w.Reason)
}

func kilobytes(bytes int) string {
	switch {
	case bytes >= 10_000_000:
		return fmt.Sprintf("%d MB", bytes/1_000_000)
	case bytes >= 10_000:
		return fmt.Sprintf("%d kB", bytes/1000)
	}
	return fmt.Sprintf("%d bytes", bytes)
}
