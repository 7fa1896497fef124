package selector

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/utils/ptr"
)

func TestAttributeText(t *testing.T) {
	for _, tt := range []struct {
		attribute   resourcev1.DeviceAttribute
		cel, people string
	}{
		{resourcev1.DeviceAttribute{}, "", ""},
		{resourcev1.DeviceAttribute{StringValue: ptr.To(`a "b"`)}, `"a \"b\""`, `a "b"`},
		{resourcev1.DeviceAttribute{IntValue: ptr.To(int64(-1))}, "-1", "-1"},
		{resourcev1.DeviceAttribute{BoolValue: ptr.To(false)}, "false", "false"},
		{resourcev1.DeviceAttribute{VersionValue: ptr.To("1.2.3")}, `semver("1.2.3")`, "1.2.3"},
		{resourcev1.DeviceAttribute{StringValues: []string{"[a]", "b, c"}}, `["[a]", "b, c"]`, "[a] b, c"},
		{resourcev1.DeviceAttribute{IntValues: []int64{1, 2}}, "[1, 2]", "1 2"},
		{resourcev1.DeviceAttribute{BoolValues: []bool{true, false}}, "[true, false]", "true false"},
		{resourcev1.DeviceAttribute{VersionValues: []string{"1.2.3", "2.0.0"}}, `[semver("1.2.3"), semver("2.0.0")]`, "1.2.3 2.0.0"},
	} {
		if got := FormatAttribute(&tt.attribute); got != tt.cel {
			t.Errorf("in CEL %s, want %s", got, tt.cel)
		}
		if got := PlainAttribute(&tt.attribute); got != tt.people {
			t.Errorf("for reading %s, want %s", got, tt.people)
		}
	}
}
