package faults

import (
	"net/http"

	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// Refusals of the whole server, as they are said.
const (
	inTime = `(?i)time|no answer|deadline`
	// A client that is answered by a broken connection tries again, for as long as it has time.
	connecting  = `(?i)EOF|reset|refused|broken|connect|unexpected|malformed`
	credentials = `(?i)credentials|unauthorized`
)

// waiting is what commands that follow say while they wait for the first answer.
const waiting = `(?i)waiting for|being read|reading |watch stream`

// broken: there is no answer to be had. Commands that follow may go on trying, if they say so.
func broken(says string) wants {
	return all(want{outcome: fails, says: says, requests: 60}).
		but(want{outcome: fails | waits, says: says + "|" + waiting, requests: 60}, "get --watch").
		but(want{outcome: fails | waits, says: says + "|" + waiting, requests: 130}, "top")
}

func connections() []fault {
	return []fault{
		{name: "silent", about: "no request is ever answered", sample: true,
			inject: strike(everything, silent), want: broken(inTime)},
		{name: "silent-claims", about: "lists of claims are never answered",
			inject: strike(claimLists, silent), want: lost(inTime)},
		{name: "silent-version", about: "/version is never answered",
			inject: strike(version, silent), want: broken(inTime)},
		{name: "silent-metrics", about: "/metrics is never answered",
			inject: strike(metrics, silent), want: without("metrics")},
		{name: "silent-discovery", about: "what is served is never answered",
			inject: strike(discovery, silent), want: broken(inTime)},
		{name: "drip-claims", about: "lists of claims begin and never end, a byte at a time",
			inject: strike(claimLists, drip), want: lost(inTime)},
		{name: "drip-version", about: "/version begins and never ends",
			inject: strike(version, drip), want: broken(inTime)},
		{name: "drip-metrics", about: "/metrics begins and never ends",
			inject: strike(metrics, drip), want: without("metrics")},
		{name: "cut-lists", about: "every list is cut off in the middle",
			inject: strike(lists, cutBody), want: broken(connecting)},
		{name: "cut-once", about: "the first list of claims is cut off in the middle",
			inject: once(claimLists, cutBody), want: recovers(connecting)},
		{name: "cut-version", about: "/version is cut off in the middle",
			inject: strike(version, cutBody), want: without("version|patch release")},
		{name: "drop", about: "connections are closed without an answer",
			inject: strike(everything, dropConnection), want: broken(connecting + "|" + inTime)},
		{name: "drop-once", about: "the connection of the first list of claims is closed without an answer",
			inject: once(claimLists, dropConnection), want: recovers(connecting + `|deadline`)},
		{name: "reset", about: "connections are reset",
			inject: strike(everything, resetConnection), want: broken(connecting + "|" + inTime)},
		{name: "reset-claims", about: "lists of claims are reset",
			inject: strike(claimLists, resetConnection), want: lost(connecting + "|" + inTime)},
		{name: "refused", about: "nothing listens at the address",
			url: func(string) string { return "http://127.0.0.1:1" }, want: broken(connecting)},
		{name: "not-http", about: "something that is not HTTP answers",
			inject: strike(everything, raw("SSH-2.0-OpenSSH_9.9\r\n")), want: broken(connecting)},
		{name: "tls", about: "the address says https, and the server does not speak TLS",
			url: func(u string) string { return "https" + u[len("http"):] }, want: broken(`(?i)https|tls`)},
	}
}

// lost: one resource that most commands need cannot be read. What can be shown without it is shown.
func lost(says string) wants {
	return broken(says).
		but(want{outcome: fails | partial, says: says, requests: 60}, "explain", "snapshot", "check", "plan", "top --once").
		but(want{outcome: waits | partial, says: says + "|" + waiting, requests: 130}, "top")
}

// without: something that answers can do without is missing; they say so where it matters.
func without(says string) wants {
	return all(want{outcome: same | partial, says: says}).
		but(want{outcome: same | partial | waits, says: says + "|" + waiting}, followers...)
}

// recovers: what fails once works when it is tried again, by the program or by the user.
func recovers(says string) wants {
	return all(want{outcome: same | fails, says: says, requests: 60}).
		but(want{outcome: same | fails | partial, says: says, requests: 60}, "snapshot", "check", "plan", "top --once", "explain").
		but(want{outcome: same | fails | waits, says: says + "|" + waiting, requests: 70}, followers...)
}

// hidden: a resource cannot be read. Questions are answered as far as can be, and say what is missing; no
// decision is written.
func hidden(says string) wants {
	return all(want{outcome: partial, says: says, requests: 130}).
		but(want{outcome: fails | partial, says: says, requests: 60}, "get", "get --watch", "allocate --dry-run=server").
		but(want{outcome: fails, says: says, requests: 60}, "allocate --yes")
}

// unneeded: like hidden, for what some commands do not read at all.
func unneeded(says string, names ...string) wants {
	return hidden(says).but(want{outcome: same}, names...)
}

func refusals() []fault {
	failure := fakeserver.Refuse(http.StatusInternalServerError, "InternalError", "etcdserver: request timed out")
	forbidden := fakeserver.Refuse(http.StatusForbidden, "Forbidden", `User "jane" cannot do that`)
	unavailable := fakeserver.Refuse(http.StatusServiceUnavailable, "ServiceUnavailable", "apiserver is shutting down")
	later := fakeserver.Refuse(http.StatusServiceUnavailable, "ServiceUnavailable", "apiserver is shutting down", "Retry-After", "1")
	busy := fakeserver.Refuse(http.StatusTooManyRequests, "TooManyRequests", "too many requests, please try again later", "Retry-After", "1")
	busyLong := fakeserver.Refuse(http.StatusTooManyRequests, "TooManyRequests", "too many requests, please try again later", "Retry-After", "3600")
	return []fault{
		{name: "401", about: "the credentials are refused",
			inject: strike(everything, fakeserver.Refuse(http.StatusUnauthorized, "Unauthorized", "Unauthorized")), want: broken(credentials)},
		{name: "403", about: "everything is forbidden",
			inject: strike(everything, forbidden), want: hidden(`(?i)cannot list|forbidden`).
				but(want{outcome: fails, says: `(?i)cannot list|forbidden`}, "explain", "deallocate").
				but(want{outcome: fails | partial, says: `(?i)cannot list|forbidden`, requests: 60}, "snapshot", "check")},
		{name: "403-claims", about: "listing claims is forbidden", sample: true,
			inject: strike(claimLists, forbidden), want: hidden(`(cannot list|partial:).*resourceclaims`).
				but(want{outcome: fails, says: `cannot list resourceclaims`}, "explain", "deallocate")},
		{name: "403-nodes", about: "listing nodes is forbidden",
			inject: strike(listsOf("nodes"), forbidden), want: unneeded(`(cannot list|partial:).*nodes`, "deallocate")},
		{name: "403-slices", about: "listing ResourceSlices is forbidden",
			inject: strike(listsOf("resourceslices"), forbidden), want: unneeded(`(cannot list|partial:).*resourceslices`, "deallocate")},
		{name: "403-classes", about: "listing DeviceClasses is forbidden",
			inject: strike(listsOf("deviceclasses"), forbidden), want: unneeded(`(cannot list|partial:).*deviceclasses`, "deallocate")},
		{name: "403-rules", about: "listing DeviceTaintRules is forbidden",
			inject: strike(listsOf("devicetaintrules"), forbidden), want: hidden(`(cannot list|partial:).*devicetaintrules`).
				but(want{outcome: same | partial, says: `devicetaintrules`}, "deallocate", "get", "get --watch")},
		{name: "403-pods", about: "listing pods is forbidden",
			inject: strike(listsOf("pods"), forbidden), want: unneeded(`(cannot list|partial:).*pods`, "deallocate", "allocate --yes", "allocate --dry-run=server")},
		{name: "404", about: "nothing is found",
			inject: strike(everything, fakeserver.Refuse(http.StatusNotFound, "NotFound", "the server could not find the requested resource")),
			want:   broken(`(?i)does not answer as a Kubernetes API server|does not serve|not served`)},
		{name: "409-lists", about: "lists are answered with a conflict",
			inject: strike(lists, fakeserver.Refuse(http.StatusConflict, "Conflict", "the object has been modified")), want: broken(`modified`)},
		{name: "410-lists", about: "lists have always expired",
			inject: strike(lists, fakeserver.Refuse(http.StatusGone, "Expired", "too old resource version")), want: broken(`(?i)too old|expired|gone`)},
		{name: "429", about: "too many requests, Retry-After: 1",
			inject: strike(everything, busy), want: broken(`(?i)too many requests|time|deadline`)},
		{name: "429-long", about: "lists: too many requests, Retry-After: 3600",
			inject: strike(lists, busyLong), want: broken(`(?i)too many requests|time|deadline`)},
		{name: "500", about: "everything fails", inject: strike(everything, failure), want: broken(`etcdserver`)},
		{name: "500-lists", about: "every list fails", inject: strike(lists, failure), want: broken(`etcdserver`)},
		{name: "500-claims", about: "lists of claims fail", inject: strike(claimLists, failure), want: hidden(`etcdserver`).
			but(want{outcome: fails, says: `etcdserver|could not be read`}, "explain", "get", "deallocate").
			but(want{outcome: fails | waits, says: `etcdserver`, requests: 60}, "get --watch")},
		{name: "500-rules", about: "lists of DeviceTaintRules fail", inject: strike(listsOf("devicetaintrules"), failure), want: hidden(`devicetaintrules`).
			but(want{outcome: same | partial, says: `devicetaintrules`}, "deallocate", "get", "get --watch")},
		{name: "503", about: "the server shuts down", inject: strike(everything, unavailable), want: broken(`shutting down`)},
		{name: "503-later", about: "the server shuts down, Retry-After: 1", inject: strike(everything, later), want: broken(`(?i)shutting down|time|deadline`)},
		{name: "503-once", about: "the first list of claims: the server shuts down, Retry-After: 1",
			inject: once(claimLists, later), want: all(want{outcome: same | fails, says: `(?i)shutting down|time|deadline`, timeouts: 2, requests: 70}).
				but(want{outcome: same | partial, says: `(?i)shutting down|time|deadline`, timeouts: 2}, "explain", "top --once", "snapshot", "check", "plan")},
	}
}

func versions() []fault {
	return []fault{
		{name: "only-v1beta1", about: "a server of Kubernetes 1.32, with resource.k8s.io/v1beta1 alone",
			setup: func(s *fakeserver.Server) { s.Serve(fakeserver.DRA, "v1beta1") },
			want: all(want{outcome: same | partial, says: `devicetaintrules|taint`}).but(want{outcome: same | partial, says: `.`}, "get", "get --watch", "snapshot", "check", "top", "top --once").
				but(want{outcome: partial, says: `ml/driver-canary on gpu-a-04`}, "plan")}, // which no rule taints there
		{name: "no-dra", about: "a server that knows nothing of DRA",
			setup: func(s *fakeserver.Server) { s.Serve(fakeserver.DRA) },
			want: all(want{outcome: fails, says: `does not serve`}).
				but(want{outcome: fails | partial, says: `(?i)not served|does not serve`}, "top --once", "get", "snapshot").
				but(want{outcome: partial, says: `resourceclaimtemplate "llm-70b-gpus" does not exist`}, "plan").
				but(want{outcome: partial | waits, says: `(?i)not served|does not serve`}, "top", "get --watch")},
		{name: "redirect", about: "everything is redirected to another address",
			inject: strike(everything, redirect("http://127.0.0.1:1")), want: broken(connecting + `|(?i)redirect`)},
		{name: "redirect-loop", about: "everything is redirected to itself",
			inject: strike(everything, redirect("")), want: longer(broken(`(?i)redirect`), 400)},
	}
}

// longer allows so many requests.
func longer(ws wants, requests int) wants {
	for name, w := range ws {
		w.requests = requests
		ws[name] = w
	}
	return ws
}
