package replay

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// Queue is what is placed, in the order in which the scheduler takes it.
type Queue struct {
	// Base is the cluster before anything is placed.
	Base     *scheduler.Cluster
	Entities []Entity
	// Local says that a member that is placed changes nothing for others but what is left of its node, and
	// that it cannot be placed where it could not be in Base.
	Local bool
	// MaxAsks is the number of times that a member is asked about its nodes, so that the exploration ends. 0
	// is a limit that takes about a second.
	MaxAsks int
}

// Entity is what the scheduler takes from its queue at once: a pod or, of a pod group, all pods that wait.
type Entity struct {
	Members []*Member
	// Need is the number of members that have to find room so that any is placed. For less than 2 each is
	// placed by itself.
	Need int
	// Group is what the members are of, as "PodGroup train", or "" for a pod or claim by itself.
	Group string
}

// Member is a pod or a claim of a queue.
type Member struct {
	Subject explain.Subject
	// Pod is nil for a claim.
	Pod *corev1.Pod
	// Shape is the same for members that differ in nothing but their names. It is "" for a member that is
	// like no other.
	Shape string
	// Class is ascending in an entity. The order of members of the same class is not known: any may be the
	// first.
	Class int
	// NonLocal reports whether placing the pod can affect other nodes, or depends on where other pods are.
	NonLocal bool
	// Unseen says that it takes more than a Reservation shows, of what others that are Unseen may need:
	// volumes that are chosen with the node.
	Unseen bool
	// Claims are what it asks for, to find nodes that look alike. They are nil, and PerNode is true, if that
	// depends on the node.
	Claims  []*resourcev1.ResourceClaim
	PerNode bool
	// Ask says where the member can be placed in a cluster: on which of the nodes, or of all if they are nil.
	Ask func(ctx context.Context, c *scheduler.Cluster, nodes []*corev1.Node) (*Turn, error)
}

// Index is where the members of entities are.
func Index(entities []Entity) map[explain.Subject][2]int {
	out := map[explain.Subject][2]int{}
	for e := range entities {
		for m := range entities[e].Members {
			out[entities[e].Members[m].Subject] = [2]int{e, m}
		}
	}
	return out
}

// MembersOf are the members of entities, in their order.
func MembersOf(entities []Entity) []*Member {
	var out []*Member
	for i := range entities {
		out = append(out, entities[i].Members...)
	}
	return out
}

// InAnyOrder makes the pods of a queue one entity, in which those of the same priority come in any order that
// were created in the same second, and reports whether there are such that differ. A queue of which others
// than single pods are part stays as it is.
func (queue *Queue) InAnyOrder() (tied bool) {
	var all Entity
	class := 0
	for n, m := range MembersOf(queue.Entities) {
		if m.Pod == nil {
			return false
		}
		if n > 0 && !SameTurn(all.Members[n-1].Pod, m.Pod) {
			class++
		}
		member := *m
		member.Class = class
		if n > 0 && all.Members[n-1].Class == class && (m.Shape == "" || all.Members[n-1].Shape != m.Shape) {
			tied = true
		}
		all.Members = append(all.Members, &member)
	}
	if !slices.ContainsFunc(queue.Entities, func(e Entity) bool { return len(e.Members) > 1 || e.Need > 1 }) {
		queue.Entities = []Entity{all}
	}
	return tied
}

// Turn is what may become of a member at its turn.
type Turn struct {
	// Options are the nodes that the scheduler may choose, in the order of the cluster.
	Options []Option
	// MayWait says that none may be chosen, for a reason that is not known.
	MayWait bool
	// Open says that there may be more options than those.
	Open bool
	// Fails says that the scheduler gives up on the member, and on its group, with an error.
	Fails bool
}

// Option is a node for a member.
type Option struct {
	Node inspect.NodeName
	// Reserve is what the member then has.
	Reserve func(ctx context.Context) (*Reservation, error)
}

// Reservation is what a member has once it is placed.
type Reservation struct {
	// Pod is the pod on its node. It is nil for a claim.
	Pod *corev1.Pod
	// Claims are the claims with their allocations.
	Claims []*resourcev1.ResourceClaim
}

// With is the cluster once members have what they take.
func With(c *scheduler.Cluster, reservations ...*Reservation) *scheduler.Cluster {
	var claims []*resourcev1.ResourceClaim
	var pods []*corev1.Pod
	for _, t := range reservations {
		claims = append(claims, t.Claims...)
		if t.Pod != nil {
			pods = append(pods, t.Pod)
		}
	}
	return scheduler.NewCluster(c.Snapshot().WithPlaced(claims, pods), scheduler.Options{Like: c})
}
