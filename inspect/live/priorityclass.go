package live

import (
	"context"
	"encoding/json"

	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PriorityClass reads a priority class. It is nil where the class may not be read or is not there. The error
// is that of ctx.
func (f *Finder) PriorityClass(ctx context.Context, name string) (*schedulingv1.PriorityClass, error) {
	data, err := f.get(ctx, []string{"/apis", schedulingv1.GroupName, "v1", "priorityclasses", name}, runtime.ContentTypeJSON)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	class := &schedulingv1.PriorityClass{}
	if err != nil || json.Unmarshal(data, class) != nil || class.Name != name {
		return nil, nil //nolint:nilnil,nilerr // then the priority is not known, which answers say
	}
	return class, nil
}
