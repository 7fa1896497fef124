package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

const noList = `(?i)not a list|decod|unexpected|kind|json|couldn't|cannot read|answer|no items|invalid character|empty|unable`

func bodies() []fault {
	return []fault{
		{name: "bad-json", about: "lists are broken JSON",
			inject: strike(lists, fakeserver.JSON(`{"kind": "ResourceClaimList", "items": [ {]`)), want: broken(noList)},
		{name: "wrong-kind", about: "lists are lists of ConfigMaps",
			inject: strike(lists, fakeserver.JSON(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[{"metadata":{"name":"x"},"data":{"a":"b"}}]}`)),
			want:   broken(noList)},
		{name: "other-kind", about: "the list of claims is one of pods",
			inject: strike(claimLists, fakeserver.JSON(`{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"3"},"items":[]}`)),
			want:   lost(noList)},
		{name: "other-items", about: "the items of the list of claims say that they are something else",
			inject: strike(claimLists, listOf(`[{"kind":"Zzz","apiVersion":"resource.k8s.io/v9","metadata":{"name":"x","namespace":"default"}}]`, "")),
			want:   lost(noList + `|item 1 is no ResourceClaim`)},
		{name: "null-items", about: "claims are null, or lack everything",
			inject: strike(claimLists, listOf(`[null,{},{"metadata":null,"spec":null,"status":{"allocation":{}}}]`, "")),
			want:   lost(noList + `|not found|name`)},
		{name: "html", about: "everything is the page of a proxy to log in",
			inject: strike(everything, fakeserver.Text(http.StatusOK, "text/html", "<html><head><title>Login</title></head><body>Please \x1b[31mEVIL log in</body></html>")),
			want:   broken(noList)},
		{name: "empty-lists", about: "lists are empty bodies", inject: strike(lists, fakeserver.JSON("")), want: broken(noList)},
		{name: "empty", about: "everything is an empty body", inject: strike(everything, fakeserver.JSON("")), want: broken(noList)},
		{name: "no-object", about: "lists are {}", sample: true, inject: strike(lists, fakeserver.JSON(`{}`)), want: broken(noList)},
		{name: "null", about: "lists are null", inject: strike(lists, fakeserver.JSON(`null`)), want: broken(noList)},
		{name: "status-200", about: "lists are a Failure with the code 200",
			inject: strike(lists, fakeserver.JSON(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":"no","code":200}`)), want: broken(noList + `|no`)},
		{name: "deep", about: "lists are a million brackets",
			inject: strike(lists, fakeserver.JSON(`{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":`+strings.Repeat("[", 1_000_000))),
			want:   broken(noList + `|(?i)depth|nest`)},
		{name: "protobuf", about: "lists say that they are protobuf, and are not",
			inject: strike(lists, fakeserver.Text(http.StatusOK, "application/vnd.kubernetes.protobuf", "k8s\x00\xff\xff\xff\xff\xff")), want: broken(noList + `|(?i)proto|wire`)},
	}
}

const tooMuch = `(?i)too (large|long|big|many|much)|more than|limit|MiB|endless|time|repeats|header|to an end`

func endless() []fault {
	claim := `{"metadata":{"name":"%s","namespace":"default","uid":"%s"%s},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu.example.com","allocationMode":"ExactCount","count":1}}]}}}`
	huge := "[" + fmt.Sprintf(claim, "huge", "huge", `,"annotations":{"x":"`+strings.Repeat("A", 20<<20)+`"}`) + "]"
	var many []string
	for i := range 5000 {
		name := fmt.Sprintf("c-%d", i)
		many = append(many, fmt.Sprintf(claim, name, name, ""))
	}
	const size = 700 << 20
	return []fault{
		{name: "endless-claims", about: "a list of claims that is 700 MiB long, and no end of it", heavy: true,
			inject: strike(claimLists, sendEndless("application/json", `{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":[{"x":"`, size)), want: lost(tooMuch)},
		{name: "endless-all", about: "every list is 300 MiB long, and no end of it", heavy: true,
			inject: strike(lists, sendEndless("application/json", `{"kind":"List","apiVersion":"v1","items":[{"x":"`, 300<<20)), want: longer(broken(tooMuch), 130)},
		{name: "gzip-bomb-all", about: "every list is 300 KB of gzip, which unpack to 300 MiB", heavy: true,
			inject: strike(lists, bomb(`{"kind":"List","apiVersion":"v1","items":[{"x":"`, 300<<20)), want: longer(broken(tooMuch), 130)},
		{name: "endless-version", about: "/version is 700 MiB long", heavy: true,
			inject: strike(version, sendEndless("application/json", `{"gitVersion":"`, size)), want: all(want{outcome: same | partial | fails, says: tooMuch + "|version|patch release|reading"}).but(want{outcome: same | partial | waits | fails, says: "."}, followers...)},
		{name: "endless-metrics", about: "/metrics is 700 MiB long", heavy: true,
			inject: strike(metrics, sendEndless("text/plain", "# ", size)), want: without("metrics")},
		{name: "endless-error", about: "every list fails, and says so in 700 MiB", heavy: true,
			inject: strike(lists, func(e *fakeserver.Exchange) {
				e.WriteHeader(http.StatusInternalServerError)
				sendEndless("text/plain", "", size/14)(e)
			}), want: broken(tooMuch + `|error`)},
		{name: "endless-header", about: "answers have 12 MB of headers", heavy: true,
			inject: strike(lists, endlessHeader(12_000_000)), want: broken(tooMuch)},
		{name: "endless-pages", about: "every page of the list of claims names another one",
			inject: strike(claimLists, endlessPages), want: longer(lost(tooMuch), 12_000)},
		{name: "endless-large-pages", about: "the same with 500 claims on each page",
			inject: strike(claimLists, endlessLargePages), want: slower(longer(lost(tooMuch), 12_000), 11, slices.Concat(readers, writers)...)},
		{name: "same-page", about: "the list of claims always names the same next page",
			inject: strike(claimLists, listOf(`[]`, "again")), want: lost(tooMuch)},
		{name: "huge-object", about: "one claim has an annotation of 20 MiB", heavy: true,
			inject: strike(claimLists, listOf(huge, "")), want: replaced()},
		{name: "many-objects", about: "there are 5,000 claims on one page", heavy: true,
			inject: strike(claimLists, listOf("["+strings.Join(many, ",")+"]", "")), want: replaced()},
	}
}

