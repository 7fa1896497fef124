// Package plan says what would become of pods if they were created or wait in some cluster.
//
// [Place] puts pods into a cluster. It plays what kube-scheduler does, pod after pod in the order of its
// queue, and looks for the best that could be done: an order and nodes by which all are placed, or a proof
// that there are none. Where the two differ it proposes what makes the scheduler find it. [Outcome] is what
// becomes of all that waits, and [Queue] what that means for pods that were asked about one by one.
//
// Other packages try out clusters that they have changed: explain/disruption what becomes of pods that have
// to go, explain/plan/moves the fewest pods to move so that another one fits, and explain/plan/shapes which
// nodes to add.
//
// All answers are functions of a snapshot. Nothing is written, and what is printed as placed was decided by
// the allocator and the filters, each pod in the cluster that those before it have left.
package plan
