package flowcontrol

import (
	"math"
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
	// Uncapped is what it would take if there were no upper limits, and Cap the most that its level allows such a request.
	Uncapped, Cap int
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

// WidthOf estimates the seats of a request as the server does. The level is that of its classification, and the metrics
// are those of the server, or nil.
func WidthOf(r *Request, level *Level, metrics *Metrics) Width {
	var stored Stored
	known, sized := false, true
	if metrics != nil {
		stored, known = metrics.Stored[schema.GroupResource{Group: r.Info.APIGroup, Resource: r.Info.Resource}.String()]
		sized = metrics.Sized
	}
	widest := WidestOf(level, sized)
	switch r.Info.Verb {
	case "list", "watch":
		return listWidth(r, stored, known, metrics != nil, widest.List)
	case "create", "update", "patch", "delete":
		if r.Info.IsResourceRequest {
			return writeWidth(r, stored, metrics != nil, widest.Write)
		}
	}
	return Width{Reason: WidthSingle, Seats: 1, Uncapped: 1, Cap: 1}
}

func listWidth(r *Request, stored Stored, known, asked bool, most int) Width {
	query := r.URL.Query()
	version := query.Get("resourceVersion")
	if initial, _ := strconv.ParseBool(query.Get("sendInitialEvents")); r.Info.Verb == "watch" && !initial && version != "" && version != "0" {
		return Width{Reason: WidthNoInitial, Seats: 1, Uncapped: 1, Cap: most}
	}
	w := Width{Reason: WidthCache, Cap: most, Stored: stored}
	limit, err := strconv.Atoi(query.Get("limit"))
	if err != nil || limit <= 0 || limit > stored.Objects {
		limit = stored.Objects
	}
	selecting := query.Get("fieldSelector") != "" || query.Get("labelSelector") != ""
	switch {
	case r.Info.Name != "":
		w.Reason = WidthName
	case r.Info.Verb != "watch" && fromStorage(query.Get("resourceVersionMatch"), version, query.Get("continue"), query.Get("limit")):
		w.Reason = WidthStorage
		if selecting {
			w.Reason = WidthStorageAll
		}
	}
	switch {
	case !asked:
		w.Reason, w.Uncapped = WidthUnknown, 1
	case !known:
		w.Reason, w.Uncapped = WidthNotStored, 1
	case stored.Bytes != nil:
		w.Uncapped = seatsBySize(w.Reason, stored, limit, r.Info.Verb == "watch" || w.Reason == WidthCache || cached(r))
	default:
		w.Uncapped = seatsByCount(w.Reason, stored.Objects, limit)
	}
	w.Uncapped = max(1, w.Uncapped)
	w.Seats = min(w.Uncapped, most)
	return w
}

// cached reports whether the cache answers a list.
func cached(r *Request) bool {
	query := r.URL.Query()
	return !fromStorage(query.Get("resourceVersionMatch"), query.Get("resourceVersion"), query.Get("continue"), query.Get("limit"))
}

// fromStorage reports whether etcd answers a list. The newest state comes from the cache, with every etcd since 3.4.25 and 3.5.8.
func fromStorage(match, version, next, limit string) bool {
	switch match {
	case "NotOlderThan":
		return false
	case "":
		return next != "" || limit != "" && limit != "0" && version != "" && version != "0"
	}
	return true
}

func seatsBySize(reason WidthReason, stored Stored, limit int, fromCache bool) int {
	average := 0
	switch {
	case stored.Objects > 0 && *stored.Bytes > 0:
		average = *stored.Bytes / stored.Objects
	case stored.Objects > 0:
		average = largestObject
	}
	loaded := limit
	switch reason {
	case WidthName:
		loaded = 1
		if average == 0 {
			return 0
		}
	case WidthStorageAll:
		loaded = max(limit, stored.Objects/2)
	}
	bytes := loaded * average
	if fromCache {
		bytes = min(bytes, cachedAtMost)
	}
	return (bytes + bytesPerSeat - 1) / bytesPerSeat
}

func seatsByCount(reason WidthReason, objects, limit int) int {
	looked := 2 * limit
	switch reason {
	case WidthName:
		looked = 1
	case WidthCache:
		looked = objects
	case WidthStorageAll:
		looked = objects + limit
	}
	return (looked + objectsPerSeat - 1) / objectsPerSeat
}

func writeWidth(r *Request, stored Stored, asked bool, most int) Width {
	w := Width{Reason: WidthFewWatches, Seats: 1, Uncapped: 1, Cap: most, Stored: stored}
	switch {
	case r.Resource() == "serviceaccounts/token": // nothing is stored, so nobody is told
		w.Reason = WidthSingle
	case !asked:
		w.Reason = WidthUnknown
	case stored.Watches >= watchesPerSeat:
		w.Reason = WidthManyWatches
		w.Uncapped = (stored.Watches + watchesPerSeat - 1) / watchesPerSeat
		w.FinalSeats = min(w.Uncapped, most)
		// The work is the same: what may not be wide takes longer.
		w.Afterwards = perSeatOfEvents * time.Duration(w.Uncapped) / time.Duration(w.FinalSeats)
	}
	return w
}
