package connection

import (
	"slices"
	"testing"
	"time"
)

// TestRecovery: what failed is asked again at once when something else recovers; what did not is left alone; and a server
// that recovers all the time does not get everything asked again each time.
func TestRecovery(t *testing.T) {
	r, now := NewRecovery(Default), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	bad, good := r.NewPace(), r.NewPace()
	fail := func() {
		for range 10 {
			bad.Failed(now, true, 0)
		}
	}
	fail()
	woken, undisturbed := bad.Woken(), good.Woken()
	r.Recovered(now)
	select {
	case <-woken:
	default:
		t.Error("nobody is woken")
	}
	select {
	case <-undisturbed:
		t.Error("what has no trouble is woken")
	default:
	}
	if wait := bad.Wait(now); wait > time.Second {
		t.Errorf("it still waits for %v", wait)
	}
	times := 0
	for range 600 {
		now = now.Add(time.Second)
		fail()
		if r.Recovered(now); bad.Wait(now) <= time.Second {
			times++
		}
	}
	if times < 5 || times > 10 {
		t.Errorf("woken %d times in ten minutes", times)
	}
	now = now.Add(time.Hour)
	fail()
	if r.Recovered(now); bad.Wait(now) > time.Second {
		t.Error("an hour later it is not woken")
	}
}

// TestTurns: what fails for long is asked for as often as without turns, but one thing after the other.
func TestTurns(t *testing.T) {
	r, now := NewRecovery(Default), time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var at []time.Duration
	for range 20 {
		p := r.NewPace()
		for range 20 {
			p.Failed(now, false, 0)
		}
		at = append(at, p.Wait(now))
	}
	slices.Sort(at)
	for i := range at[1:] {
		if gap := at[i+1] - at[i]; gap > 7*time.Second {
			t.Errorf("nothing is asked for %v", gap)
		}
	}
	if at[0] < 30*time.Second || at[19] > 102*time.Second {
		t.Errorf("pauses from %v to %v", at[0], at[19])
	}
}
