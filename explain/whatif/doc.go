// Package whatif asks the allocator about a question that is changed, in a world that is changed.
package whatif
