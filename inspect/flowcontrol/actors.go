package flowcontrol

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// ActorRole is what somebody does for devices to be allocated and used.
type ActorRole string

// The roles, in the order in which a pod gets its devices.
const (
	RoleDriver          ActorRole = "Driver"          // publishes devices and prepares them
	RoleClaimController ActorRole = "ClaimController" // makes claims from templates, and deletes them
	RoleScheduler       ActorRole = "Scheduler"       // allocates
	RoleKubelet         ActorRole = "Kubelet"         // has devices prepared
)

// ActorEvidence says how it is known as whom somebody asks the API server.
type ActorEvidence string

// The kinds of evidence, the best first.
const (
	// EvidenceName: it is the name that Kubernetes gives it; a cluster may give it another.
	EvidenceName ActorEvidence = "Name"
	// EvidencePods: the driver is that of the only DaemonSet whose pods register with the kubelet on all
	// nodes for which the driver publishes devices.
	EvidencePods ActorEvidence = "Pods"
	// EvidencePossible: it is one of several such DaemonSets, or the service account was not recorded.
	EvidencePossible ActorEvidence = "Possible"
	// EvidenceNone: no such pods were found, so a service account in a namespace of its own stands for it.
	EvidenceNone ActorEvidence = "None"
)

// Actor is somebody whose requests decide how soon pods get devices.
type Actor struct {
	Role ActorRole
	// Driver is the name of the driver, for RoleDriver.
	Driver string
	// User is the name under which it asks the API server; that of the first node for all kubelets.
	User     string
	Groups   []string // with those that the server adds
	Evidence ActorEvidence
	// Asks are typical requests, and where they go.
	Asks []ActorRequest
}

// ActorRequest is a typical request of an actor.
type ActorRequest struct {
	Verb, Resource string
	Classification
	// Crowded says that the requests of any service account of any namespace go to the same level. Whoever
	// floods the server from a pod then competes with the actor.
	Crowded bool
}

// Crowded reports whether a request of the actor goes to a level that is open to all service accounts.
func (a *Actor) Crowded() bool {
	return slices.ContainsFunc(a.Asks, func(r ActorRequest) bool { return r.Crowded })
}

// Levels are the priority levels of the actor's requests, sorted.
func (a *Actor) Levels() []string {
	levels := sets.Set[string]{}
	for i := range a.Asks {
		levels.Insert(a.Asks[i].Level)
	}
	return sets.List(levels)
}

// typicalRequest is a method and a path.
type typicalRequest struct{ method, path string }

const claimsPath, slicesPath = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", "/apis/resource.k8s.io/v1/resourceslices"

// typical are the requests of each role.
var typical = map[ActorRole][]typicalRequest{
	RoleDriver:          {{http.MethodPost, slicesPath}, {http.MethodGet, claimsPath + "/claim"}},
	RoleClaimController: {{http.MethodPost, claimsPath}, {http.MethodPut, claimsPath + "/claim/status"}},
	RoleScheduler:       {{http.MethodPut, claimsPath + "/claim/status"}, {http.MethodPost, "/api/v1/namespaces/default/pods/pod/binding"}},
	RoleKubelet:         {{http.MethodGet, claimsPath + "/claim"}, {http.MethodDelete, slicesPath}},
}

// DRAActors returns who takes part in giving pods their devices, in the order of roles and then of drivers:
// as whom they ask the API server, and which priority level that leads to. It is nil where the priority
// levels or the FlowSchemas of the snapshot are not known.
func DRAActors(s *inspect.Snapshot) []Actor {
	if len(s.PriorityLevels()) == 0 || len(s.Objects().FlowSchemas) == 0 {
		return nil
	}
	var out []Actor
	nodes, plugins := publishing(s), pluginAccounts(s)
	for _, driver := range slices.Sorted(maps.Keys(nodes)) {
		out = append(out, accountsOf(driver, nodes[driver], plugins)...)
	}
	kubelet := Actor{Role: RoleKubelet, User: "system:node:" + firstNode(s, nodes), Groups: []string{user.NodesGroup}, Evidence: EvidenceName}
	out = append(out,
		Actor{Role: RoleClaimController, User: serviceaccount.MakeUsername(metav1.NamespaceSystem, "resource-claim-controller"), Evidence: EvidenceName},
		Actor{Role: RoleScheduler, User: user.KubeScheduler, Evidence: EvidenceName}, kubelet)
	limits := Compute(s.PriorityLevels(), DefaultServerConcurrency) // classification does not depend on it
	for i := range out {
		out[i].ask(s, &limits)
	}
	return out
}

