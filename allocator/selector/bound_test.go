package selector

import (
	"context"
	"fmt"
	"testing"
)

func TestBound(t *testing.T) {
	b := Bound{PerUse: 2, Spare: 10}
	for _, tt := range []struct {
		known, inUse int
		want         bool
	}{{0, 0, false}, {10, 0, false}, {11, 0, true}, {30, 10, false}, {31, 10, true}} {
		if got := b.Exceeded(tt.known, tt.inUse); got != tt.want {
			t.Errorf("%d known of %d in use: %t, want %t", tt.known, tt.inUse, got, tt.want)
		}
	}
}

// TestLibraryIsBounded: a library that sees ever other expressions does not keep them all, and what is in use
// goes on working.
func TestLibraryIsBounded(t *testing.T) {
	library := NewLibrary()
	cache := library.Cache(Features{})
	first := cache.Selector("true")
	for i := range 2 * keptSources.Spare {
		library.Cache(Features{}).Selector(fmt.Sprint(i))
		if n := len(library.sources); n > keptSources.Spare+1 {
			t.Fatalf("%d expressions are kept", n)
		}
	}
	if ok, err := cache.Selector("true").Match(context.Background(), "d", testDevice()); !ok || err != nil || cache.Selector("true") != first {
		t.Errorf("%t, %v", ok, err)
	}
}
