package record

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

const (
	// firstStep is the shortest time from one level to the next at first. When there are mostLevels, the step
	// becomes longer and about half of them are dropped, so that they reach back to the beginning, however
	// long ago that is.
	firstStep  = time.Second
	mostLevels = 240
	// longest is how many of those that wait longest are told, latest how many changes, and mostHeld how many
	// classes.
	longest, latest, mostHeld = 8, 24, 8
)

// levels are how much was taken from the beginning on.
type levels struct {
	all  []screen.Level
	step time.Duration
}

// add takes in how much is taken now. It takes the place of the newest level if that is too fresh for another
// one. What was handed out is not written.
func (l *levels) add(now time.Time, t *Tallied) {
	next := t.level(now)
	n := len(l.all)
	if n > 0 && now.Sub(l.all[n-1].Time) < max(l.step, firstStep) {
		n--
		next.Time = l.all[n].Time
	}
	l.all = append(l.all[:n:n], next)
	if len(l.all) < mostLevels {
		return
	}
	newest := l.all[len(l.all)-1]
	l.step = newest.Time.Sub(l.all[0].Time) / (mostLevels / 2)
	kept := l.all[:1:1]
	for _, level := range l.all[1 : len(l.all)-1] {
		if level.Time.Sub(kept[len(kept)-1].Time) >= l.step {
			kept = append(kept, level)
		}
	}
	l.all = append(kept, newest)
}

// level is how much is taken.
func (t *Tallied) level(now time.Time) screen.Level {
	level := screen.Level{Time: now, Waiting: t.waiting}
	if t.AtMost { // more may be taken
		return level
	}
	for _, u := range t.Usage {
		level.Used = append(level.Used, screen.Share{Driver: u.Driver, Of: u.share()})
	}
	level.Held = t.held
	return level
}

// heldByClass counts the published devices that requests of each class hold, with more than admin access, the
// most first. A device that is shared counts for each class that has a part of it.
func heldByClass(s *inspect.Snapshot, devices []inspect.DeviceStatus) []screen.Holding {
	type pair struct{ class, driver string }
	counts, classes, drivers := map[string]int{}, map[string]map[string]bool{}, map[string]map[string]bool{}
	var of []string
	seen := map[pair]bool{}
	for i := range devices {
		d := &devices[i]
		of = of[:0]
		for _, h := range d.Holders {
			claim, ok := s.Claim(h.Claim)
			if !ok || h.Admin() {
				continue
			}
			if class := usage.ClassOf(claim, h.Result.Request); class != "" && !slices.Contains(of, class) {
				of = append(of, class)
			}
		}
		for _, class := range of {
			counts[class]++
			if p := (pair{class, d.ID.Driver}); !seen[p] {
				seen[p] = true
				insert(classes, p.driver, class)
				insert(drivers, class, p.driver)
			}
		}
	}
	var out []screen.Holding
	for class, n := range counts {
		h := screen.Holding{Class: class, Devices: n}
		for driver := range drivers[class] {
			if len(drivers[class]) == 1 && len(classes[driver]) == 1 {
				h.Driver = driver
			}
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b screen.Holding) int {
		return cmp.Or(cmp.Compare(b.Devices, a.Devices), strings.Compare(a.Class, b.Class))
	})
	return out[:min(len(out), mostHeld)]
}

// insert adds to one of several sets.
func insert(sets map[string]map[string]bool, at, what string) {
	if sets[at] == nil {
		sets[at] = map[string]bool{}
	}
	sets[at][what] = true
}

// waitingPods returns how many pods wait for a node, and those that have for longest.
func waitingPods(s *inspect.Snapshot) (n int, oldest []screen.Wait) {
	var pods []*corev1.Pod
	for _, pod := range s.Objects().Pods {
		if pod.Spec.NodeName == "" && pod.DeletionTimestamp == nil && !inspect.Ended(pod) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name))
	})
	return len(pods), words.Each(pods[:min(len(pods), longest)], func(pod *corev1.Pod) screen.Wait {
		return screen.Wait{Ref: screen.Ref{Kind: screen.Pod, Namespace: pod.Namespace, Name: pod.Name}, Since: pod.CreationTimestamp.Time}
	})
}
