// Package kueue compares what scheduler/kueue decides with Kueue's own cache, queues and scheduler, which run
// in process on the same objects. It is a module of its own, for Kueue needs more modules than all else here.
// `make kueue` runs it.
package kueue
