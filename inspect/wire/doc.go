// Package wire takes encoded protobuf messages apart without decoding them, as API servers send and snapshots keep them.
package wire
