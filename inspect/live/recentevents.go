package live

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apifields "k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

// recentEvents is how many Events of a cluster are read at most, in one request.
const recentEvents = 1000

// everyday are the reasons of Events that a cluster makes most, and that say nothing of devices. A server
// that leaves them out has room for the others. A selector cannot ask for one of several reasons.
var everyday = []string{
	"Scheduled", "Pulling", "Pulled", "Created", "Started", "Killing", "BackOff", "Unhealthy", "ProbeWarning", "SuccessfulCreate", "SuccessfulDelete",
	"ScalingReplicaSet", "SuccessfulRescale", "Completed", "SawCompletedJob", "SuccessfulMountVolume", "ProvisioningSucceeded", "ExternalProvisioning", "LeaderElection",
}

// RecentEvents reads Events of a cluster, without those that are of every day: one request, of which at most
// the first thousand are taken. They are those of all namespaces, or, if that is forbidden, of the namespace
// alone, unless that is empty. What is forbidden, fails or is left out is recorded in the Health; the error
// is that of ctx, or that the configuration cannot be used.
func RecentEvents(ctx context.Context, config *rest.Config, namespace string) (inspect.Events, error) {
	r, _, err := newReader(config, Options{Resources: []inspect.Resource{}})
	if err != nil {
		return inspect.Events{}, err
	}
	bounded, cancel := context.WithTimeout(connection.WithoutErrorLog(ctx), eventsPatience)
	defer cancel()
	out, err := r.eventsIn(bounded, "")
	if apierrors.IsForbidden(err) && namespace != "" {
		if out, err = r.eventsIn(bounded, namespace); err == nil && out.Health.State == inspect.Synced {
			out.Health = inspect.Health{State: inspect.Narrowed, Version: "v1", Namespaces: []string{namespace}, Message: "cannot list events at the cluster scope; only namespace " + namespace + " was read"}
		}
	}
	switch {
	case ctx.Err() != nil:
		return inspect.Events{}, fmt.Errorf("reading %s: %w", r.server, context.Cause(ctx))
	case err != nil:
		out.Health = eventsHealth(err, "")
	}
	return out, nil
}

// eventsIn reads the first Events of a namespace, or of all.
func (r *reader) eventsIn(ctx context.Context, namespace string) (inspect.Events, error) {
	var terms []apifields.Selector
	for _, reason := range everyday {
		terms = append(terms, apifields.OneTermNotEqualSelector("reason", reason))
	}
	options := metav1.ListOptions{FieldSelector: apifields.AndSelectors(terms...).String(), Limit: recentEvents}
	events, more, err := r.eventsPage(ctx, namespace, options)
	if err != nil {
		return inspect.Events{}, err
	}
	out := inspect.Events{List: events[:min(len(events), recentEvents)], Health: inspect.Health{State: inspect.Synced, Version: "v1"}}
	if more || len(events) > recentEvents {
		out.Health = inspect.Health{State: inspect.Incomplete, Version: "v1", Message: fmt.Sprintf("there are more events than the %d that were read", recentEvents)}
	}
	return out, nil
}
