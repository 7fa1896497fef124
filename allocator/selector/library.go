package selector

import (
	"sync"
	"sync/atomic"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"k8s.io/dynamic-resource-allocation/cel"
)

// Library holds compiled expressions. They depend on nothing but their text and the features, so that one
// Library serves all the clusters of a process. To compile takes about as long as a small question. It may
// be used by several goroutines at once.
type Library struct {
	mu      sync.Mutex
	sources map[sourceKey]*source
}

type sourceKey struct {
	programKey
	features cel.Features
}

// NewLibrary returns an empty library.
func NewLibrary() *Library { return &Library{sources: map[sourceKey]*source{}} }

// Cache returns a cache for a set of features that takes compiled expressions from the library.
func (l *Library) Cache(f Features) *Cache {
	features := cel.Features{EnableConsumableCapacity: f.ConsumableCapacity, EnableListTypeAttributes: f.ListTypeAttributes}
	return &Cache{features: features, hideSharing: f.HideSharing, lazy: f.Lazy, library: l, programs: map[programKey]*Program{}}
}

func (l *Library) source(features cel.Features, key programKey) *source {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.sources[sourceKey{key, features}]
	if !ok {
		if keptSources.Exceeded(len(l.sources), 0) {
			clear(l.sources)
		}
		s = &source{expression: key.expression, derived: key.derived, features: features}
		l.sources[sourceKey{key, features}] = s
	}
	return s
}

// source is an expression and all that follows from it alone.
type source struct {
	expression string
	derived    bool
	features   cel.Features

	compile  sync.Once
	compiled cel.CompilationResult

	guardOnce sync.Once
	guard     *cel.CompilationResult // see guarded

	parseOnce sync.Once
	env       *celgo.Env
	parsed    *ast.AST // may be nil, see parse
	// term is set where the expression is known as a term of another one, which saves parsing it.
	term atomic.Pointer[Part]

	readsOnce sync.Once
	reads     Reads

	partsOnce sync.Once
	parts     []Part // see Terms

	comparisonOnce sync.Once
	comparison     *Comparison // see Cache.Comparison
}

// Expression returns the source text.
func (s *source) Expression() string { return s.expression }

// result is the expression as the scheduler compiles it. To evaluate it, take guarded.
func (s *source) result() *cel.CompilationResult {
	s.compile.Do(func() {
		s.compiled = compilerFor(s.features).CompileCELExpression(s.expression,
			cel.Options{DisableCostEstimation: true, DerivedAttribute: s.derived})
	})
	return &s.compiled
}

// CompileError returns why the expression does not compile, or nil.
func (s *source) CompileError() error {
	if err := s.result().Error; err != nil {
		return err
	}
	return nil
}

// parse returns the expression as the user wrote it, with an environment that tracks macros: the scheduler's
// own forgets those such as has() once it has expanded them, and they are needed to print parts of the
// source. It returns nil if the expression does not compile.
func (s *source) parse() (*celgo.Env, *ast.AST) {
	s.parseOnce.Do(func() {
		if s.CompileError() != nil {
			return
		}
		env, err := tracking(s.result().Environment)
		if err != nil {
			return
		}
		parsed, issues := env.Parse(s.expression)
		if issues.Err() == nil {
			s.env, s.parsed = env, parsed.NativeRep()
		}
	})
	return s.env, s.parsed
}

// trackers are the environments that track macros, by those that do not: one for each set of features. To
// extend an environment takes longer than to parse an expression.
var trackers sync.Map

func tracking(env *celgo.Env) (*celgo.Env, error) {
	if known, ok := trackers.Load(env); ok {
		return known.(*celgo.Env), nil //nolint:forcetypeassert // only this function stores
	}
	extended, err := env.Extend(celgo.EnableMacroCallTracking())
	if err == nil {
		trackers.Store(env, extended)
	}
	return extended, err
}
