package live

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

// limits bound what is read of a server. A cluster of 25,000 nodes does not meet them: its lists have a few
// million objects, and a page of 500 a few megabytes, or, where each is a ResourceSlice of 128 devices that
// say a lot of themselves, ten times that. A page that is larger is asked for again in smaller ones.
var limits = struct {
	page      int64 // bytes of a page
	whole     int64 // bytes of a list that is not in pages
	list      int64 // bytes of all pages
	event     int64 // bytes of an event of a watch
	discovery int64 // bytes of what a group serves
	version   int64 // bytes of /version
	metrics   int64 // bytes of /metrics, which are not kept
	token     int   // bytes of a token to continue
	pods      int
	objects   int // of any other resource
	pages     int // from which on pages must be worth asking for
}{
	page: 64 << 20, whole: 512 << 20, list: 8 << 30, event: 16 << 20, discovery: 4 << 20, version: 64 << 10, metrics: 256 << 20,
	token: 64 << 10, pods: 3_000_000, objects: 500_000, pages: 100,
}

// page is a part of a list.
type page struct {
	list     runtime.Object
	bytes    int64
	revision string
	next     string // continues the list; "" at its end
}

// newPage decodes the answer to a request, of which it keeps nothing.
func (r *reader) newPage(data []byte, media string, k wire.Kind, v wire.Version) (*page, error) {
	list := k.NewList(v)
	if err := r.decodeInto(data, media, list); err != nil {
		return nil, err
	}
	if r.age.Lost(list, data) {
		return nil, wire.ErrNewer
	}
	if err := wire.CheckItems(list, k.Name, k.GroupVersion(v)); err != nil {
		return nil, err
	}
	of, err := meta.ListAccessor(list)
	if err != nil {
		return nil, fmt.Errorf("reading the list: %w", err)
	}
	return &page{list: list, bytes: int64(len(data)), revision: of.GetResourceVersion(), next: of.GetContinue()}, nil
}

// decodeInto does what client-go does with an answer of whatever kind.
func (r *reader) decodeInto(data []byte, media string, into runtime.Object) error {
	decoder, err := r.negotiator.Decoder(media, nil)
	if err != nil {
		return fmt.Errorf("the answer is %q: %w", media, err)
	}
	got, _, err := decoder.Decode(data, nil, into)
	if status, ok := got.(*metav1.Status); err == nil && ok && status.Status != metav1.StatusSuccess {
		return apierrors.FromObject(status)
	}
	return err //nolint:wrapcheck // callers look at it and say what they asked for
}

const (
	// pageBytes is the size that pages approach, and mostOfPage how many objects one has at most: a server
	// need not hold more at once, and a client would wait for many small ones.
	pageBytes  = 2 << 20
	mostOfPage = 5000
)

// nextLimit returns how many objects to ask for after a page of that size in bytes, of which so many were
// asked for.
func nextLimit(limit, bytes int64) int64 {
	if limit == 0 || bytes == 0 {
		return limit
	}
	return min(max(limit, limit*pageBytes/bytes), 4*limit, max(limit, mostOfPage))
}

// smallerPage returns how to ask again when a page was too large.
func smallerPage(o metav1.ListOptions, err error) (metav1.ListOptions, bool) {
	if !errors.As(err, new(*connection.TooLargeError)) || o.Limit == 1 {
		return o, false
	}
	if o.Limit == 0 || o.ResourceVersion != "" {
		o.Limit, o.ResourceVersion, o.ResourceVersionMatch = max(o.Limit, defaultPageSize), "", ""
		return o, true
	}
	o.Limit = max(1, o.Limit/10)
	return o, true
}

// paging notices a list that never ends.
type paging struct {
	kind    wire.Kind
	pages   int
	objects int
	bytes   int64
	wanted  int64 // objects asked for in all
	began   time.Time
	// patience is how long all pages may take; 0 is for ever.
	patience time.Duration
	tokens   map[[sha256.Size]byte]bool
	firsts   map[wire.Key]bool
}

func newPaging(k wire.Kind, patience time.Duration) *paging {
	return &paging{kind: k, began: time.Now(), patience: patience, tokens: map[[sha256.Size]byte]bool{}, firsts: map[wire.Key]bool{}}
}

// mostObjects is how many objects of a kind are read.
func mostObjects(k wire.Kind) int {
	if k.Resource == inspect.Pods {
		return limits.pods
	}
	return limits.objects
}

// add takes in a page with its objects, of which at most limit were asked for, 0 being any number. The error
// says why no more pages are read.
func (p *paging) add(page *page, objects []wire.Object, limit int64) error {
	p.pages++
	p.objects += len(objects)
	p.bytes += page.bytes
	p.wanted += limit
	token := sha256.Sum256([]byte(page.next))
	switch most := mostObjects(p.kind); {
	case p.objects > most:
		return fmt.Errorf("the list has more than %d objects, the most that are read", most)
	case p.bytes > limits.list:
		return fmt.Errorf("the list has more than %d MiB, the most that is read of one", limits.list>>20)
	case page.next == "":
		return nil
	case p.patience > 0 && time.Since(p.began) > p.patience:
		return fmt.Errorf("the list is not complete after %d objects in %s, which is %d times --request-timeout", p.objects, p.patience, listTimeouts)
	case len(page.next) > limits.token:
		return fmt.Errorf("the token to continue has %d bytes; at most %d are sent", len(page.next), limits.token)
	case p.tokens[token], len(objects) > 0 && p.firsts[wire.KeyOf(objects[0])]:
		return fmt.Errorf("the server repeats itself after %d objects", p.objects)
	case p.pages >= limits.pages && int64(p.objects) < p.wanted/10:
		return fmt.Errorf("the server does not come to an end: %d pages had only %d objects", p.pages, p.objects)
	}
	p.tokens[token] = true
	if len(objects) > 0 {
		p.firsts[wire.KeyOf(objects[0])] = true
	}
	return nil
}
