package archive

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Names are replaced by numbered ones, such as claim-07 or node-112, one row of numbers for each sort of
// name. The numbers follow the bytewise order of the names that they stand for, and have the same number
// of digits: the scheduler's choice depends on the order of nodes, pools and slices by name, so that the
// answers stay the same. The same name gets the same number wherever it occurs.
//
// A name that stays as it is, because everybody knows it (public.go), keeps its place in that order too:
// what stood behind gpu.nvidia.com becomes gpu.nvidia.com.driver-1.
//
// The objects are walked twice: first to learn the names, then to replace them.

// names is a sort of name; its value is what the new names begin with.
type names string

const (
	namespaces      names = "ns"
	claims          names = "claim"
	templates       names = "template"
	classes         names = "class"
	requests        names = "request"
	drivers         names = "driver" // and the domains of attributes
	identifiers     names = "id"     // of attributes and capacities, and variables in expressions
	devices         names = "device"
	pods            names = "pod"
	podClaims       names = "podclaim"  // names of claims within a pod
	podVolumes      names = "podvolume" // and of volumes
	nodes           names = "node"
	pools           names = "pool"
	slicesOf        names = "slice"
	taintRules      names = "taintrule"
	containers      names = "container"
	podGroups       names = "podgroup"
	owners          names = "owner" // objects of other kinds
	resources       names = "example.com/resource"
	volumes         names = "volume"
	volumeClaims    names = "volumeclaim"
	capacities      names = "capacity"
	attachments     names = "attachment"
	quotas          names = "quota"
	budgets         names = "budget"
	limitRanges     names = "limitrange"
	workloads       names = "workload"
	clusterQueues   names = "clusterqueue"
	localQueues     names = "localqueue"
	cohorts         names = "cohort"
	flavors         names = "flavor"
	priorityClasses names = "priorityclass"
	admissionChecks names = "check"
	topologies      names = "topology"
	podSets         names = "podset"
	storageClasses  names = "storageclass"
	csiDrivers      names = "csi"
	flowSchemas     names = "flowschema"
	priorityLevels  names = "prioritylevel"
	users           names = "user"
	groups          names = "group"
	serviceAccounts names = "serviceaccount"
	uids            names = "00000000-0000-4000-8000"
	values          names = "value" // all other text
)

// known are the names that are looked for in other text: a label, a taint or an attribute may hold the name
// of a node. In this order, where several sorts have the name.
var known = []names{
	nodes, pools, namespaces, claims, pods, templates, drivers, classes, devices, slicesOf, volumes, volumeClaims, storageClasses,
	csiDrivers, taintRules, containers, podGroups, owners, capacities, flowSchemas, priorityLevels, users, groups, serviceAccounts,
	workloads, clusterQueues, localQueues, cohorts, flavors, priorityClasses, admissionChecks, topologies, podSets,
}

// renamer replaces names, or only learns them.
type renamer struct {
	learning bool
	known    map[names]map[string]string
	// own is what the object that is walked is called.
	own names
	// strings are, while and after learning, the values of attributes by identifier, for expressions.
	strings map[string]map[string]bool
	// ephemeral are the names of claims for volumes that are made of the names of a pod and of a volume in
	// it.
	ephemeral map[string][2]string
	// inexact counts the expressions that may answer differently.
	inexact int
}

func newRenamer() *renamer {
	return &renamer{learning: true, known: map[names]map[string]string{}, strings: map[string]map[string]bool{}, ephemeral: map[string][2]string{}}
}

// name replaces one name; empty ones stay empty, and those that everybody knows stay as they are.
func (r *renamer) name(of names, name string) string {
	if name == "" {
		return ""
	}
	if r.learning {
		if r.known[of] == nil {
			r.known[of] = map[string]string{}
		}
		r.known[of][name] = ""
		return name
	}
	return r.known[of][name]
}

// text replaces text that is no name by itself. Text of public words and small numbers stays as it is.
func (r *renamer) text(s string) string {
	if s == "" || public(s) {
		return s
	}
	if !r.learning {
		for _, of := range known {
			if renamed, ok := r.known[of][s]; ok {
				return renamed
			}
		}
	}
	return r.name(values, s)
}

