// Package archive saves a snapshot to one file and reads it back, so that a question can be asked of a
// cluster elsewhere and later, with the same answer.
//
// An archive is gzip over a sequence of JSON values, one on each line: a [Header] of kind Snapshot, then the
// objects as Kubernetes has them, so that zcat and jq are enough to look inside. With [Options.Packed] only
// the header is JSON, and the objects are protobuf; see packed.go. The header has what is no object: the time
// from which ages are measured, the features, how far each resource could be read, and the number of objects,
// by which an archive that was cut off is told.
//
// [Write] leaves out what no question reads and what may be secret; reduce.go says exactly what.
// [Options.Anonymize] also replaces every text that is not public; rename.go says how, and why the answers
// stay the same, expression.go what becomes of selectors. What is lost either way: empty lists that were
// written out ("[]"), which the API server would have dropped as well.
package archive
