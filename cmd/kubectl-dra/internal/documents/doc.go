// Package documents holds only tests. They write the pages of docs that are written from the program, and
// they keep all pages true, those that people write as well:
//
//   - docs/commands is written from the help of each command, docs/reasons.md and docs/fixes.md from the
//     comments of the source with an answer of the program for each code, and docs/rbac.md from what commands
//     say without each rule of the roles in docs/rbac. make generate writes them; a test fails when they are
//     not what the program says.
//   - Every block of code in every Markdown file is run (blocks_test.go), with the demo cluster behind an API
//     server. What a block shows as output has to be what the program prints.
//   - Every link, anchor and picture has to lead somewhere, and every page in docs has to be found from the
//     README.
//
// Nothing has to be changed here for a new page: the tests walk the repository. A comment right before a
// block says what its reader knows and the test does not:
//
//	<!-- not run: it asks a kubelet -->        the block is only parsed, and its flags are checked
//	<!-- exits: 1 if nothing is known -->      commands of the block may end with this exit code too, besides 0 and 3
//	<!-- saved as: claim.yaml -->              the block is a file, which later blocks of the page read
//	<!-- unpack: testdata/pods/ports.txtar --> later blocks read the files of this archive
//	<!-- at: 2026-11-22T10:00:00Z -->          the block is run at this time, not at that of the demo cluster
//
// Other files that blocks read are in testdata/stage, or are made by [newStage].
package documents

//go:generate go test . -count=1 -timeout 30m -run TestWritten -update
