package selector

import (
	"context"
	"math/rand/v2"
	"testing"
)

func TestSeparate(t *testing.T) {
	b := NewBench(NewCache(Features{ConsumableCapacity: true}), someDevices())
	tests := []struct {
		name             string
		wanted, unwanted []int
		want             string
	}{
		{"one GPU of two", []int{1}, []int{0, 2}, `device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].model == "H100"`},
		{"both GPUs", []int{0, 1}, []int{2}, `device.driver == "gpu.example.com"`},
		{"across drivers", []int{1, 2}, []int{0}, ""},
		{"nothing unwanted", []int{2}, nil, `device.driver == "nic.example.com"`},
		{"nothing wanted", nil, []int{1}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := b.Separate(context.Background(), tt.wanted, tt.unwanted, 3)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 && tt.want != "" || len(got) > 0 && got[0].Expression != tt.want {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

// Whatever is proposed matches all that is wanted and nothing that is not, and fails nowhere.
func TestSeparateKeepsItsPromise(t *testing.T) {
	proposals := 0
	for round := range 30 {
		g := generator{rand.New(rand.NewPCG(5, uint64(round))), true}
		var subjects []Subject
		var wanted, unwanted []int
		for i := range 4 + g.IntN(12) {
			subjects = append(subjects, g.subject(i))
			switch g.IntN(5) {
			case 0:
				wanted = append(wanted, i)
			case 1, 2, 3:
				unwanted = append(unwanted, i)
			}
		}
		b := NewBench(NewCache(Features{ConsumableCapacity: true}), subjects)
		got, err := b.Separate(context.Background(), wanted, unwanted, 3)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got {
			proposals++
			trial, err := b.Try(context.Background(), s.Expression)
			if err != nil || trial.Check.Scheduler != nil || trial.Failed > 0 || trial.Matched != s.Matched {
				t.Fatalf("%s: %v %+v", s.Expression, err, trial)
			}
			for _, i := range wanted {
				if trial.OutcomeOf(i).Result != Match {
					t.Errorf("%s does not match device %d, which is wanted", s.Expression, i)
				}
			}
			for _, i := range unwanted {
				if trial.OutcomeOf(i).Result == Match {
					t.Errorf("%s matches device %d, which is not wanted", s.Expression, i)
				}
			}
		}
	}
	if proposals < 20 {
		t.Errorf("only %d proposals", proposals)
	}
}
