// Package live reads the objects of a Snapshot from an API server, once or for as long as somebody looks.
//
// [Read] lists every resource that a question needs once: in parallel, in pages, each at the newest
// version that the server serves, converted to the newest version that the API knows. What the user
// may not read, or the server does not serve, is recorded in the health of that resource and the read
// goes on; only a server that cannot be asked at all is an error, a [ServerError].
//
// [Watch] does the same and goes on: it follows every resource with a reflector of client-go and makes a new
// Snapshot of what has changed, at most ten a second, which shares everything else with the one before.
// Whatever fails is tried again, less and less often, and shows in the health until it works.
//
// A server is not trusted: every answer is bounded (limits, in pages.go), has to be what was asked for
// (codec.go), and may hold no quantity that takes forever to read; every request ends with its context.
//
// Three things are looked up beside the lists: which versions are served (discovery), the version of
// the server, and the feature gates that are on (the metric kubernetes_feature_enabled).
//
// Objects are decoded as client-go does it, then reduced to what the questions read (reduce.go), and those
// that are alike share memory (package sharing). Text that came from the server and ends up in a message is
// freed of control characters here; names and values inside objects are not.
package live