// replaced: the claims are others than those of the demo cluster. Those that are asked about are not found.
func replaced() wants {
	return all(want{outcome: partial, says: `claims`, timeouts: 3}).
		but(want{outcome: partial, says: `.`, timeouts: 3}, "get", "top --once").
		but(want{outcome: partial, says: `saved \d+ objects`, timeouts: 3}, "snapshot").
		but(want{outcome: partial | fails, says: `.`, timeouts: 3}, "get --watch", "top").
		but(want{outcome: fails, says: `not found`, timeouts: 3}, "explain", "allocate --dry-run=server", "allocate --yes", "deallocate")
}

// evil is what a hostile server says: colour, a title, a write to the clipboard, C1, a right-to-left
// override, an invisible character, and lines of its own.
const evil = "bad \x1b[31mEVIL\x1b]0;pwned\x07\x1b]52;c;cHduZWQ=\x07\u009b2J\u202eesrever\u200b\nFORGED: line\r\rX"

func hostile() []fault {
	long := evil + strings.Repeat("L", 5000)
	names := func(s *fakeserver.Server) {
		s.Apply(fmt.Sprintf("{kind: ResourceClaim, apiVersion: resource.k8s.io/v1, metadata: {name: %q, namespace: dev, creationTimestamp: '2026-11-20T08:00:00Z'}, spec: {devices: {requests: [{name: %q, exactly: {deviceClassName: %q, allocationMode: ExactCount, count: 1}}]}}}",
			"zz-"+evil, "r"+evil, "none"+evil))
	}
	return []fault{
		{name: "hostile-500", about: "errors full of escape sequences", sample: true,
			inject: strike(lists, fakeserver.Refuse(http.StatusInternalServerError, "InternalError", long, "Warning", "299 - \"w \x9b31m\"")), want: broken(`bad`)},
		{name: "hostile-text", about: "the same as plain text",
			inject: strike(lists, fakeserver.Text(http.StatusInternalServerError, "text/plain", long)), want: broken(`bad|error`)},
		{name: "hostile-403", about: "the same with 403", inject: strike(lists, fakeserver.Refuse(http.StatusForbidden, "Forbidden", long)),
			want: hidden(`(?i)cannot list|forbidden`).
				but(want{outcome: fails, says: `(?i)cannot list|forbidden`}, "explain", "deallocate").
				but(want{outcome: fails | partial, says: `(?i)cannot list|forbidden`, requests: 60}, "snapshot", "check")},
		{name: "hostile-401", about: "the same with 401", inject: strike(everything, fakeserver.Refuse(http.StatusUnauthorized, "Unauthorized", long)), want: broken(credentials)},
		{name: "hostile-422", about: "writes are refused in such words",
			inject: strike(puts, fakeserver.Refuse(http.StatusUnprocessableEntity, "Invalid", long)), want: refusesWrites(`bad`)},
		{name: "hostile-warning", about: "every answer has a Warning with C1 and bidirectional characters",
			inject: strike(everything, withHeaders("Warning", "299 - \"warn \u009b31m \u202e EVIL \\\"x\\\"\"")), want: all(want{outcome: same})},
		{name: "hostile-header", about: "every answer has a header with escape sequences, which is no HTTP",
			inject: strike(everything, withHeaders("Warning", "299 - \"warn \x1b[31mEVIL\"")), want: broken(`malformed`)},
		{name: "hostile-version", about: "the version is full of them",
			inject: strike(version, fakeserver.JSON(`{"major":"1","minor":"37","gitVersion":"v1.37.1\u001b[31mEVIL\u001b]0;pwn\u0007\u009b\u202e\nFORGED: x","platform":"\u001b[31m"}`)),
			want:   without(`version|37`)},
		{name: "hostile-names", about: "a claim has a name that the API server would refuse", setup: names,
			want: all(want{outcome: same}).but(want{outcome: partial, says: `zz-`}, "get", "get --watch", "top --once").
				but(want{outcome: partial, says: `claim`}, "top", "check").but(want{outcome: partial, says: `saved 193 objects`}, "snapshot")},
		{name: "quantity-capacity", about: "a device has a capacity of 1e-2000000000",
			setup: func(s *fakeserver.Server) {
				s.Apply(evilSlice(`capacity: {memory: {value: "1e-2000000000"}}`))
			}, want: named().but(want{outcome: same | fails, says: `evil`}, "allocate --yes")},
		{name: "quantity-selector", about: "a claim selects by quantity(\"1e-2000000000\")",
			setup: func(s *fakeserver.Server) {
				s.Apply(evilSlice(`attributes: {m: {string: x}}`))
				s.Apply(evilClaim(`quantity("1e-2000000000").isGreaterThan(quantity("1"))`, "{}"))
			}, want: named()},
		{name: "quantity-attribute", about: "a claim reads quantity(…) of an attribute that is 1e-2000000000",
			setup: func(s *fakeserver.Server) {
				s.Apply(evilSlice(`attributes: {m: {string: "1e-2000000000"}}`))
				s.Apply(evilClaim(`quantity(device.attributes["d.example.com"].m).isGreaterThan(quantity("1"))`, "{}"))
			}, want: named()},
		{name: "quantity-class", about: "a class does so",
			setup: func(s *fakeserver.Server) {
				s.Apply(evilSlice(`attributes: {m: {string: "1e-2000000000"}}`))
				s.Apply(`{kind: DeviceClass, apiVersion: resource.k8s.io/v1, metadata: {name: evil}, spec: {selectors: [{cel: {expression: 'quantity(device.attributes["d.example.com"].m).isGreaterThan(quantity("1"))'}}]}}`)
				s.Apply(strings.ReplaceAll(evilClaim(`true`, "{}"), "gpu.example.com", "evil"))
			}, want: named()},
		{name: "quantity-announcement", about: "the announcement on a claim has a capacity of 1e-2000000000",
			swept: "resourceclaims dev/aaa",
			setup: func(s *fakeserver.Server) {
				s.Apply(evilClaim(`true`, `{kubectl-dra.dev/announcement: '{"run":"1","action":"allocate","at":"2026-11-20T08:00:00Z","devices":[{"driver":"nic.example.com","pool":"cpu-01","device":"uplink-0","consumedCapacity":{"bandwidth":"1e-2000000000"}}]}'}`))
			}, want: slower(named(), 9, writers...)},
	}
}

