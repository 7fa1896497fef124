// Package history keeps what a cluster was like in the past in one file, a log, and gives back any moment of
// it.
//
// A log is a sequence of blocks. A block begins with a header of fixed size ([header]): what it is, from when
// to when, how many moments it has and how long it is. So the headers alone are an index by time: [Open]
// reads these, and nothing else. A checkpoint is a block with the whole cluster at one moment, in the form of
// a packed archive; a block of changes is gzip over what became of single objects since. Most changes are
// written as the difference to the object before (delta.go). To give back a moment ([Log.Snapshot]) the last
// checkpoint before it is read, and the changes from there.
//
// A moment is a state of the cluster that differs from the one before. Objects are kept as package archive
// keeps them, without secrets. What changes nothing that is kept, such as the heartbeat of a node, makes no
// moment.
//
// A [Recorder] makes blocks of snapshots. It knows neither files nor the clock. Whoever has the file appends
// them, and drops the oldest ones up to a checkpoint when [Recorder.Surplus] says so. A block is whole or it
// does not count: what was written of the last one when the power failed is no part of the log ([Log.Size]).
package history
