package requests

import (
	"context"
	"encoding/json"
	"fmt"

	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// Rules is a RuleServer over HTTP. It speaks one version of resource.k8s.io, at each of which (v1, v1beta2,
// v1alpha3) a rule for one device looks the same.
type Rules struct {
	api     *API
	version string
}

// Rules returns a client for DeviceTaintRules at a version, as "v1beta2", that the server serves.
func (a *API) Rules(version string) *Rules { return &Rules{api: a, version: version} }

func (r *Rules) path(name ...string) []string {
	return append([]string{"/apis", resourcev1.GroupName, r.version, "devicetaintrules"}, name...)
}

// Fences lists the rules that are fences.
func (r *Rules) Fences(ctx context.Context) ([]*resourcev1.DeviceTaintRule, error) {
	data, err := r.api.do(ctx, r.api.client.Get().AbsPath(r.path()...).Param("labelSelector", inspect.FenceKey))
	if err != nil {
		return nil, fmt.Errorf("listing devicetaintrules: %w", err)
	}
	list := &resourcev1.DeviceTaintRuleList{}
	if err := decode(data, list); err != nil {
		return nil, fmt.Errorf("listing devicetaintrules: %w", err)
	}
	if list.Kind != "DeviceTaintRuleList" {
		return nil, fmt.Errorf("listing devicetaintrules: reading the answer: it is no list of them, but %q", list.Kind)
	}
	if list.Continue != "" {
		return nil, fmt.Errorf("listing devicetaintrules: the server sends only %d of them", len(list.Items))
	}
	out := make([]*resourcev1.DeviceTaintRule, len(list.Items))
	for i := range list.Items {
		out[i] = &list.Items[i]
	}
	return out, nil
}

// CreateRule creates a rule.
func (r *Rules) CreateRule(ctx context.Context, rule *resourcev1.DeviceTaintRule) error {
	rule = rule.DeepCopy()
	rule.APIVersion, rule.Kind = resourcev1.GroupName+"/"+r.version, "DeviceTaintRule"
	data, err := json.Marshal(rule)
	if err != nil {
		return fmt.Errorf("writing DeviceTaintRule %s: %w", rule.Name, err)
	}
	request := r.api.client.Post().AbsPath(r.path()...).Param("fieldManager", fieldManager).Body(data)
	if r.api.dryRun {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	if _, err = r.api.do(ctx, request); apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("%w (%w)", ErrExists, err)
	}
	return err
}

// DeleteRule deletes a rule if it still is the one that was read.
func (r *Rules) DeleteRule(ctx context.Context, rule *resourcev1.DeviceTaintRule) error {
	options := metav1.DeleteOptions{
		TypeMeta:      metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		Preconditions: &metav1.Preconditions{UID: &rule.UID},
	}
	if r.api.dryRun {
		options.DryRun = []string{metav1.DryRunAll}
	}
	data, err := json.Marshal(&options)
	if err != nil {
		return fmt.Errorf("deleting DeviceTaintRule %s: %w", rule.Name, err)
	}
	_, err = r.api.do(ctx, r.api.client.Delete().AbsPath(r.path(rule.Name)...).Body(data))
	return classified(err)
}
