// Package replay plays the API server of a large cluster, so that the terminal UI can be measured against
// thousands of nodes and thousands of changes a second on a machine that could not run them.
//
// The server speaks what a real one speaks to the plugin: discovery, lists, watches that begin with what
// there is (streaming lists), and protobuf. Its objects have what real ones have, managed fields included,
// so that they cost as much to decode and to keep. It does not store, admit or authorize anything.
package replay
