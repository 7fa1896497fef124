package effort

import "os"

// Variable is the environment variable that asks for the full run, when it is "all", and for the one of a
// change, when it is "more". The go command notices that a test reads it, so results of one run are never
// taken for those of another.
const Variable = "KUBECTL_DRA_TESTS"

// times is how much larger the run of a change is than the usual one.
const times = 4

// Full reports whether this is the full run. What repeats one thing over many inputs, fields or commands, and
// is no comparison of random problems, is larger in that only: a change is asked about the usual part of it.
func Full() bool { return os.Getenv(Variable) == "all" }

// Usual reports whether this is the usual run.
func Usual() bool { return !Full() && os.Getenv(Variable) != "more" }

// Of returns how many there are to be in the full run or in the usual one; in that of a change, four times as
// many as in the usual one and never more than in the full one. Where every n-th is taken, full is 1 and
// usual is larger.
func Of(full, usual int) int {
	switch {
	case Full():
		return full
	case Usual():
		return usual
	case full < usual:
		return max(full, (usual+times-1)/times)
	}
	return min(full, times*usual)
}

// InFull returns how many there are to be in the full run, or in every other one.
func InFull(full, otherwise int) int {
	if Full() {
		return full
	}
	return otherwise
}

// InUsual returns how many there are to be in the usual run, or in every other one: what one change is asked
// about more of than whoever makes it.
func InUsual(usual, otherwise int) int {
	if Usual() {
		return usual
	}
	return otherwise
}
