package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// loadYAML has three levels, each for one user. Of 42 seats and 290 shares (245 of the default levels),
// 25 shares are ceil(3.62) = 4 and 10 shares ceil(1.45) = 2. The first two can neither lend nor borrow.
var loadYAML = levelYAML("queueing", "nominalConcurrencyShares: 25, borrowingLimitPercent: 0, "+
	"limitResponse: {type: Queue, queuing: {queues: 1, handSize: 1, queueLengthLimit: 5}}") +
	levelYAML("rejecting", "nominalConcurrencyShares: 10, borrowingLimitPercent: 0, "+reject) +
	levelYAML("borrowing", "nominalConcurrencyShares: 10, limitResponse: {type: Queue, queuing: {queues: 1, handSize: 1, queueLengthLimit: 50}}") +
	schemaYAML("queueing") + schemaYAML("rejecting") + schemaYAML("borrowing")

// schemaYAML leads the user of that name to the level of that name.
func schemaYAML(name string) string {
	return fmt.Sprintf(`---
apiVersion: flowcontrol.apiserver.k8s.io/v1
kind: FlowSchema
metadata: {name: %[1]s-requests}
spec:
  matchingPrecedence: 50
  priorityLevelConfiguration: {name: %[1]s}
  rules:
  - subjects: [{kind: User, user: {name: %[1]s}}]
    resourceRules: [{verbs: ["*"], apiGroups: ["*"], resources: ["*"], namespaces: ["*"]}]
`, name)
}

// held are requests whose bodies are not sent yet: those that are executing keep their seats until
// release is called.
type held struct {
	mu      sync.Mutex
	codes   map[int]int // answers by status code
	failure error
	bodies  []*io.PipeWriter
	done    sync.WaitGroup
}

// hold sends n requests to create a ConfigMap without their bodies.
func hold(t *testing.T, c *cluster.Cluster, user string, n int) *held {
	t.Helper()
	return holdAs(t, c.Config(user), n)
}

func holdAs(t *testing.T, config *rest.Config, n int) *held {
	t.Helper()
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	h := &held{codes: map[int]int{}}
	for range n {
		body, writer := io.Pipe()
		h.bodies = append(h.bodies, writer)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, config.Host+"/api/v1/namespaces/default/configmaps", body)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		h.done.Go(func() { h.send(transport, request) })
	}
	t.Cleanup(h.release)
	return h
}

func (h *held) send(transport http.RoundTripper, request *http.Request) {
	response, err := transport.RoundTrip(request)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil {
		h.failure = err
		return
	}
	h.codes[response.StatusCode]++
	_ = response.Body.Close() // its status is all that counts
}

// release sends the bodies, which are no ConfigMaps, and waits for all answers.
func (h *held) release() {
	for _, body := range h.bodies {
		_ = body.CloseWithError(io.EOF) // what was refused has no reader any more
	}
	h.done.Wait()
}

// answers returns the answers so far by status code.
func (h *held) answers(t *testing.T) map[int]int {
	t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.failure != nil {
		t.Fatal(h.failure)
	}
	out := map[int]int{}
	for code, n := range h.codes {
		out[code] = n
	}
	return out
}

// figures are what a level is doing.
type figures struct{ Executing, Seats, Queued, Rejected int }

func figuresOf(level priorityLevel) figures {
	value := func(n *int) int {
		if n == nil {
			return -1
		}
		return *n
	}
	return figures{value(level.Executing), value(level.ExecutingSeats), value(level.Queued), value(level.Rejected)}
}

// shows waits until the server's own metrics have the figures, and then wants them from the plugin.
func shows(t *testing.T, c *cluster.Cluster, level string, want figures) priorityLevel {
	t.Helper()
	cluster.Eventually(t, func(ctx context.Context) error {
		all, err := serverFigures(ctx, c)
		if err != nil {
			return err
		}
		value := func(metric string) int { return int(all[metric][level]) }
		server := figures{value("current_executing_requests"), value("current_executing_seats"), value("current_inqueue_requests"), value("rejected_requests_total")}
		if diff := cmp.Diff(want, server); diff != "" {
			return fmt.Errorf("%s: (-want +server):\n%s", level, diff)
		}
		return nil
	})
	got := levels(t, c, cluster.Admin).named(t, level)
	if diff := cmp.Diff(want, figuresOf(got)); diff != "" {
		t.Errorf("%s: (-server +plugin):\n%s", level, diff)
	}
	return got
}

