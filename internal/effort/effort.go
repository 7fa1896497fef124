package effort

import (
	"math"
	"os"
)

// Variable is the environment variable that asks for the full run, when it is "all", and for the one of a change, when it is
// "more". The go command notices that a test reads it, so results of one run are never taken for those of another.
const Variable = "KUBECTL_DRA_TESTS"

// Full reports whether this is the full run.
func Full() bool { return os.Getenv(Variable) == "all" }

// Usual reports whether this is the usual run.
func Usual() bool { return Of(4, 1) == 1 }

// Of returns how many there are to be in the full run or in the usual one; in that of a change, their geometric mean.
func Of(full, usual int) int {
	switch os.Getenv(Variable) {
	case "all":
		return full
	case "more":
		return int(math.Round(math.Sqrt(float64(full) * float64(usual))))
	}
	return usual
}
