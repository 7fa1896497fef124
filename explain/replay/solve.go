package replay

import (
	"context"
)

// Solution is how members of a queue can be placed together.
type Solution struct {
	// Run places them. It is nil if no run does, or none was found.
	Run Run
	// Impossible says that no run does, whatever the order of the members and the choice of nodes.
	Impossible bool
	// Asks is the number of times that a member was asked about nodes.
	Asks int
}

// Solve looks for an order of the members of a queue, and nodes for them, by which so many are placed
// together. Priorities and groups do not matter to it. Each member has the devices that the scheduler would
// pick on its node at its turn.
func Solve(ctx context.Context, queue Queue, need int) (*Solution, error) {
	all := Entity{Need: need}
	for _, m := range MembersOf(queue.Entities) {
		member := *m
		member.Class = 0
		all.Members = append(all.Members, &member)
	}
	queue.Entities = []Entity{all}
	x := &explorer{Queue: queue, first: true}
	result, err := x.explore(ctx)
	if err != nil {
		return nil, err
	}
	run := result.Groups[0].Placed
	return &Solution{Run: run, Asks: result.Asks, Impossible: run == nil && (!result.Open || result.Groups[0].Proven)}, nil
}
