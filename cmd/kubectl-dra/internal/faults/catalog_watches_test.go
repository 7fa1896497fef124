package faults

import (
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/internal/fakeserver"
)

const shortly = 100 * time.Millisecond

// following: only commands that follow notice, and they go on with what is known.
func following(says string, requests int) wants {
	return all(want{outcome: same, requests: 100}).but(want{outcome: same | partial | waits, says: says, requests: requests}, "top").
		but(want{outcome: same | partial | waits | fails, says: says, requests: requests}, "get --watch")
}

func watches() []fault {
	stop := func(w *fakeserver.Watch) { w.Wait(shortly) }
	return []fault{
		{name: "watch-cut", about: "watches end after 100 ms", sample: true, inject: strike(watching, fakeserver.Watching(stop)), want: following(".", 195)},
		{name: "watch-short", about: "watches end after one event", inject: strike(watching, fakeserver.Watching(func(w *fakeserver.Watch) {
			w.Send("BOOKMARK", w.Bookmark(5000))
		})), want: following(".", 195)},
		{name: "watch-reset", about: "watches are reset", inject: strike(watching, resetConnection), want: following(".", 195)},
		{name: "watch-410", about: "watches expire after 100 ms", inject: strike(watching, fakeserver.Watching(func(w *fakeserver.Watch) {
			stop(w)
			w.Send(expired("too old \x1b[31mEVIL"))
		})), want: following(".", 195)},
		{name: "watch-garbage", about: "watches send broken JSON", inject: strike(watching, fakeserver.Watching(func(w *fakeserver.Watch) {
			stop(w)
			w.Raw("{\"type\": \"MODIFIED\", \"object\": {garbage \x1b[31mEVIL\n")
		})), want: following(".", 195)},
		{name: "watch-html", about: "watches send a web page", inject: strike(watching, fakeserver.Text(http.StatusOK, "text/html", "<html>Please log in</html>")), want: following(".", 195)},
		{name: "watch-wrong-kind", about: "watches send ConfigMaps, and events of no known type", inject: strike(watching, fakeserver.Watching(func(w *fakeserver.Watch) {
			w.Send("MODIFIED", map[string]any{"kind": "ConfigMap", "apiVersion": "v1", "metadata": map[string]any{"name": "x", "resourceVersion": "99999"}})
			w.Send("WHATEVER", w.Bookmark(9))
			stop(w)
		})), want: following(".", 195)},
		{name: "watch-null", about: "watches send events without objects", inject: strike(watching, fakeserver.Watching(func(w *fakeserver.Watch) {
			w.Send("MODIFIED", nil)
			w.Raw("{\"type\":\"ADDED\"}\n")
			stop(w)
		})), want: following(".", 195)},
		{name: "watch-flood", about: "watches send one object again and again, as fast as it is taken", heavy: true, inject: strike(watching+`|`+claimLists+`.*watch=`, fakeserver.Watching(func(w *fakeserver.Watch) {
			for version := int64(5000); w.First(version) != nil && w.Send("MODIFIED", w.First(version)); version++ {
			}
			w.Wait(time.Minute)
		})), want: following(".", 70)},
		{name: "watch-backwards", about: "resource versions go backwards", inject: strike(watching, fakeserver.Watching(func(w *fakeserver.Watch) {
			for version := int64(900); version > 1 && w.First(version) != nil && w.Send("MODIFIED", w.First(version)) && w.Wait(20*time.Millisecond); version-- {
			}
			w.Wait(time.Minute)
		})), want: following(".", 70)},
		{name: "watch-bookmarks", about: "watches send bookmarks without end", inject: strike(watching, fakeserver.Watching(func(w *fakeserver.Watch) {
			for version := int64(5000); w.Send("BOOKMARK", w.Bookmark(version)) && w.Wait(5*time.Millisecond); version++ {
			}
		})), want: following(".", 70)},
		{name: "watch-403", about: "watching is forbidden", inject: strike(watching, fakeserver.Refuse(http.StatusForbidden, "Forbidden", "no")), want: following(".", 195)},
		{name: "watch-silent", about: "watches are never answered", inject: strike(watching, silent), want: following(inTime+`|`+waiting, 70)},
		{name: "watch-no-end", about: "watches begin and send nothing", inject: strike(watching, func(e *fakeserver.Exchange) {
			raw("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")(e)
		}), want: following(".", 195)},
		{name: "watch-429", about: "watches: too many requests, Retry-After: 1", inject: strike(watching, fakeserver.Refuse(http.StatusTooManyRequests, "TooManyRequests", "later", "Retry-After", "1")), want: following(".", 195)},
	}
}

// expired is the event of a watch whose version the server has forgotten.
func expired(message string) (kind string, object any) {
	return "ERROR", metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusFailure,
		Reason: metav1.StatusReasonExpired, Code: 410, Message: message,
	}
}
