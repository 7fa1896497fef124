package flowcontrol

import (
	"fmt"
	"math"
	"slices"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
)

// CurrentRule says which rule of the server gave a level its current limit. It adjusts the limits every ten
// seconds, and when objects change.
type CurrentRule string

// The rules.
const (
	// CurrentExempt: an exempt level has the most seats that it took in the last ten seconds, and not less
	// than its lower limit.
	CurrentExempt CurrentRule = "Exempt"
	// CurrentFair: every level gets the same number of seats for each seat of its demand.
	CurrentFair CurrentRule = "Fair"
	// CurrentLeast: so much would be less than what the level keeps in any case.
	CurrentLeast CurrentRule = "Least"
	// CurrentMost: so much would be more than the level may have.
	CurrentMost CurrentRule = "Most"
	// CurrentLower: exempt levels take so much that all others have their lower limits only.
	CurrentLower CurrentRule = "Lower"
	// CurrentShare: exempt levels take so much that the others get a part only of what they keep otherwise.
	CurrentShare CurrentRule = "Share"
)

// Current is why a level has its current limit (CurrentCL), recomputed from what the server says of demand.
type Current struct {
	Level string
	Rule  CurrentRule
	// Limit is the current limit that follows, in seats.
	Limit int
	// HighWatermark is the most seats that were wanted at once in the last period, Smoothed the demand as the
	// server counts it: mean and deviation, which rise at once and fall slowly.
	HighWatermark int
	Smoothed      float64
	// Least is what the level keeps as long as it wants it: its high watermark, but at most its nominal and
	// at least its lower limit.
	Least int
	// Target is what it is meant to get: Smoothed, but not less than Least.
	Target float64
	// Factor is how many seats each seat of a target gets, the same for all levels. It is 0 for rules without
	// one.
	Factor float64
	// Fair is Target × Factor.
	Fair float64
	// Upper is the most that it may have.
	Upper int
	// Taken are the seats of exempt levels, and Seats those of all levels together.
	Taken, Seats int
}

// leastTarget is what the server takes for a smaller target, so as not to divide by zero.
const leastTarget = 0.001

// CurrentLimits recomputes the current limits of all levels, in the order of limits. It is nil where the
// metrics lack what they follow from. A level that was deleted and still has requests takes part on the
// server, but the metrics do not tell it from one that is gone: until it has ended, the limits computed here
// differ from the server's own.
func (m *Metrics) CurrentLimits(limits *Limits) []Current {
	if m == nil {
		return nil
	}
	levels, lower := make([]Current, len(limits.Levels)), make([]int, len(limits.Levels))
	for i := range limits.Levels {
		level := &limits.Levels[i]
		load := m.Levels[level.Name]
		if load == nil || load.Demand.HighWatermark == nil || load.Demand.Smoothed == nil {
			return nil
		}
		// The server's own limits count; those computed stand in for what it does not tell.
		nominal, least, upper := level.Nominal, level.Lower, level.Upper
		if load.Nominal != nil && load.Lower != nil && load.Upper != nil {
			nominal, least, upper = *load.Nominal, *load.Lower, *load.Upper
		}
		c := Current{
			Level: level.Name, HighWatermark: int(math.Round(*load.Demand.HighWatermark)), Smoothed: *load.Demand.Smoothed,
			Upper: upper, Seats: nominal,
		}
		c.Least = max(least, min(nominal, c.HighWatermark))
		if level.Type == flowcontrolv1.PriorityLevelEnablementExempt {
			c.Rule, c.Least = CurrentExempt, max(least, c.HighWatermark)
			c.Limit = c.Least
		}
		c.Target = max(float64(c.Least), c.Smoothed)
		levels[i], lower[i] = c, least
	}
	share(levels, lower)
	return levels
}

// share gives every level that is not exempt its limit. Of every level, Seats is its nominal limit at first.
func share(levels []Current, lower []int) {
	all, taken, sumLower, sumLeast := 0, 0, 0, 0
	for i, c := range levels {
		all += c.Seats
		if c.Rule == CurrentExempt {
			taken += c.Least
			continue
		}
		sumLower += lower[i]
		sumLeast += c.Least
	}
	left, factor := all-taken, 0.0
	if left > sumLeast {
		factor = fairFactor(levels, float64(all))
	}
	for i := range levels {
		c := &levels[i]
		c.Seats, c.Taken = all, taken
		switch {
		case c.Rule == CurrentExempt:
		case left <= sumLower:
			c.Rule, c.Limit = CurrentLower, lower[i]
		case left <= sumLeast:
			part := float64(left-sumLower) / float64(sumLeast-sumLower)
			c.Rule, c.Limit = CurrentShare, lower[i]+int(math.Round(float64(c.Least-lower[i])*part))
		default:
			c.fair(factor)
		}
	}
}

