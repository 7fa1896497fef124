package node

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	resourcev1 "k8s.io/api/resource/v1"
)

// offeredTwice finds the devices that DRA and a device plugin offer at once, as a PCI address or a UUID
// proves.
func (j *joining) offeredTwice() {
	ids := map[string][]PluginDevice{}
	for _, d := range j.view.Allocatable.Devices {
		if name := hardwareName(strings.Split(d.ID, "::")[0]); name != "" {
			ids[name] = append(ids[name], d)
		}
	}
	if len(ids) == 0 {
		return
	}
	inventory := j.snapshot.Inventory().Devices()
	for i := range inventory {
		d := &inventory[i]
		if d.Node != j.Node {
			continue
		}
		seen := map[string]bool{}
		for _, name := range namesOf(d.Device) {
			for _, p := range ids[name] {
				if !seen[p.Resource] {
					seen[p.Resource] = true // shares of one device are many
					j.Problems = append(j.Problems, Problem{Code: OfferedTwice, Device: Device{DeviceID: d.ID}, Resource: p.Resource, Unit: name})
				}
			}
		}
	}
}

var (
	pciAddress = regexp.MustCompile(`^([0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)
	uuid       = regexp.MustCompile(`^([a-z]+-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`)
)

// hardwareName returns the form of a PCI address or UUID in which they are compared: in lower case, an
// address with its domain in four digits. It is empty for what is neither.
func hardwareName(text string) string {
	text = strings.ToLower(strings.TrimSpace(text))
	switch {
	case uuid.MatchString(text):
		return text
	case !pciAddress.MatchString(text):
		return ""
	}
	domain, rest := "0000", text
	if strings.Count(text, ":") == 2 {
		domain, rest, _ = strings.Cut(text, ":")
		domain = strings.TrimLeft(domain, "0")
		domain = strings.Repeat("0", max(0, 4-len(domain))) + domain
	}
	return domain + ":" + rest
}

// namesOf are the PCI addresses and UUIDs that a device has of its own.
func namesOf(d *resourcev1.Device) []string {
	var out []string
	for _, a := range slices.Sorted(maps.Keys(d.Attributes)) {
		if value := d.Attributes[a].StringValue; value != nil && !ofParent(string(a)) &&
			hardwareName(*value) != "" {
			out = append(out, hardwareName(*value))
		}
	}
	return out
}

// ofParent reports whether an attribute names what a device belongs to.
func ofParent(attribute string) bool {
	attribute = strings.ToLower(attribute)
	return strings.Contains(attribute, "parent") || strings.HasSuffix(attribute, "root") || strings.Contains(attribute, "pfpci")
}
