package explaintest

import "fmt"

func NodeName(n int) string { return fmt.Sprintf("n%d", n) }
