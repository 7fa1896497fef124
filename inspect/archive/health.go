package archive

import "strings"

// What a pod says of the health of what its containers have: resources by a name that holds the name of a
// claim, and devices by a name of three parts.

// allocated renames a resource of a container's status: a resource of a device plugin, or claim:ENTRY or
// claim:ENTRY/REQUEST.
func (r *renamer) allocated(s string) string {
	const prefix = "claim:"
	claim, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return r.resource(s)
	}
	entry, request, both := strings.Cut(claim, "/")
	of := podClaims
	if _, extended := r.known[claims][entry]; extended { // of extended resources the claim itself is named
		of = claims
	}
	if entry = prefix + r.name(of, entry); !both {
		return entry
	}
	return entry + "/" + r.request(request)
}

// device renames driver/pool/device, where the name of the pool may have slashes. Another text, such as what
// CDI calls a device, is replaced as any text is.
func (r *renamer) device(s string) string {
	driver, rest, _ := strings.Cut(s, "/")
	at := strings.LastIndexByte(rest, '/')
	if _, ok := r.known[drivers][driver]; !ok || at < 0 {
		return r.text(s)
	}
	return r.name(drivers, driver) + "/" + r.name(pools, rest[:at]) + "/" + r.name(devices, rest[at+1:])
}
