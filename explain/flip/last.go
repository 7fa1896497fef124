package flip

import "context"

// stride is the factor by which [Last] goes further back each time.
const stride = 8

// Last looks among n moments, of which the last one does not fit, for one that fits while the next one does
// not. It returns -1 if none of those that it looked at fits.
//
// It looks back from the end, further each time, until a moment fits, and then halves what lies between. So
// fits is asked about a logarithm of n moments: at most 19 of 10,000. What it returns was asked about, and so
// was the next. If the subject fitted and did not fit by turns, it may have fitted again after that: between
// moments that were not looked at. [Later] looks at these.
func Last(ctx context.Context, n int, fits func(ctx context.Context, moment int) (bool, error)) (int, error) {
	low, high := -1, n-1
	for back := 1; low < 0 && high > 0; back *= stride {
		at := max(0, n-1-back)
		yes, err := fits(ctx, at)
		if err != nil {
			return -1, err
		}
		if yes {
			low = at
		} else {
			high = at
		}
	}
	if low < 0 {
		return low, nil
	}
	return between(ctx, low, high, fits)
}

// between returns a moment from low on that fits, while the next one, up to high, does not. So it is of low
// and high.
func between(ctx context.Context, low, high int, fits func(ctx context.Context, moment int) (bool, error)) (int, error) {
	for high-low > 1 {
		middle := low + (high-low)/2
		yes, err := fits(ctx, middle)
		if err != nil {
			return -1, err
		}
		if yes {
			low = middle
		} else {
			high = middle
		}
	}
	return low, nil
}

// Later looks whether it fitted again after the moment that [Last] returned, and stopped fitting again. It
// asks about all moments from there to the end if those are no more than most; all reports that. Otherwise it
// asks about as many, which lie evenly between, and about a logarithm of what lies between two of them. It
// returns the last moment that it found to fit while the next one does not.
func Later(ctx context.Context, n, last, most int, fits func(ctx context.Context, moment int) (bool, error)) (found int, all bool, err error) {
	step := 1 + max(0, n-3-last)/most
	found = last
	for at := last + step; at < n-1; at += step {
		yes, err := fits(ctx, at)
		if err != nil {
			return -1, false, err
		}
		if yes {
			found = at
		}
	}
	if found > last {
		found, err = between(ctx, found, min(found+step, n-1), fits)
	}
	return found, step == 1, err
}