// number ends the learning.
func (r *renamer) number() {
	for text := range r.known[values] {
		if slices.ContainsFunc(known, func(of names) bool { _, ok := r.known[of][text]; return ok }) {
			delete(r.known[values], text)
		}
	}
	for of, known := range r.known {
		sorted := slices.Sorted(maps.Keys(known))
		kept, before := 0, ""
		for _, name := range sorted {
			if publicName(of, name) {
				kept++
				before = "0." // before all letters
			}
		}
		n, digits := 0, len(fmt.Sprint(len(sorted)-kept))
		for _, name := range sorted {
			if publicName(of, name) {
				known[name], before = name, name+"."
				continue
			}
			n++
			known[name] = of.numbered(n, digits, before)
		}
	}
	for name, of := range r.ephemeral {
		if _, ok := r.known[volumeClaims][name]; ok {
			r.known[volumeClaims][name] = r.known[pods][of[0]] + "-" + r.known[podVolumes][of[1]]
		}
	}
	r.learning = false
}

// numbered is a new name. before is what keeps it behind a name that stays.
func (of names) numbered(n, digits int, before string) string {
	switch of {
	case uids:
		return fmt.Sprintf("%s-%012d", of, n)
	case identifiers: // as CEL wants them
		return fmt.Sprintf("%s_%0*d", of, digits, n)
	case drivers, classes, flowSchemas, priorityLevels, csiDrivers, storageClasses:
		return fmt.Sprintf("%s%s-%0*d", before, of, digits, n)
	}
	return fmt.Sprintf("%s-%0*d", of, digits, n)
}

// request replaces "request" or "request/subrequest".
func (r *renamer) request(s string) string {
	if generatedRequest.MatchString(s) {
		return s
	}
	request, sub, both := strings.Cut(s, "/")
	if !both {
		return r.name(requests, s)
	}
	return r.name(requests, request) + "/" + r.name(requests, sub)
}

// qualified replaces "domain/identifier" or "identifier".
func (r *renamer) qualified(s string) string {
	domain, id, both := strings.Cut(s, "/")
	if !both {
		return r.name(identifiers, s)
	}
	return r.name(drivers, domain) + "/" + r.name(identifiers, id)
}

// implicitResource comes before the name of a class where that is asked for as an extended resource.
const implicitResource = "deviceclass.resource.kubernetes.io/"

// resource replaces the name of a resource of nodes, containers and quotas.
func (r *renamer) resource(s string) string {
	if class, ok := strings.CutPrefix(s, implicitResource); ok {
		return implicitResource + r.name(classes, class)
	}
	if public(s) {
		return s
	}
	if renamed, ok := r.quota(s); ok {
		return renamed
	}
	return r.name(resources, s)
}

// Of what a quota may be, besides resources of containers.
const (
	requestsOf        = "requests."
	devicesOfClass    = ".deviceclass.resource.k8s.io/"
	volumesOfClass    = ".storageclass.storage.k8s.io/"
	deviceQuota       = "devices"
	volumeQuotaSize   = "requests.storage"
	volumeQuotaClaims = "persistentvolumeclaims"
)

// quota replaces the name of what a quota limits by class. Other names give false.
func (r *renamer) quota(s string) (string, bool) {
	if class, what, ok := strings.Cut(s, devicesOfClass); ok && what == deviceQuota {
		return r.name(classes, class) + devicesOfClass + what, true
	}
	if class, what, ok := strings.Cut(s, volumesOfClass); ok && (what == volumeQuotaSize || what == volumeQuotaClaims) {
		return r.name(storageClasses, class) + volumesOfClass + what, true
	}
	if name, ok := strings.CutPrefix(s, requestsOf); ok {
		return requestsOf + r.resource(name), true
	}
	return "", false
}

// port keeps addresses that mean all of a node, or the node itself.
func (r *renamer) port(s string) string {
	if address, err := netip.ParseAddr(s); err == nil && (address.IsUnspecified() || address.IsLoopback()) {
		return s
	}
	return r.text(s)
}

// runtime keeps which program runs containers, and its version.
func (r *renamer) runtime(s string) string {
	name, version, ok := strings.Cut(s, "://")
	if !ok || !publicRuntimes[name] {
		return r.text(s)
	}
	return name + "://" + r.version(version)
}

// each replaces the items of a list that commas separate.
func each(by rule) rule {
	return func(r *renamer, s string) string {
		parts := strings.Split(s, ",")
		for i := range parts {
			parts[i] = by(r, parts[i])
		}
		return strings.Join(parts, ",")
	}
}

// version keeps the numbers of a version; what comes behind may say anything.
func (r *renamer) version(s string) string {
	parts := versionParts.FindStringSubmatch(s)
	if parts == nil || parts[2] == "" && parts[3] != "" {
		return r.text(s) // not a version
	}
	if parts[3] == "" || publicSuffix.MatchString(parts[3]) {
		return s
	}
	return parts[1] + parts[2] + r.text(parts[3])
}
