// Package queues is the view of the ClusterQueues of Kueue: the quota that each has, uses, borrows and lends,
// who waits for it, and why the first of them does not go.
package queues
