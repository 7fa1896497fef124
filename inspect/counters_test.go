package inspect

import (
	"testing"

	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func consuming(amounts ...string) *resourcev1.Device {
	d := &resourcev1.Device{}
	for i := 0; i < len(amounts); i += 3 {
		d.ConsumesCounters = append(d.ConsumesCounters, resourcev1.DeviceCounterConsumption{
			CounterSet: amounts[i], Counters: map[string]resourcev1.Counter{amounts[i+1]: {Value: resource.MustParse(amounts[i+2])}},
		})
	}
	return d
}

func TestCounterLevels(t *testing.T) {
	total := resource.MustParse("4Gi")
	levels := CounterLevels{}
	levels.Refill(&resourcev1.CounterSet{Name: "s", Counters: map[string]resourcev1.Counter{"memory": {Value: total}, "cores": {Value: resource.MustParse("2")}}})
	levels.Take(consuming("s", "memory", "3Gi", "gone", "memory", "1"))
	for _, tt := range []struct {
		device *resourcev1.Device
		want   CounterID // the zero value where it fits
	}{
		{consuming("s", "memory", "1Gi", "s", "cores", "2"), CounterID{}},
		{consuming("s", "memory", "1025Mi"), CounterID{"s", "memory"}},
		{consuming("s", "cores", "3", "s", "memory", "2Gi"), CounterID{"s", "cores"}},
		{consuming("gone", "memory", "0"), CounterID{"gone", "memory"}},
	} {
		short := levels.Short(tt.device)
		if short == nil && tt.want != (CounterID{}) || short != nil && *short != tt.want {
			t.Errorf("short of %v, want %v", short, tt.want)
		}
	}
	levels.Take(consuming("s", "memory", "2Gi"))
	if left := levels[CounterID{"s", "memory"}]; left.String() != "-1Gi" {
		t.Errorf("%s is left, want -1Gi", left.String())
	}
	if _, ok := levels[CounterID{"gone", "memory"}]; ok {
		t.Error("a counter appeared that does not exist")
	}
	if total.String() != "4Gi" {
		t.Errorf("the slice now says %s", total.String())
	}
}

func TestNewestSlices(t *testing.T) {
	slice := func(name, pool string, generation int64) *resourcev1.ResourceSlice {
		return &resourcev1.ResourceSlice{
			ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec:       resourcev1.ResourceSliceSpec{Driver: "d", Pool: resourcev1.ResourcePool{Name: pool, Generation: generation}},
		}
	}
	all := []*resourcev1.ResourceSlice{slice("a", "p", 1), slice("b", "q", 7), slice("c", "p", 3), slice("d", "p", 2), slice("e", "p", 3), slice("f", "r", -1)}
	var names string
	for _, s := range NewestSlices(all) {
		names += s.Name
	}
	if names != "bcef" {
		t.Errorf("newest slices %s, want bcef", names)
	}
}
