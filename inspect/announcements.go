package inspect

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AnnouncementKey is the annotation by which kubectl dra allocate and deallocate announce on a claim what
// they are about to do to it. It is gone when the run is over; one that stays was left behind by a run that
// was killed.
const AnnouncementKey = "kubectl-dra.dev/announcement"

// maxAnnouncement is up to how many bytes an announcement is read.
const maxAnnouncement = 64 << 10

// Announcement is what people want to know of an announcement.
type Announcement struct {
	// Action is "allocate" or "deallocate", or "" if the announcement cannot be read.
	Action string `json:"action,omitempty"`
	// By and At say who began the run, and when by the clock of that machine.
	By string    `json:"by,omitempty"`
	At time.Time `json:"at"`
}

// AnnouncementOn returns the announcement that an object carries, if there is one. Anybody can write
// annotations: it is as unsafe to print as all text of a cluster.
func AnnouncementOn(object metav1.Object) (Announcement, bool) {
	text, ok := object.GetAnnotations()[AnnouncementKey]
	if !ok {
		return Announcement{}, false
	}
	var a Announcement
	if len(text) > maxAnnouncement || json.Unmarshal([]byte(text), &a) != nil || a.Action != "allocate" && a.Action != "deallocate" {
		return Announcement{}, true
	}
	return a, true
}

// reducedAnnouncement is what is saved of an announcement: not by whom, and not of what.
func reducedAnnouncement(object metav1.Object) string {
	a, _ := AnnouncementOn(object)
	a.By = ""
	text, err := json.Marshal(a)
	if err != nil { // a year that JSON does not have
		return "{}"
	}
	return string(text)
}
