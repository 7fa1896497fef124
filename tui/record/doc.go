// Package record says what has happened between two worlds, one of which follows the other: claims that were
// allocated or released, pods that are refused, devices that were tainted, pools, drivers and nodes that came
// and went.
//
// Its cost is that of what has changed, and of comparing one pointer for each claim, pod, node and slice.
package record
