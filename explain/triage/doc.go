// Package triage looks at everything in a cluster that is stuck: what waits and cannot be scheduled, and what
// has been scheduled and does not run. It puts together what has the same cause, and finds the changes that
// free most of it.
//
// What waits is scheduled in the order of the scheduler's queue, each pod after those before it have got
// their devices and their room: it is the run that package plan plays. A change counts for as many as can be
// placed more when all that waits is scheduled again with the change made. Subjects that ask for the same,
// and differ in nothing that decides, are asked about once: they have one shape.
package triage
