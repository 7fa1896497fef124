// Package rewording holds only a test: that nothing depends on how a message is worded.
//
// Groups, counts, orders and layouts are to follow from typed fields and keys, never from a sentence that is
// read back. So the test says everything in other words and compares all that is not prose. rewrite_test.go
// makes copies of the packages that explain, in which every literal that is prose, and every value of a field
// that holds prose, goes through testdata/reworded.go; prose_test.go decides which those are. The copies are
// compiled into a second test binary with go build -overlay, which answers the questions of questions_test.go
// as this one does, once for each way of rewording. outline_test.go leaves out of an answer what may differ.
// Whoever shows an answer is given it with tokens in the place of its texts as well (token_test.go): what is
// shown must be the same once the texts are put back.
//
// It is in cmd because that is where the printers of commands can be imported.
package rewording
