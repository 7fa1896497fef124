package screen

import "github.com/kubectl-dra/kubectl-dra/explain/words"

// CompareNames orders names, and other texts, so that numbers in them count by value: gpu-2 comes before gpu-10.
func CompareNames(a, b string) int { return words.CompareNames(a, b) }