// evilSlice publishes one device on cpu-01.
func evilSlice(device string) string {
	return `{kind: ResourceSlice, apiVersion: resource.k8s.io/v1, metadata: {name: evil}, spec: {driver: d.example.com, nodeName: cpu-01, pool: {name: evil, generation: 1, resourceSliceCount: 1}, devices: [{name: a, ` + device + `}]}}`
}

// evilClaim is a claim of a tenant, the first one by name.
func evilClaim(selector, annotations string) string {
	return `{kind: ResourceClaim, apiVersion: resource.k8s.io/v1, metadata: {name: aaa, namespace: dev, creationTimestamp: '2026-11-20T08:00:00Z', annotations: ` + annotations + `}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu.example.com, allocationMode: ExactCount, count: 1, selectors: [{cel: {expression: '` + selector + `'}}]}}]}}}`
}

// named: one object is not to be borne. The others are treated as ever. Writes may stand back from it for as
// long as they watch what other runs left, two seconds.
func named() wants {
	return all(want{outcome: same, timeouts: 2}).
		but(want{outcome: same | partial, says: `.`, timeouts: 2}, readers...).
		but(want{outcome: same | partial, says: `.`, requests: 70}, followers...).
		but(want{outcome: same, timeouts: 4}, writers...)
}

// slower allows so many request timeouts one after another.
func slower(ws wants, timeouts int, names ...string) wants {
	for _, name := range names {
		w := ws[name]
		w.timeouts = timeouts
		ws[name] = w
	}
	return ws
}
