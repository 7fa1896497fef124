// Package moves finds pods to move so that others find room.
//
// [MakeRoom] finds the fewest pods that have to go to other nodes so that a pod or a claim fits. It goes
// backwards from what needs room: some pods have to leave a node for it, for each of these others may have to
// leave another node, and so on. A plan is made move by move in the whole cluster before it is given.
package moves
