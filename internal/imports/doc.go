// Package imports holds no code but a test: who may import whom in this module.
//
// The rule is data (the tables in rules_test.go), so that a change of the module's shape is a change of a
// table that a reviewer sees. The test parses the source files and runs nothing, so it is fast; only what the
// program may not contain by any way is asked of the go command.
//
// Imports point one way:
//
//	inspect < inspect/*, allocator/selector < allocator < allocator/commit, explain
//	        < explain/text < tui/* < cmd
//
// Within tui: theme < widget < screen < listing, reading < screen/* < tui.
//
// Within cmd: output < cli/shared/console < cli/shared/sources < cli/shared/inquiry < cli/* < cli.
//
// A package that no line of the table covers is refused: a new folder needs a decision.
package imports