// TestPriorityLevelLoad fills levels of a small server with requests that keep their seats, so that it is
// known how many execute, wait and are turned away.
func TestPriorityLevelLoad(t *testing.T) {
	users := []string{"queueing", "rejecting", "borrowing", "nometrics"}
	c := cluster.Start(t, cluster.Options{NoScheduler: true, Users: users,
		// A request waits in a queue for at most a quarter of the time that it may take: longer than this
		// test.
		ServerFlags: []string{"--max-requests-inflight=30", "--max-mutating-requests-inflight=12", "--request-timeout=1h"}})
	c.ApplyText(t, loadYAML)
	for _, user := range users[:3] {
		permit(t, c, user, rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"create"}})
	}
	objects := rbacv1.PolicyRule{APIGroups: []string{"flowcontrol.apiserver.k8s.io"}, Resources: []string{"*"}, Verbs: []string{"list"}}
	permit(t, c, "nometrics", objects)
	awaitSchemas(t, c, "queueing-requests", "rejecting-requests", "borrowing-requests")
	agree(t, c, 42, true)

	t.Run("queue", func(t *testing.T) {
		h := hold(t, c, "queueing", 20)
		level := shows(t, c, "queueing", figures{Executing: 4, Seats: 4, Queued: 5, Rejected: 11})
		if level.Nominal != 4 || *level.Current != 4 || !cmp.Equal(level.RejectedBy, map[string]int{"queue-full": 11}) {
			t.Errorf("%+v", level)
		}
		t.Logf("%v", c.Plugin(t, cluster.Admin, "get", "prioritylevels"))
		testWithoutPermission(t, c)
		if codes := h.answers(t); codes[http.StatusTooManyRequests] != 11 {
			t.Errorf("answers by status code %v, want 11 of 429", codes)
		}
		h.release()
		shows(t, c, "queueing", figures{Rejected: 11})
	})
	t.Run("reject", func(t *testing.T) {
		h := hold(t, c, "rejecting", 9)
		level := shows(t, c, "rejecting", figures{Executing: 2, Seats: 2, Rejected: 7})
		if !cmp.Equal(level.RejectedBy, map[string]int{"concurrency-limit": 7}) {
			t.Errorf("%+v", level)
		}
		h.release()
		shows(t, c, "rejecting", figures{Rejected: 7})
	})
	t.Run("borrow", func(t *testing.T) {
		h := hold(t, c, "borrowing", 10)
		cluster.Eventually(t, func(context.Context) error { // the server adjusts limits every ten seconds
			if level := levels(t, c, cluster.Admin).named(t, "borrowing"); *level.Current < 10 {
				return fmt.Errorf("the limit is %d of nominally %d seats, want that 10 requests get theirs", *level.Current, level.Nominal)
			}
			return nil
		})
		agree(t, c, 42, true) // the limits of those that lend, too
		level := shows(t, c, "borrowing", figures{Executing: 10, Seats: 10})
		if level.Nominal != 2 {
			t.Errorf("%+v", level)
		}
		t.Logf("%v", c.Plugin(t, cluster.Admin, "get", "prioritylevels"))
		h.release()
	})
}

// testWithoutPermission asks as a user who may list the levels but not read the metrics, while the level
// queueing is full.
func testWithoutPermission(t *testing.T, c *cluster.Cluster) {
	t.Helper()
	const user = "nometrics"
	result := c.Plugin(t, user, "get", "prioritylevels", "queueing", "-o", "json", "--server-concurrency", "42")
	var list priorityLevelList
	result.JSON(t, &list)
	level := list.named(t, "queueing")
	if diff := cmp.Diff(figures{-1, -1, -1, -1}, figuresOf(level)); diff != "" || level.Current != nil || level.Nominal != 4 || level.Upper != 4 {
		t.Errorf("(-want +plugin):\n%s\n%+v", diff, level)
	}
	if want := "cannot get /metrics; live figures are missing"; !strings.Contains(result.Stderr, want) {
		t.Errorf("%s\nwant %q", result, want)
	}
	if result := c.Plugin(t, user, "get", "pl"); !strings.Contains(result.Stderr, "taken to be 600") || result.Code != 0 {
		t.Errorf("%s\nwant a word about the default", result)
	}
}

// permit lets a user do what the rules say, and waits until the server has seen them.
func permit(t *testing.T, c *cluster.Cluster, user string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	rbac, about := c.Client().RbacV1(), metav1.ObjectMeta{Name: "permit-" + user}
	if _, err := rbac.ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: about, Rules: rules}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: about,
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: user}},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: about.Name}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, rule := range rules {
		awaitPermission(t, c, user, "", rule, true)
	}
}

// awaitPermission waits until the server permits a user what a rule says, in a namespace or, if that is
// empty, everywhere, or forbids it: it learns of roles and of bindings a moment after they changed.
func awaitPermission(t *testing.T, c *cluster.Cluster, user, namespace string, rule rbacv1.PolicyRule, want bool) {
	t.Helper()
	awaitPermissionOf(t, c, authorizationv1.SubjectAccessReviewSpec{User: user}, namespace, rule, want)
}

// awaitPermissionOf is awaitPermission for a user with groups.
func awaitPermissionOf(t *testing.T, c *cluster.Cluster, who authorizationv1.SubjectAccessReviewSpec, namespace string, rule rbacv1.PolicyRule, want bool) {
	t.Helper()
	review := &authorizationv1.SubjectAccessReview{Spec: who}
	if len(rule.NonResourceURLs) > 0 {
		review.Spec.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Verb: rule.Verbs[0], Path: strings.TrimSuffix(rule.NonResourceURLs[0], "*")}
	} else {
		review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: rule.Resources[0]}
	}
	cluster.Eventually(t, func(ctx context.Context) error {
		answer, err := c.Client().AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err == nil && answer.Status.Allowed != want {
			err = fmt.Errorf("%s %v may %s %+v: %v, want %v", who.User, who.Groups, rule.Verbs[0], rule, answer.Status.Allowed, want)
		}
		return err
	})
}
