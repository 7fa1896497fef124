package faults

import (
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

// outcome is what may come of a command; several may be allowed.
type outcome int

const (
	// same: what the honest server makes of it, to the word and with the same exit code.
	same outcome = 1 << iota
	// fails: no answer, one line that begins with "error:", exit code 1, and nothing written. Of a command
	// that follows: it ends by itself.
	fails
	// partial: an answer that names what is missing.
	partial
	// waits: a command that follows says what it waits for, and shows no answer yet.
	waits
	// unsure: a write ended with exit code 1, although something was written; it is said what.
	unsure
)

// want is what has to come of a command under a fault.
type want struct {
	outcome outcome
	// says is a regular expression on what the user reads, unless it is the same as ever.
	says string
	// timeouts is how many request timeouts the command may take one after another; 0 is 1.
	timeouts int
	// requests is how many requests there may be; 0 is what an honest server gets.
	requests int
}

// wants are those of all commands, by name.
type wants map[string]want

// all wants the same of every command.
func all(w want) wants {
	out := wants{}
	for _, c := range commands {
		out[c.name] = w
	}
	return out
}

// but wants something else of some commands, by name.
func (ws wants) but(w want, names ...string) wants {
	for _, name := range names {
		commandNamed(name) // it panics if there is none
		ws[name] = w
	}
	return ws
}

var (
	readers   = []string{"explain", "get", "top --once", "snapshot", "check", "plan", "allocate --dry-run=server"}
	followers = []string{"get --watch", "top"}
	writers   = []string{"allocate --yes", "deallocate"}
)

// fault is a row of the table.
type fault struct {
	name string
	// about is what is wrong, for readers of the table.
	about  string
	inject []fakeserver.Fault
	// setup changes the server beforehand.
	setup func(*fakeserver.Server)
	// url replaces the address of the server.
	url  func(string) string
	want wants
	// swept is an object of which runs that write remove what others left there.
	swept string
	// heavy faults send so much that they are not tried beside each other.
	heavy bool
	// sample: it is tried by every go test.
	sample bool
}

// section is a part of the table.
type section struct {
	title  string
	faults []fault
}

func sections() []section {
	return []section{
		{"Nothing wrong", honest()},
		{"No answer, and broken connections", connections()},
		{"Refusals", refusals()},
		{"Answers that are none", bodies()},
		{"Answers without end", endless()},
		{"Hostile text and objects", hostile()},
		{"Other servers", versions()},
		{"Watches", watches()},
		{"Writes", writes()},
	}
}

// catalog is every fault, in the order of the table.
func catalog() []fault {
	var out []fault
	for _, s := range sections() {
		out = append(out, s.faults...)
	}
	return out
}

func honest() []fault {
	return []fault{{name: "none", about: "an honest server", want: all(want{outcome: same}), sample: true}}
}

// strike is a fault of all requests that match.
func strike(match string, do fakeserver.Answer) []fakeserver.Fault {
	return []fakeserver.Fault{{Match: match, Do: do}}
}

// once is a fault of the first request that matches.
func once(match string, do fakeserver.Answer) []fakeserver.Fault {
	return []fakeserver.Fault{{Match: match, Times: 1, Do: do}}
}

// Requests, as expressions on method and path.
const (
	everything = ``
	claimLists = `^GET /apis/resource.k8s.io/[^/]+(/namespaces/[^/]+)?/resourceclaims(\?|$)`
	lists      = `^GET /api.*/(pods|nodes|resource[a-z]+|device[a-z]+|priority[a-z]+|flowschemas|csi[a-z]+|storageclasses|persistent[a-z]+|namespaces|volumeattachments|podgroups|poddisruptionbudgets|limitranges|workload[a-z]+|[a-z]+queues|cohorts|resourceflavors|admissionchecks|topologies)(\?|$)`
	version    = `^GET /version`
	metrics    = `^GET /metrics`
	discovery  = `^GET /apis/[^/]+/[^/]+$`
	puts       = `^PUT `
	statusPuts = `^PUT .*/status`
	reviews    = `/selfsubjectaccessreviews`
	watching   = `[?&]watch=`
)

// listsOf are the lists of one resource.
func listsOf(resource string) string { return `^GET /api.*/` + resource + `(\?|$)` }

func namesOf(faults []fault) []string {
	var names []string
	for i := range faults {
		names = append(names, faults[i].name)
	}
	return names
}

// has reports whether an outcome is among those.
func (o outcome) has(one outcome) bool { return o&one != 0 }

func (o outcome) String() string {
	names := []string{"same", "fails", "partial", "waits", "unsure"}
	var out []string
	for i, name := range names {
		if o.has(1 << i) {
			out = append(out, name)
		}
	}
	return strings.Join(slices.Clip(out), " or ")
}
