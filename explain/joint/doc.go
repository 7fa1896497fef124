// Package joint decides about several pods and claims that are placed one after the other.
//
// The scheduler takes one pod at a time, or all pods of a group, and puts each on a node that it likes best. Which of the
// nodes that fit that is follows from scores that are not modelled, and in part from chance. So there are many runs, and
// [Explore] looks at all that differ: of every member of a [Row] it says whether it is placed in some runs and left waiting in
// others. Where all runs agree, that is the answer; where they do not, it depends on the scheduler's choice.
//
// Three things keep that small. Where members change nothing but the node that they are on ([Row.Local]), nodes that look alike
// to all of them are tried once; members of one shape fill nodes in whatever order to the same number; and who fits on more
// nodes than others can touch is placed in every run. What is not looked at within the limit is said to be open.
//
// [Solve] looks for a run in any order, whatever the scheduler's would be: whether all can be placed together at all.
package joint
