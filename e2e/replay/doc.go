// Package replay has only tests. They play the API server of a large cluster (server_test.go), so that
// commands and the terminal UI can be measured against thousands of nodes and thousands of changes a second
// on a machine that could not run them, and type commands into shells: real ones in a pseudo terminal, with a
// real kubectl that asks the product what TAB is to offer.
//
// The server speaks what a real one speaks to the plugin: discovery, lists, watches that begin with what
// there is (streaming lists), and protobuf. Its objects have what real ones have, managed fields included,
// so that they cost as much to decode and to keep. It does not store, admit or authorize anything.
package replay
