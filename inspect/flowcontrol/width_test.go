package flowcontrol

import (
	"strings"
	"testing"
	"time"
)

// storedMetrics has 2000 pods of 5 kB each, 1000 widgets whose size is not known, and what watches them.
const storedMetrics = `
# TYPE apiserver_resource_objects gauge
apiserver_resource_objects{group="",resource="pods"} 2000
apiserver_resource_objects{group="example.com",resource="widgets"} 1000
apiserver_resource_objects{group="",resource="nodes"} 0
# TYPE apiserver_resource_size_estimate_bytes gauge
apiserver_resource_size_estimate_bytes{group="",resource="pods"} 1e7
apiserver_resource_size_estimate_bytes{group="example.com",resource="widgets"} -1
apiserver_resource_size_estimate_bytes{group="",resource="nodes"} 0
# TYPE apiserver_longrunning_requests gauge
apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} 40
apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="WATCH",version="v1"} 5
apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="resource",subresource="log",verb="CONNECT",version="v1"} 500
apiserver_longrunning_requests{component="apiserver",group="",resource="nodes",scope="cluster",subresource="",verb="WATCH",version="v1"} 9
apiserver_longrunning_requests{component="apiserver",group="x",resource="elsewhere",scope="cluster",subresource="",verb="WATCH",version="v1"} 900
`

// TestWidth has the seats of requests, worked out by hand: a seat for 100 kB, at most 1 MB of what comes from the cache.
func TestWidth(t *testing.T) {
	metrics := parse(t, storedMetrics)
	limits := Compute(bootstrapLevels(), 600)
	if _, found := metrics.Stored["elsewhere.x"]; found || metrics.Stored["pods"].Watches != 45 {
		t.Errorf("%+v", metrics.Stored)
	}
	wide, _ := limits.Level("workload-low")          // 245 seats: min(ceil(36.75), 245/6 = 40) = 37
	narrow, _ := limits.Level("node-high")           // 98 seats in hands of 6: min(ceil(14.7), 16) = 15
	rejecting := Level{Name: "rejects", Nominal: 10} // no queues, no cap of its own
	for _, test := range []struct {
		level  Level
		url    string
		reason WidthReason
		seats  int
	}{
		{wide, "/api/v1/pods?resourceVersion=0", WidthCache, 10},                                    // 1 MB counts
		{wide, "/api/v1/pods", WidthCache, 10},                                                      // the newest state, too
		{wide, "/api/v1/pods?limit=100", WidthCache, 5},                                             // 500 kB
		{wide, "/api/v1/pods?limit=100&continue=x", WidthStorage, 5},                                // the next page
		{wide, "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact", WidthStorage, 37},       // 100, but for the level
		{narrow, "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact", WidthStorage, 15},     // another level
		{rejecting, "/api/v1/pods?resourceVersion=7&resourceVersionMatch=Exact", WidthStorage, 100}, // 10 MB
		{wide, "/api/v1/pods?limit=10&continue=x&labelSelector=a", WidthStorageAll, 37},             // half of all: 5 MB
		{wide, "/api/v1/pods?limit=30&resourceVersion=7", WidthStorage, 2},                          // an old page: 150 kB
		{wide, "/api/v1/pods?limit=30&resourceVersion=7&resourceVersionMatch=NotOlderThan", WidthCache, 2},
		{wide, "/api/v1/pods?fieldSelector=metadata.name%3Dx", WidthName, 1},
		{wide, "/api/v1/pods/x", WidthSingle, 1},
		{wide, "/api/v1/pods?watch=1", WidthCache, 10},
		{wide, "/api/v1/pods?watch=1&resourceVersion=7", WidthNoInitial, 1},
		{wide, "/api/v1/pods?watch=1&resourceVersion=7&sendInitialEvents=true", WidthCache, 10},
		{wide, "/apis/example.com/v1/widgets?limit=1&continue=x", WidthStorage, 15}, // 1.5 MB are assumed of an object
		{wide, "/api/v1/nodes", WidthCache, 1},
		{wide, "/apis/example.com/v1/gadgets", WidthNotStored, 1},
		{wide, "/version", WidthSingle, 1},
	} {
		got := WidthOf(ask(t, "jane", nil, "GET", test.url), &test.level, metrics)
		if got.Seats != test.seats || got.Reason != test.reason {
			t.Errorf("%s in %s: %d seats (%s), want %d (%s)", test.url, test.level.Name, got.Seats, got.Reason, test.seats, test.reason)
		}
	}
}

// TestWidthByCount: servers before 1.34 count objects, a hundred a seat, at most ten seats.
func TestWidthByCount(t *testing.T) {
	metrics := parse(t, "# TYPE apiserver_storage_objects gauge\napiserver_storage_objects{resource=\"pods\"} 400\napiserver_storage_objects{resource=\"widgets.example.com\"} 5000\n")
	level := Level{Nominal: 500}
	for at, want := range map[string]int{
		"/api/v1/pods": 4, "/api/v1/pods?limit=10": 4, "/api/v1/pods?limit=101&continue=x": 3, "/api/v1/pods?limit=10&continue=x&labelSelector=a": 5,
		"/apis/example.com/v1/widgets": 10, "/api/v1/pods?fieldSelector=metadata.name%3Dx": 1,
	} {
		if got := WidthOf(ask(t, "jane", nil, "GET", at), &level, metrics); got.Seats != want {
			t.Errorf("%s: %+v, want %d", at, got, want)
		}
	}
	if metrics.Sized {
		t.Error("such a server does not go by sizes")
	}
	if got := WidthOf(ask(t, "jane", nil, "GET", "/api/v1/pods"), &level, nil); got.Reason != WidthUnknown || got.Seats != 1 {
		t.Errorf("without metrics: %+v", got)
	}
}

// TestWidthOfWrites: 45 watches are five seats for 5 ms; where a level allows fewer, it takes longer.
func TestWidthOfWrites(t *testing.T) {
	metrics := parse(t, storedMetrics)
	pods := ask(t, "jane", nil, "POST", "/api/v1/namespaces/a/pods")
	if got := WidthOf(pods, &Level{Nominal: 100}, metrics); got.Seats != 1 || got.FinalSeats != 5 || got.Afterwards != 5*time.Millisecond {
		t.Errorf("%+v", got)
	}
	small := Level{Nominal: 12, Queuing: &Queuing{Queues: 16, HandSize: 6, QueueLengthLimit: 10}} // min(ceil(1.8), 2) = 2
	if got := WidthOf(pods, &small, metrics); got.FinalSeats != 2 || got.Afterwards != 12500*time.Microsecond {
		t.Errorf("%+v", got)
	}
	for at, want := range map[string]WidthReason{"/api/v1/nodes": WidthFewWatches, "/api/v1/namespaces/a/serviceaccounts/x/token": WidthSingle} {
		if got := WidthOf(ask(t, "jane", nil, "POST", at), &small, metrics); got.Reason != want || got.FinalSeats != 0 {
			t.Errorf("%s: %+v", at, got)
		}
	}
	if strings.Contains(WidthOf(pods, &small, nil).Message(), "0") {
		t.Error("numbers that nobody knows")
	}
}
