// Package plan says what would become of pods and devices if something were done: if many pods were created,
// a node were drained, devices were lost.
//
// [Place] puts pods into a cluster. It plays what kube-scheduler does, pod after pod in the order of its
// queue, and looks for the best that could be done: an order and nodes by which all are placed, or a proof
// that there are none. Where the two differ it proposes what makes the scheduler find it.
//
// [Play] says what becomes of pods by an [Event]: a node is drained or lost, devices are lost, a namespace is
// deleted. [FindWeakest] looks for the loss that does most harm. A [Trial] lets other packages try out
// clusters that they have changed: explain/plan/moves finds the fewest pods to move so that another one fits,
// and explain/plan/shapes which nodes to add.
//
// All answers are functions of a snapshot. Nothing is written, and what is printed as placed was decided by
// the allocator and the filters, each pod in the cluster that those before it have left.
package plan
