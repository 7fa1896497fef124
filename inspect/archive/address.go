package archive

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Network addresses of allocated devices are replaced by addresses that are nobody's, so that they still look like
// what they are. The same address becomes the same one wherever it stands by itself, with or without a prefix length:
// attributes of devices hold them too.
const (
	ipv4s     names = "198.18.0.0"        // for benchmarks (RFC 2544)
	ipv6s     names = "2001:db8::"        // for documentation (RFC 3849)
	hardwares names = "02:00:00:00:00:00" // administered locally
)

// address replaces an IP address, which may have a prefix length; that stays.
func (r *renamer) address(s string) string {
	of, address, length := splitAddress(s)
	if of == "" {
		return r.text(s)
	}
	return r.name(of, address) + length
}

// splitAddress returns the sort of an IP address, its usual form, and the prefix length with its slash. The sort is empty
// if it is none.
func splitAddress(s string) (of names, address, length string) {
	text, bits, both := strings.Cut(s, "/")
	parsed, err := netip.ParseAddr(text)
	if err != nil {
		return "", "", ""
	}
	if both {
		if _, err := netip.ParsePrefix(s); err != nil {
			return "", "", ""
		}
		length = "/" + bits
	}
	if parsed = parsed.WithZone(""); parsed.Is4() {
		return ipv4s, parsed.String(), length
	}
	return ipv6s, parsed.String(), length
}

// hardware replaces the address of an interface.
func (r *renamer) hardware(s string) string {
	if _, err := net.ParseMAC(s); err != nil {
		return r.text(s)
	}
	return r.name(hardwares, strings.ToLower(s))
}

// asAddress returns what comes in place of text that is an address which is known from a device.
func (r *renamer) asAddress(s string) (string, bool) {
	if of, address, length := splitAddress(s); of != "" {
		renamed, ok := r.known[of][address]
		return renamed + length, ok
	}
	renamed, ok := r.known[hardwares][strings.ToLower(s)]
	return renamed, ok
}

// compareNames orders names of a sort: bytewise, but IP addresses by number.
func (of names) compareNames(a, b string) int {
	if of == ipv4s || of == ipv6s {
		x, _ := netip.ParseAddr(a)
		y, _ := netip.ParseAddr(b)
		return x.Compare(y)
	}
	return strings.Compare(a, b)
}

// numberedAddress is the n-th address that stands for others.
func (of names) numberedAddress(n int) string {
	if of == hardwares {
		return fmt.Sprintf("02:%02x:%02x:%02x:%02x:%02x", n>>32&0xff, n>>24&0xff, n>>16&0xff, n>>8&0xff, n&0xff)
	}
	first := netip.MustParseAddr(string(of)).AsSlice()
	last := first[len(first)-4:]
	binary.BigEndian.PutUint32(last, binary.BigEndian.Uint32(last)+uint32(n)) //nolint:gosec // one for each address in memory
	address, _ := netip.AddrFromSlice(first)
	return address.String()
}
