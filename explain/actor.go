package explain

import (
	"slices"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Actor is who has to act.
type Actor string

// The actors, those first that are nearest to who asks.
const (
	User         Actor = "User"         // who has the claim or the pod
	DriverAdmin  Actor = "DriverAdmin"  // who runs the driver of the devices
	ClusterAdmin Actor = "ClusterAdmin" // who runs the cluster, or has what is in other namespaces
)

// actors are the actors in their order.
var actors = []Actor{User, DriverAdmin, ClusterAdmin}

// fixActors says who makes fixes of a kind, as long as they change nothing that belongs to others.
var fixActors = map[FixKind]Actor{
	ReleaseClaim:       User,
	TolerateTaint:      User,
	RelaxSelector:      User,
	DropConstraint:     User,
	ReduceCount:        User,
	ReduceCapacity:     User,
	AddDevices:         ClusterAdmin,
	AddNode:            ClusterAdmin,
	UseNode:            User,
	EnableFeature:      ClusterAdmin,
	UseCapacity:        User,
	UseClass:           User,
	CreateClass:        ClusterAdmin,
	LabelNamespace:     ClusterAdmin,
	UseClaim:           User,
	ReduceRequest:      User,
	MovePod:            ClusterAdmin,
	UncordonNode:       ClusterAdmin,
	PinPod:             User,
	ChangeOrder:        User,
	DropChoice:         User,
	ReduceMinCount:     User,
	WaitFor:            ClusterAdmin,
	RemoveTaint:        ClusterAdmin,
	ChangeStorageClass: User,
	ReducePods:         User,
	UseQueue:           User,
	UseFlavor:          User,
	EndWorkload:        User,
	RaiseQuota:         ClusterAdmin,
}

// requirementActors says who can give up requirements of a kind, as the comment of the kind says what that
// means. Of counters nobody has more, but it is the driver that offers devices which share them.
var requirementActors = map[RequirementKind]Actor{
	CountersRequired:   DriverAdmin,
	ClassTermRequired:  ClusterAdmin,
	PoolRequired:       DriverAdmin,
	FeatureRequired:    ClusterAdmin,
	TaintRequired:      User,
	HeldRequired:       User,
	CapacityRequired:   User,
	TermRequired:       User,
	ConstraintRequired: User,
	CountRequired:      User,
	RequestRequired:    User,

	DeclaredFeatureRequired: ClusterAdmin,
	PodsRequired:            ClusterAdmin,
	VolumeRequired:          User,
	RepelledBy:              ClusterAdmin,
	NodeTaintRequired:       User,
	CordonRequired:          ClusterAdmin,
	NodeAffinityRequired:    User,
	PodAffinityRequired:     User,
	SpreadRequired:          User,
	PortRequired:            User,
	ResourceRequired:        User,
}

// reasonActors says who can mend what is in the way, for reasons that are somebody's fault. For others a fix
// says it.
var reasonActors = map[allocator.Code]Actor{
	allocator.ClassNotFound:   User,
	allocator.PoolIncomplete:  DriverAdmin,
	allocator.PoolInvalid:     DriverAdmin,
	allocator.TooManyDevices:  User,
	allocator.FeatureDisabled: ClusterAdmin,
}

// Actor returns who has to make the fix, for a subject. If several have to act, it is the one who is farthest
// from who asks.
func (f *Fix) Actor(of Subject) Actor {
	all := f.Actors(of)
	return all[len(all)-1]
}

// Actors returns all who have to act to make the fix, for a subject, in the order of actors. There is one at
// least.
func (f *Fix) Actors(of Subject) []Actor {
	var all []Actor
	for _, kind := range append([]FixKind{f.Kind}, f.Also...) {
		switch actor, known := fixActors[kind]; {
		case kind == AddDevices && f.Pool != (inspect.PoolID{}):
			all = append(all, requirementActors[PoolRequired])
		case kind == ReleaseClaim:
			for i := range f.Claims {
				all = append(all, ownerOf(f.Claims[i].Claim, of))
			}
		case kind == MovePod:
			for _, pod := range f.Pods {
				all = append(all, ownerOf(inspect.ClaimRef(pod), of))
			}
		case kind == EndWorkload:
			for _, end := range f.Ends {
				all = append(all, ownerOf(inspect.ClaimRef{Namespace: end.Namespace, Name: end.Name}, of))
			}
		case kind == RelaxSelector:
			all = append(all, selectorActors(f, actor)...)
		case kind == WaitFor && len(f.Patch) > 0: // of the workload that was asked about
			all = append(all, User)
		case known:
			all = append(all, actor)
		default:
			all = append(all, User)
		}
	}
	if f.Recounts != nil {
		all = append(all, ClusterAdmin)
	}
	if len(all) == 0 {
		return []Actor{User}
	}
	slices.SortFunc(all, Actor.Compare)
	return slices.Compact(all)
}

// selectorActors is who changes selectors: those of claims are the user's, those of device classes belong to
// all.
func selectorActors(f *Fix, user Actor) []Actor {
	var all []Actor
	for i := range f.Changes {
		if f.Changes[i].Kind == "DeviceClass" {
			all = append(all, requirementActors[ClassTermRequired])
		} else {
			all = append(all, user)
		}
	}
	if len(all) == 0 {
		return []Actor{user}
	}
	return all
}

// Actor returns who can give up the requirement, for a subject.
func (r *Requirement) Actor(of Subject) Actor {
	actor, known := requirementActors[r.Kind]
	switch {
	case !known:
		return User
	case r.Holder != nil:
		return ownerOf(r.Holder.Claim, of)
	}
	return actor
}

// Actor returns who can mend what the reason is about. It is "" where a fix has to say it.
func (r *Reason) Actor() Actor { return reasonActors[r.Code] }

// ownerOf is who has a claim: the user has those of the namespace of the subject. If that has none, all may
// be the user's.
func ownerOf(claim inspect.ClaimRef, of Subject) Actor {
	if of.Namespace != "" && claim.Namespace != of.Namespace {
		return ClusterAdmin
	}
	return User
}

// Compare orders actors as they are listed.
func (a Actor) Compare(b Actor) int { return slices.Index(actors, a) - slices.Index(actors, b) }
