package spell

import (
	"slices"
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"train-0", "train-0", 0}, {"trian-0", "train-0", 1},
		{"memroy", "memory", 1}, {"gpu", "gpus", 1}, {"kitten", "sitting", 3}, {"é", "e", 1}, {"ca", "abc", 3},
		{"train", "trains", 1}, {"train", "tran", 1}, {"train", "brain", 1},
	} {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := Distance(test.b, test.a); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", test.b, test.a, got, test.want)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, test := range []struct {
		word       string
		candidates []string
		want       []string
	}{
		{"trian-0", []string{"train-1", "train-0", "train-0"}, []string{"train-0"}},
		{"train", []string{"train-1", "brain", "trains"}, []string{"brain", "trains"}},
		{"TRAIN-0", []string{"train-0"}, []string{"train-0"}},
		{"x", []string{"train-0", "abc"}, nil},
		{"claim", nil, nil},
	} {
		if got := Nearest(test.word, test.candidates); !slices.Equal(got, test.want) {
			t.Errorf("Nearest(%q, %q) = %q, want %q", test.word, test.candidates, got, test.want)
		}
	}
}

func TestMeant(t *testing.T) {
	for _, tt := range []struct{ wanted, names, want string }{
		{"cpu", "dra.cpu/cpu dra.cpu/cpus memory", "dra.cpu/cpu dra.cpu/cpus"},
		{"dra.cpu/cpu", "cpu dra.cpu/cpu", "cpu"},
		{"resource.kubernetes.io/numaNode", "dra.net/numaNode dra.cpu/numaNodeID dra.net/ifName numaNode dra.net/numaNode", "dra.net/numaNode numaNode dra.cpu/numaNodeID"},
		{"bandwydth", "nic/bandwidth nic/vfs", "nic/bandwidth"},
		{"memory", "cores", ""},
		{"id", "uuid", ""},
		{"", "a", ""},
	} {
		if got := strings.Join(Meant(tt.wanted, strings.Fields(tt.names)), " "); got != tt.want {
			t.Errorf("%s of %s: %s, want %s", tt.wanted, tt.names, got, tt.want)
		}
	}
}
