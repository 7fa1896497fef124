package effort

import "os"

// Variable is the environment variable that asks for the full run, when it is "all". The go command notices
// that a test reads it, so results of the usual run are never taken for those of the full one.
const Variable = "KUBECTL_DRA_TESTS"

// Full reports whether this is the full run.
func Full() bool { return os.Getenv(Variable) == "all" }

// Of returns how many there are to be in the full run or in the usual one.
func Of(full, usual int) int {
	if Full() {
		return full
	}
	return usual
}
