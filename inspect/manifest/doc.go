// Package manifest reads Kubernetes objects from files, directories and standard input, so that every
// question can be asked without a cluster.
//
// Read takes paths, ReadBytes takes data; both return a Result: the objects of the kinds that a
// Snapshot carries, each at its newest API version and with the defaults that the API server would
// have set, what the API server would have refused (Warning), and what was left out (Skipped).
//
// The way of one document: a file is read and, when it is gzip, unpacked; it is cut into documents, and
// large lists into their items, so that memory follows the largest object and not the file
// (source.go, document.go, jsonscan.go, yaml.go); the document's apiVersion and kind choose a decoder
// (kind.go); decoding is strict where that gives a warning and lenient where it decides
// (decode.go); the object is converted to the newest version, defaulted (defaults.go) and validated
// (package validate).
//
// Two sorts of bad input are kept apart. What the API server would refuse although it can be decoded is a
// Warning: the object is kept, and decided as the scheduler would decide it. What cannot be decoded (half a
// file, a string where a list belongs, the same object twice with different content) is an *Error, because an
// answer without that object could be wrong. In a directory, which may hold much that nobody thinks of, such
// an *Error is a failure: the rest is read, and the Health of what is missing says so.
package manifest
