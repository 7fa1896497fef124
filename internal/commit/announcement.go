package commit

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

// Annotation is the key under which a claim carries the announcement of the run that is changing it. It
// is gone when the run is over; one that stays was left behind by a run that was killed.
const Annotation = inspect.AnnouncementKey

const (
	// maxAnnouncement is up to how many bytes an announcement is read, and written. Those of 32 devices with
	// names and amounts as long as the API permits stay below it unless dozens of capacities are consumed of
	// each.
	maxAnnouncement = 64 << 10
	// maxBy is after how many bytes the name of whoever announced something is cut off.
	maxBy = 100
)

// Action is what a run is doing to a claim.
type Action string

// The actions.
const (
	Allocating   Action = "allocate"
	Deallocating Action = "deallocate"
)

// Announcement tells other runs, and people, what a run is about to do to a claim.
type Announcement struct {
	// Run identifies the run: a random number. The claims of one run go together. Of two runs that want
	// the same device at the same moment the one with the smaller number goes first.
	Run    string `json:"run"`
	Action Action `json:"action"`
	// By and At are for people: who began the run, and when by the clock of that machine.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
	// Claims are all claims that the run announces, as NAMESPACE/NAME: anybody may write an announcement, and
	// one that names a run does not belong to it unless those of the run name its claim, too.
	Claims []string `json:"claims,omitempty"`
	// Devices are those that the claim is to get.
	Devices []AnnouncedDevice `json:"devices,omitempty"`
}

// AnnouncedDevice is the part of an allocation result that says what it takes of a device.
type AnnouncedDevice struct {
	Driver           string                                         `json:"driver"`
	Pool             string                                         `json:"pool"`
	Device           string                                         `json:"device"`
	Admin            bool                                           `json:"admin,omitempty"`
	ShareID          types.UID                                      `json:"shareID,omitempty"`
	ConsumedCapacity map[resourcev1.QualifiedName]resource.Quantity `json:"consumedCapacity,omitempty"`
}

// announced returns the devices of an allocation as they are announced.
func announced(allocation *resourcev1.AllocationResult) []AnnouncedDevice {
	var out []AnnouncedDevice
	for i := range allocation.Devices.Results {
		r := &allocation.Devices.Results[i]
		d := AnnouncedDevice{Driver: r.Driver, Pool: r.Pool, Device: r.Device, ConsumedCapacity: r.ConsumedCapacity}
		d.Admin = r.AdminAccess != nil && *r.AdminAccess
		if r.ShareID != nil {
			d.ShareID = *r.ShareID
		}
		out = append(out, d)
	}
	return out
}

// allocation returns an allocation that takes what is announced.
func (a *Announcement) allocation() *resourcev1.AllocationResult {
	out := &resourcev1.AllocationResult{}
	for i := range a.Devices {
		d := &a.Devices[i]
		r := resourcev1.DeviceRequestAllocationResult{Driver: d.Driver, Pool: d.Pool, Device: d.Device, ConsumedCapacity: d.ConsumedCapacity}
		if d.Admin {
			r.AdminAccess = &d.Admin
		}
		if d.ShareID != "" {
			r.ShareID = &d.ShareID
		}
		out.Devices.Results = append(out.Devices.Results, r)
	}
	return out
}

// wrote reports whether an allocation is what the run that made the announcement was to write.
func (a *Announcement) wrote(allocation *resourcev1.AllocationResult) bool {
	return a.Action == Allocating && allocation != nil && equality.Semantic.DeepEqual(a.Devices, announced(allocation))
}

// covers reports whether the run that made the announcement announces a claim. Earlier versions of this
// program did not write down which.
func (a *Announcement) covers(ref inspect.ClaimRef) bool {
	return len(a.Claims) == 0 || slices.Contains(a.Claims, ref.String())
}

// AnnouncementOn returns the announcement that a claim carries, or nil. One that cannot be read counts as
// that of a run without a number that wants nothing: the next run clears it away.
func AnnouncementOn(claim *resourcev1.ResourceClaim) *Announcement {
	text, ok := claim.Annotations[Annotation]
	if !ok {
		return nil
	}
	// Anybody can write annotations: some would take for ever to read.
	if len(text) > maxAnnouncement || quantity.Replace([]byte(text)) != nil {
		return &Announcement{}
	}
	a := &Announcement{}
	if err := json.Unmarshal([]byte(text), a); err != nil || len(a.Devices) > resourcev1.AllocationResultsMaxSize {
		return &Announcement{}
	}
	if len(a.By) > maxBy {
		a.By = strings.ToValidUTF8(a.By[:maxBy], "") + "…"
	}
	return a
}

// mark puts an announcement on a claim, and the finalizer that an allocated claim has to have.
func mark(claim *resourcev1.ResourceClaim, a *Announcement) error {
	text, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("announcing for claim %s: %w", inspect.RefOf(claim), err)
	}
	if len(text) > maxAnnouncement {
		return fmt.Errorf("announcing for claim %s: %d bytes are more than other runs read", inspect.RefOf(claim), len(text))
	}
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations[Annotation] = string(text)
	if !slices.Contains(claim.Finalizers, resourcev1.Finalizer) {
		claim.Finalizers = append(claim.Finalizers, resourcev1.Finalizer)
	}
	return nil
}

// unmark takes the announcement off a claim, and the finalizer if nothing is allocated. It reports whether
// that changed the claim.
func unmark(claim *resourcev1.ResourceClaim) bool {
	_, changed := claim.Annotations[Annotation]
	delete(claim.Annotations, Annotation)
	if i := slices.Index(claim.Finalizers, resourcev1.Finalizer); i >= 0 && claim.Status.Allocation == nil {
		claim.Finalizers = slices.Delete(claim.Finalizers, i, i+1)
		changed = true
	}
	return changed
}

// HasLeftovers reports whether runs are at work in a cluster, or were killed, or left fences that are no
// longer needed: a run may find more devices then than a decision on this snapshot.
func HasLeftovers(s *inspect.Snapshot) bool {
	o := s.Objects()
	return slices.ContainsFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return AnnouncementOn(c) != nil }) ||
		len(needless(o.TaintRules, o.Claims)) > 0
}
