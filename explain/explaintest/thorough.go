package explaintest

import "flag"

// Thorough is the flag -thorough of the test binaries. It makes tests with random problems take minutes.
var Thorough = flag.Bool("thorough", false, "try 5,000 problems, and look for smaller conflicts")
