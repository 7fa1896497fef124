package selector

import (
	"sync"

	"k8s.io/dynamic-resource-allocation/cel"
)

// maxLibrary is the number of expressions from which on a Library starts again from nothing, so that a
// process that is asked about ever other expressions does not grow. What is in use stays with its users.
const maxLibrary = 4096

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
	return &Cache{features: features, library: l, programs: map[programKey]*Program{}}
}

func (l *Library) source(features cel.Features, key programKey) *source {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.sources[sourceKey{key, features}]
	if !ok {
		if len(l.sources) >= maxLibrary {
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

	readsOnce sync.Once
	reads     Reads

	partsOnce sync.Once
	parts     []part // see Terms
}

// Expression returns the source text.
func (s *source) Expression() string { return s.expression }

func (s *source) result() *cel.CompilationResult {
	s.compile.Do(func() {
		s.compiled = cel.GetCompiler(s.features).CompileCELExpression(s.expression,
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
