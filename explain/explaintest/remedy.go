package explaintest

import "flag"

var Thorough = flag.Bool("thorough", false, "try 5,000 problems, and look for smaller conflicts")
