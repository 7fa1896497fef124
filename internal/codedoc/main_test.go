package main

import (
	"bytes"
	"os"
	"testing"
)

// TestReasonsAreWritten fails when docs/reasons.md is not what the source says; make generate mends it.
func TestReasonsAreWritten(t *testing.T) {
	want, err := document("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/reasons.md")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/reasons.md is out of date (%v); run make generate", err)
	}
}
