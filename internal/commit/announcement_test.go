package commit

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// hostile are announcements that somebody may write to make runs hang, crash or do what they should not.
func hostile() map[string]string {
	device := `{"driver":"d","pool":"p","device":"x0","consumedCapacity":{"memory":%s}}`
	with := func(amount string) string {
		return fmt.Sprintf(`{"run":"0","action":"allocate","devices":[`+device+`]}`, amount)
	}
	many := strings.TrimSuffix(strings.Repeat(fmt.Sprintf(device, `"1"`)+",", 20_000), ",")
	return map[string]string{
		"huge exponent":           with(`"1e-2000000000"`),
		"huge exponent, positive": with(`"1E+999999999"`),
		"as a number":             with(`1e-2000000000`),
		"escaped":                 with(`"1\u0065-2000000000"`),
		"hidden by a second key":  `{"run":"0","action":"allocate","devices":[{"consumedCapacity":{"m":"1e-2000000000","m":"1"}}]}`,
		"a megabyte of digits":    with(`"` + strings.Repeat("9", 1<<20) + `"`),
		"thousands of devices":    `{"run":"0","action":"allocate","devices":[` + many + `]}`,
		"devices, not too long":   `{"run":"0","action":"allocate","devices":[` + strings.Repeat(`{},`, 1000) + `{}]}`,
		"deep":                    strings.Repeat("[", 1<<20),
		"deep, not too long":      strings.Repeat(`{"a":`, 10_000),
		"huge number":             `{"run":"` + strings.Repeat("f", 1<<20) + `","action":"allocate"}`,
		"not JSON":                "{",
		"no object":               "7",
		"empty":                   "",
		"a time of no calendar":   `{"run":"0","action":"allocate","at":"99999-13-77T00:00:00Z"}`,
	}
}

// TestHostileAnnouncements: whatever stands in the annotations of many claims, a run gets its device in time,
// and clears them away.
func TestHostileAnnouncements(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(1, "a")
			for i := range 20 {
				w.add(fmt.Sprint("z", i))
				w.claims[ref(fmt.Sprint("z", i))].Annotations = map[string]string{Annotation: text}
			}
			began := time.Now()
			HasLeftovers(w.snapshot())
			if _, _, err := (&process{w: w}).committer("5").Allocate(t.Context(), wanting("a")); err != nil {
				t.Fatal(err)
			}
			if d := time.Since(began); d > 20*time.Second { // thousandths of a second on a quiet machine
				t.Errorf("it took %v", d)
			}
			inOrder(t, w, "a")
		})
	}
}

// TestManyAnnouncements: thousands of the largest announcements that are read cost seconds, not minutes, and
// one run clears a bounded number of them away.
func TestManyAnnouncements(t *testing.T) {
	device := AnnouncedDevice{Driver: "d", Pool: "p", Device: strings.Repeat("x", 1500)}
	a := &Announcement{Run: "0", Action: Allocating}
	for range 32 {
		a.Devices = append(a.Devices, device)
	}
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > maxAnnouncement || len(text) < maxAnnouncement/2 {
		t.Fatalf("%d bytes are not near the limit", len(text))
	}
	w := newWorld(1, "a")
	const count = 300
	for i := range count {
		w.add(fmt.Sprint("z", i))
		w.claims[ref(fmt.Sprint("z", i))].Annotations = map[string]string{Annotation: string(text)}
	}
	began := time.Now()
	steps := map[Step]int{}
	c := (&process{w: w}).committer("5")
	c.Observe = func(e Event) { steps[e.Step]++ }
	if _, _, err := c.Allocate(t.Context(), wanting("a")); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(began); d > time.Minute {
		t.Errorf("it took %v", d)
	}
	t.Logf("%d bytes on each of %d claims: %v", len(text), count, time.Since(began))
	if steps[UndoneLeft] != maxRecovered {
		t.Errorf("%v", steps)
	}
}

// TestAnnouncementsAreShownShort: who announces may call himself as he likes.
func TestAnnouncementsAreShownShort(t *testing.T) {
	w := newWorld(1, "a")
	text, err := json.Marshal(&Announcement{Run: "0", Action: Allocating, By: strings.Repeat("é", 1<<14)})
	if err != nil {
		t.Fatal(err)
	}
	w.claims[ref("a")].Annotations = map[string]string{Annotation: string(text)}
	e := Event{Step: Waiting, Claim: ref("a"), By: AnnouncementOn(w.claims[ref("a")]).By}
	if got := e.String(); len(got) > 200 || !strings.Contains(got, "éé…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestLongestAnnouncement: what is announced can be read by others.
func TestLongestAnnouncement(t *testing.T) {
	w := newWorld(1, "a")
	if err := mark(w.claims[ref("a")], &Announcement{Run: strings.Repeat("x", maxAnnouncement)}); err == nil || w.claims[ref("a")].Annotations != nil {
		t.Error("a run announced what no other run would read")
	}
}
