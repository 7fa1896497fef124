package flip

import "context"

// stride is the factor by which [Last] goes further back each time.
const stride = 8

// Last looks among n moments, of which the last one does not fit, for one that fits while the next one does not. It returns -1 if none
// of those that it looked at fits.
//
// It looks back from the end, further each time, until a moment fits, and then halves what lies between. So fits is asked about
// a logarithm of n moments: at most 19 of 10,000. What it returns was asked about, and so was the next. If the subject
// fitted and did not fit by turns, it may have fitted again after that: between moments that were not looked at.
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
	for low >= 0 && high-low > 1 {
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
