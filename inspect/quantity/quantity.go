package quantity

import (
	"errors"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// The limits within which a quantity is read. Numbers up to them take microseconds; real quantities stay
// below 30 digits and an exponent of 18.
const (
	MaxExponent = 999
	MaxDigits   = 1000
)

// ErrUnbounded says that a text may be a quantity but was not read, because that could take for ever.
var ErrUnbounded = errors.New("a number with more than " + strconv.Itoa(MaxDigits) +
	" digits or an exponent beyond ±" + strconv.Itoa(MaxExponent) + " is not read as a quantity")

// Parse reads a quantity as resource.ParseQuantity does, in bounded time. Its error is that of
// resource.ParseQuantity, or ErrUnbounded.
func Parse(text string) (resource.Quantity, error) {
	if !Bounded(text) {
		return resource.Quantity{}, ErrUnbounded
	}
	return resource.ParseQuantity(text)
}

// Bounded reports whether resource.ParseQuantity ends soon for a text, with a quantity or with an error.
func Bounded(text string) bool {
	digits := strings.TrimLeft(strings.TrimSpace(text), "+-") // decoders trim space, too
	end := strings.IndexFunc(digits, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 0 {
		end = len(digits)
	}
	if end > MaxDigits {
		return false
	}
	suffix := digits[end:]
	if len(suffix) < 2 || (suffix[0] != 'e' && suffix[0] != 'E') {
		return true
	}
	exponent, err := strconv.ParseInt(suffix[1:], 10, 64)
	if err != nil {
		return true // so does resource.ParseQuantity find, and refuses it
	}
	exponent = int64(int32(exponent)) //nolint:gosec // resource.ParseQuantity cuts it off in the same way
	return -MaxExponent <= exponent && exponent <= MaxExponent
}
