package selector

import (
	"sync"

	"k8s.io/dynamic-resource-allocation/cel"
)

// A compiler is the scheduler's own, for one set of features.
type compiler interface {
	CompileCELExpression(expression string, options cel.Options) cel.CompilationResult
}

var compilers = struct {
	sync.Mutex
	of map[cel.Features]compiler
}{of: map[cel.Features]compiler{}}

// compilerFor returns the compiler for a set of features, of which there are four. Upstream keeps only that
// of the features that were asked for last: whoever goes back and forth between features makes it build one,
// with its environments, each time, which takes longer than to compile hundreds of expressions.
func compilerFor(features cel.Features) compiler {
	compilers.Lock()
	defer compilers.Unlock()
	c, ok := compilers.of[features]
	if !ok {
		c = cel.GetCompiler(features)
		compilers.of[features] = c
	}
	return c
}
