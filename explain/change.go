package explain

import (
	"context"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// What changes cost, roughly: the user's own claim is changed before others are disturbed, and what is
// wanted is given up in small steps before large ones.
const (
	costNode      = 5
	costClass     = 8
	costIdle      = 10 // and one for each claim
	costValue     = 20
	costCount     = 25
	costNarrow    = 28 // a constraint that is about fewer requests
	costDrop      = 30
	costTolerate  = 40
	costAll       = 42 // a number instead of all: who monitors devices cannot do with some
	costClassOf   = 45 // another class of the driver
	costRelease   = 50 // and ten for each claim, one for each of its pods and devices
	costFeature   = 500
	costDevices   = 510
	costClassTerm = 520
	costCreate    = 530
	costSeveral   = 1000 // more than one change
)

// maxValuesTried is how many values are tried instead of the one that is asked for.
const maxValuesTried = 8

// change is a fix that is not verified yet.
type change struct {
	kind  FixKind
	also  []FixKind
	edits []edit
	cost  int
	// key tells changes of a kind apart, whatever they are called.
	key     string
	message string
	claims  []inspect.ClaimRef // that are released
	// node is one that is known to fit with the change. namesNode: the message names it.
	node      inspect.NodeName
	namesNode bool
	// fitting, if not nil, finds the nodes that fit with the change; otherwise all are asked with the edits made.
	fitting func(ctx context.Context) (nodeSet, error)
}

// forRequest names the request of a requirement where there are several, and always a subrequest.
func forRequest(q *question, r *Requirement) string {
	requests := 0
	for i, claim := range q.claims {
		if q.firstOfTemplate(i) {
			requests += len(claim.Spec.Devices.Requests)
		}
	}
	if requests < 2 && !strings.Contains(r.Request, "/") {
		return ""
	}
	return " for " + r.Request
}
