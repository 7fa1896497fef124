package requirement_test

import (
	"context"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/explaintest"
	"github.com/kubectl-dra/kubectl-dra/explain/question"
)

// TestValuesOfDifferentTypes: values that look alike and are not, since one is a number and one a string, are
// told with their types, and others without.
func TestValuesOfDifferentTypes(t *testing.T) {
	number, text, other := resourcev1.DeviceAttribute{IntValue: ptr.To(int64(1))}, resourcev1.DeviceAttribute{StringValue: ptr.To("1")}, resourcev1.DeviceAttribute{StringValue: ptr.To("2")}
	for _, tt := range []struct {
		values []resourcev1.DeviceAttribute
		want   string
	}{
		{[]resourcev1.DeviceAttribute{number, text}, "1 of those that fit has 1 (int), 1 has 1 (string)"},
		{[]resourcev1.DeviceAttribute{text, other}, "1 of those that fit has 1, 1 has 2"},
		{[]resourcev1.DeviceAttribute{number, other}, "1 of those that fit has 1, 1 has 2"},
	} {
		o := explaintest.NodesWithDevices(2)
		for i := range tt.values {
			o.Slices[0].Spec.Devices[i].Attributes = map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"rack": tt.values[i]}
		}
		rack := resourcev1.FullyQualifiedName(explaintest.Driver + "/rack")
		claim := explaintest.GPUClaim(2, "any", resourcev1.DeviceConstraint{MatchAttribute: &rack})
		e, err := question.ClaimObject(context.Background(), explaintest.NewCluster(o), claim, question.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for i := range e.Conflict.Requirements {
			if r := &e.Conflict.Requirements[i]; r.Kind == explain.ConstraintRequired {
				got = r.Actual
			}
		}
		if got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}