// ask classifies the typical requests of an actor.
func (a *Actor) ask(s *inspect.Snapshot, limits *Limits) {
	a.Groups = AllGroups(a.User, a.Groups)
	for _, typical := range typical[a.Role] {
		at := &url.URL{Path: typical.path}
		mine, err := NewRequest(a.User, a.Groups, typical.method, at)
		if err != nil {
			continue // no path above is one that cannot be read
		}
		c := Classify(s.Objects().FlowSchemas, limits, &mine)
		anybody, err := NewRequest(AnyAccount, nil, typical.method, at)
		crowded := err == nil && !c.Exempt && Classify(s.Objects().FlowSchemas, limits, &anybody).Level == c.Level
		a.Asks = append(a.Asks, ActorRequest{Verb: mine.Info.Verb, Resource: mine.Resource(), Classification: c, Crowded: crowded})
	}
}

// AnyAccount stands for every service account that no rule names.
const AnyAccount = serviceaccount.ServiceAccountUsernamePrefix + "a-namespace-of-its-own:a-service-account-of-its-own"

// publishing are the nodes for which each driver publishes devices. A driver may publish none that are of a
// node.
func publishing(s *inspect.Snapshot) map[string]sets.Set[string] {
	out := map[string]sets.Set[string]{}
	for _, slice := range s.Slices() {
		if out[slice.Spec.Driver] == nil {
			out[slice.Spec.Driver] = sets.Set[string]{}
		}
		if name := ptr.Deref(slice.Spec.NodeName, ""); name != "" {
			out[slice.Spec.Driver].Insert(name)
		}
	}
	return out
}

// firstNode is the first node with devices, or else the first of all.
func firstNode(s *inspect.Snapshot, publishing map[string]sets.Set[string]) string {
	all := sets.Set[string]{}
	for _, nodes := range publishing {
		all = all.Union(nodes)
	}
	if len(all) > 0 {
		return sets.List(all)[0]
	}
	if nodes := s.Nodes(); len(nodes) > 0 {
		return nodes[0].Name
	}
	return "NODE"
}

// account is a service account.
type account struct{ namespace, name string }

// pluginAccounts are the service accounts of DaemonSets whose pods register with the kubelet, and the nodes
// on which these run.
func pluginAccounts(s *inspect.Snapshot) map[account]sets.Set[string] {
	out := map[account]sets.Set[string]{}
	for _, set := range inspect.PluginSets(s) {
		for node, pods := range set.Pods {
			a := account{set.Namespace, pods[0].Spec.ServiceAccountName}
			if out[a] == nil {
				out[a] = sets.Set[string]{}
			}
			out[a].Insert(node)
		}
	}
	return out
}

// accountsOf returns as whom a driver asks: the service accounts whose plugins run on all nodes of the
// driver.
func accountsOf(driver string, nodes sets.Set[string], plugins map[account]sets.Set[string]) []Actor {
	var found []account
	for a, on := range plugins {
		if len(nodes) > 0 && on.IsSuperset(nodes) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, func(a, b account) int {
		return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
	})
	if len(found) == 0 {
		return []Actor{{Role: RoleDriver, Driver: driver, User: AnyAccount, Evidence: EvidenceNone}}
	}
	out := make([]Actor, len(found))
	for i, a := range found {
		name := serviceaccount.MakeUsername(a.namespace, cmp.Or(a.name, "default"))
		out[i] = Actor{Role: RoleDriver, Driver: driver, User: name, Evidence: EvidencePossible}
		if len(found) == 1 && a.name != "" { // its name was recorded
			out[i].Evidence = EvidencePods
		}
	}
	return out
}
