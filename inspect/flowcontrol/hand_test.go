package flowcontrol

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHand has flows of real servers, of which dumps show that they wait in these queues: those in the
// documentation of Kubernetes.
func TestHand(t *testing.T) {
	for _, test := range []struct {
		schema, flow string
		queuing      Queuing
		among        []int
	}{
		{"service-accounts", "system:serviceaccount:default:loadtest", Queuing{Queues: 128, HandSize: 6}, []int{14, 74}},
		{"system-nodes", "system:node:127.0.0.1", Queuing{Queues: 64, HandSize: 6}, []int{12}},
	} {
		hand := Hand(test.schema, test.flow, test.queuing)
		missing := func(queue int) bool { return !slices.Contains(hand, queue) }
		if len(hand) != test.queuing.HandSize || slices.ContainsFunc(test.among, missing) {
			t.Errorf("%s: the hand is %v, without %v", test.flow, hand, test.among)
		}
	}
	if hand := Hand("s", "anybody", Queuing{Queues: 1, HandSize: 1}); !slices.Equal(hand, []int{0}) {
		t.Errorf("one queue: %v", hand)
	}
	if hand := Hand("s", "f", Queuing{Queues: 512, HandSize: 8}); hand != nil {
		t.Errorf("a hand that no server deals: %v", hand)
	}
}

// documented is the table in the documentation of Kubernetes, "Recommended values for shuffle sharding": hand
// size, queues, and the probability that a mouse is squished by 1, 4 and 16 elephants.
var documented = []struct {
	hand, queues int
	odds         [3]float64
}{
	{12, 32, [3]float64{4.428838398950118e-09, 0.11431348830099144, 0.9935089607656024}},
	{10, 32, [3]float64{1.550093439632541e-08, 0.0626479840223545, 0.9753101519027554}},
	{10, 64, [3]float64{6.601827268370426e-12, 0.00045571320990370776, 0.49999929150089345}},
	{9, 64, [3]float64{3.6310049976037345e-11, 0.00045501212304112273, 0.4282314876454858}},
	{8, 64, [3]float64{2.25929199850899e-10, 0.0004886697053040446, 0.35935114681123076}},
	{8, 128, [3]float64{6.994461389026097e-13, 3.4055790161620863e-06, 0.02746173137155063}},
	{7, 128, [3]float64{1.0579122850901972e-11, 6.960839379258192e-06, 0.02406157386340147}},
	{7, 256, [3]float64{7.597695465552631e-14, 6.728547142019406e-08, 0.0006709661542533682}},
	{6, 256, [3]float64{2.7134626662687968e-12, 2.9516464018476436e-07, 0.0008895654642000348}},
	{6, 512, [3]float64{4.116062922897309e-14, 4.982983350480894e-09, 2.26025764343413e-05}},
	{6, 1024, [3]float64{6.337324016514285e-16, 8.09060164312957e-11, 4.517408062903668e-07}},
}

// TestOdds: all 33 numbers of the documentation, to the twelve digits in which floating point can have
// computed them.
func TestOdds(t *testing.T) {
	for _, row := range documented {
		for i, elephants := range []int{1, 4, 16} {
			got, _ := Odds(Queuing{Queues: row.queues, HandSize: row.hand}, elephants).Float64()
			if math.Abs(got/row.odds[i]-1) > 1e-12 {
				t.Errorf("%d of %d, %d elephants: %v, documented is %v", row.hand, row.queues, elephants, got, row.odds[i])
			}
		}
	}
}

// TestOddsAreExact counts all hands of a small deck, and tries random ones of a default level.
func TestOddsAreExact(t *testing.T) {
	// Of 3 queues in hands of 2, two elephants hold the mouse's two unless both hold the same hand, which is
	// another one: 1 − 2/9. One elephant does with 1/3.
	for elephants, want := range map[int]*big.Rat{0: new(big.Rat), 1: big.NewRat(1, 3), 2: big.NewRat(7, 9)} {
		if got := Odds(Queuing{Queues: 3, HandSize: 2}, elephants); got.Cmp(want) != 0 {
			t.Errorf("%d elephants: %v, want %v", elephants, got, want)
		}
	}
	if Odds(Queuing{Queues: 2, HandSize: 3}, 1) != nil {
		t.Error("odds of a hand that cannot be dealt")
	}
	random, q, squeezed := rand.New(rand.NewPCG(1, 2)), Queuing{Queues: 16, HandSize: 4}, 0
	const tries = 20000
	for range tries {
		mouse, taken := random.Perm(q.Queues)[:q.HandSize], map[int]bool{}
		for range 4 {
			for _, queue := range random.Perm(q.Queues)[:q.HandSize] {
				taken[queue] = true
			}
		}
		if !slices.ContainsFunc(mouse, func(queue int) bool { return !taken[queue] }) {
			squeezed++
		}
	}
	want, _ := Odds(q, 4).Float64() // 0.194
	if got := float64(squeezed) / tries; math.Abs(got-want) > 0.015 {
		t.Errorf("4 elephants of leader-election squeezed %v of the mice, want %v", got, want)
	}
}
