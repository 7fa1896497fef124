package text_test

import (
	"context"
	"fmt"
	"log"

	"github.com/kubectl-dra/kubectl-dra/explain/question"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// A line is a list of pieces of text, each with a role that a terminal shows as a colour. As a string it has
// no colours. Width is that of the terminal, to which long lines are wrapped.
func ExampleLines() {
	objects, err := demo.Objects()
	if err != nil {
		log.Fatal(err)
	}
	snapshot := inspect.New(objects, inspect.Config{Time: demo.Now(), Features: inspect.DefaultFeatures(inspect.NewestMinor)})
	c := scheduler.NewCluster(snapshot, scheduler.Options{})
	e, err := question.Claim(context.Background(), c, inspect.ClaimRef{Namespace: "ml", Name: "train-0"}, question.Options{})
	if err != nil {
		log.Fatal(err)
	}
	for _, line := range text.Lines(e, text.Options{Width: 80}) {
		fmt.Println(line)
	}
	// Output:
	// ✗ ml/train-0 needs 5 devices of class gpu.example.com with the same numa; no
	//   node has more than 4 free together
	//
	// Why  on gpu-b-04, one of the closest nodes, removing either of these is enough:
	//     spec.devices.requests[0].exactly.count      gpus needs 5 devices; 6 here fit
	//     spec.devices.constraints[0]
	//       all on the same gpu.example.com/numa; 4 of those that fit have 0, 2 have 1
	//
	// Fixes  you can
	//   1  ask for 4 devices instead of 5 → 2 nodes
	//   2  drop the constraint: all on the same gpu.example.com/numa → gpu-b-04
	// Or the cluster's admin can
	//   3  add 1 device like gpu-0 to gpu-b-04
	//      Neither releasing claims nor adding more nodes like the existing ones
	//      helps.
	//
	// Nodes
	//     2  gpu-a-02, gpu-b-03: gpus 8 of its class: 4 in use, 4 left
	//     1  gpu-a-03: gpus 8 of its class: 1 tainted, 3 in use, 4 left
	//     1  gpu-b-04: gpus 8 of its class: 2 in use, 6 left, at most 4 of them
	//          together
	//     3  gpu-a-01 and 2 more: gpus 8 of its class: 8 in use, 0 left
	//     1  gpu-a-04: gpus 8 of its class: 8 tainted, 0 left
	//     4  cpu-01 and 3 more: gpus has no device of its class here
	//
	// The scheduler's own message
	//   pod train-0: 0/12 nodes are available: 12 cannot allocate all claims.
}
