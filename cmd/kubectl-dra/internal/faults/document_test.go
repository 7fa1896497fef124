package faults

import "testing"

func checkDocument(t *testing.T, cells []*cell) {}
