// Package replay decides what kube-scheduler does with several pods that it takes one after the other.
//
// A [Member] is a pod or a claim that can be asked in any cluster: its [Turn] says on which nodes it can be
// placed, and a [Reservation] what it has then, with which [With] makes the next cluster.
//
// A [Replay] plays the scheduler's queue: each pod goes to the node that the scores of [Choosing] choose, and
// those that were left waiting are tried again when something may have changed for them. [ByScores] plays
// every choice that is left open: nodes that are as good as each other, and pods whose turn is the same
// ([SameTurn]).
//
// Where that are too many, or what decides is not known, the scheduler may put a pod on any node that fits.
// [Explore] looks at all such runs of a [Queue]: of every member it says whether it is placed in some runs
// and left waiting in others. Where all runs agree, that is the answer; where they do not, it depends on the
// scheduler's choice. [Solve] looks for a run that places all, in any order. [Certainly] says what the two
// know together.
//
// Three things keep that small. Where members change nothing but the node that they are on ([Queue.Local]),
// nodes that look alike to all of them are tried once; members of one shape fill nodes in whatever order to
// the same number; and who fits on more nodes than others can touch is placed in every run. What is not
// looked at within the limit is said to be open.
package replay