// fair gives a level its part by a factor, within its bounds.
func (c *Current) fair(factor float64) {
	c.Rule, c.Factor, c.Fair = CurrentFair, factor, factor*max(c.Target, leastTarget)
	seats := c.Fair
	switch {
	case seats < float64(c.Least):
		c.Rule, seats = CurrentLeast, float64(c.Least)
	case seats > float64(c.Upper):
		c.Rule, seats = CurrentMost, float64(c.Upper)
	}
	c.Limit = int(math.Round(seats))
}

// fairFactor finds the factor with which all levels that are not exempt get so many seats together. What they
// get grows with the factor, along straight lines between the factors at which some level leaves or meets one
// of its bounds.
func fairFactor(levels []Current, seats float64) float64 {
	var turns []float64
	for _, c := range levels {
		if c.Rule != CurrentExempt {
			turns = append(turns, float64(c.Least)/max(c.Target, leastTarget), float64(c.Upper)/max(c.Target, leastTarget))
		}
	}
	slices.Sort(turns)
	given := func(factor float64) float64 {
		sum := 0.0
		for _, c := range levels {
			if c.Rule != CurrentExempt {
				sum += max(float64(c.Least), min(float64(c.Upper), factor*max(c.Target, leastTarget)))
			}
		}
		return sum
	}
	from, before := 0.0, given(0)
	for _, turn := range turns {
		after := given(turn)
		if after >= seats {
			if after == before {
				return turn
			}
			return from + (turn-from)*(seats-before)/(after-before)
		}
		from, before = turn, after
	}
	return from // they may not have so much together; the server then keeps what was before
}

// Message says in words why the limit is what it is.
func (c *Current) Message() string {
	counts := fmt.Sprintf("its demand counts as %.1f seats", c.Target)
	if c.Target > c.Smoothed {
		counts += fmt.Sprintf(" (it is %.1f, but the level keeps %d in any case)", c.Smoothed, c.Least)
	}
	switch c.Rule {
	case CurrentExempt:
		return fmt.Sprintf("%d because that is the most that its requests took at once in the last ten seconds (%d), and not less than its lower limit", c.Limit, c.HighWatermark)
	case CurrentFair:
		return fmt.Sprintf("%d because %s, and each gets %.2f, as for all levels", c.Limit, counts, c.Factor)
	case CurrentLeast:
		return fmt.Sprintf("%d because the level keeps that in any case: %s, and each would get %.2f, as for all levels", c.Limit, counts, c.Factor)
	case CurrentMost:
		return fmt.Sprintf("%d because it may not have more: %s, and each would get %.2f, as for all levels", c.Limit, counts, c.Factor)
	case CurrentLower:
		return fmt.Sprintf("%d, its lower limit, because exempt requests take %d of the %d seats", c.Limit, c.Taken, c.Seats)
	case CurrentShare:
		return fmt.Sprintf("%d because exempt requests take %d of the %d seats, and what is left is less than the levels keep otherwise", c.Limit, c.Taken, c.Seats)
	}
	return fmt.Sprint(c.Limit)
}

// Brief says why the limit is what it is in one short line.
func (c *Current) Brief() string {
	switch c.Rule {
	case CurrentExempt:
		return fmt.Sprintf("%d: the most that it took at once in ten seconds, or its lower limit", c.Limit)
	case CurrentFair:
		return fmt.Sprintf("%d: %.2f for each of the %.1f seats that it wants, as for all", c.Limit, c.Factor, c.Target)
	case CurrentLeast:
		return fmt.Sprintf("%d, which it keeps: %.2f × %.1f seats that it wants are less", c.Limit, c.Factor, c.Target)
	case CurrentMost:
		return fmt.Sprintf("%d, the most it may have: %.2f × %.1f seats that it wants are more", c.Limit, c.Factor, c.Target)
	case CurrentLower:
		return fmt.Sprintf("%d, its lower limit: exempt requests take %d of %d", c.Limit, c.Taken, c.Seats)
	case CurrentShare:
		return fmt.Sprintf("%d, less than it keeps: exempt requests take %d of %d", c.Limit, c.Taken, c.Seats)
	}
	return fmt.Sprint(c.Limit)
}
