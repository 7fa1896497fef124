package question

import (
	"fmt"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/allocator"
	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/whatif"
	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// maxFences is the number of fences that are named of those that keep devices from a claim.
const maxFences = 3

// fence says, after what is said of a taint, how the taint is lifted if this program made it. It is ""
// otherwise.
func fence(s *inspect.Snapshot, id inspect.DeviceID, taint *resourcev1.DeviceTaint) string {
	advice := ""
	if taint.Key == inspect.FenceKey {
		for _, name := range s.Fences(id) {
			advice += "; it is " + inspect.FenceAdvice(name)
		}
	}
	return advice
}

// fenceNotes says how the fences are lifted that keep devices from a claim, in the order in which the groups
// name the devices.
func fenceNotes(q *whatif.Question, groups []explain.Group) []explain.Note {
	s := q.Cluster.Snapshot()
	if !slices.ContainsFunc(s.Objects().TaintRules, func(r *resourcev1.DeviceTaintRule) bool { return r.Spec.Taint.Key == inspect.FenceKey }) {
		return nil
	}
	var notes []explain.Note
	said := map[string]bool{}
	for _, id := range taintedDevices(groups) {
		for _, name := range s.Fences(id) {
			if !said[name] && len(said) < maxFences {
				said[name] = true
				notes = append(notes, explain.Note{Kind: "DeviceTaintRule", Name: name, Message: fmt.Sprintf("device %s is %s", id, inspect.FenceAdvice(name))})
			}
		}
	}
	return notes
}

// taintedDevices returns the devices that the funnels of groups lose because of a taint.
func taintedDevices(groups []explain.Group) []inspect.DeviceID {
	var out []inspect.DeviceID
	for g := range groups {
		for _, funnel := range groups[g].Funnels {
			for _, step := range funnel.Steps {
				for _, loss := range step.Lost {
					if loss.Code == allocator.DeviceTainted {
						out = append(out, loss.Devices...)
					}
				}
			}
		}
	}
	return out
}
