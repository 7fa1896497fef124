package plan

import (
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/disruption"
)

// TestWorstOf: that a loss is the worst is said as a fact only if it is proved, in all runs.
func TestWorstOf(t *testing.T) {
	for _, test := range []struct {
		weakest disruption.Weakest
		k       int
		want    string
	}{
		{disruption.Weakest{Proven: true, Certain: true}, 1, "the loss of no other node is worse"},
		{disruption.Weakest{Proven: true, Certain: true}, 2, "no loss of other 2 is worse"},
		{disruption.Weakest{Proven: true}, 1, "the loss of no other node is worse as far as it was played, but what becomes of the pods is not certain for each"},
		{disruption.Weakest{Tried: 400, AtMost: 7, Certain: true}, 1, "of the possible losses the 400 that end most pods were played, and this is the worst of them; after others up to 7 pods may run nowhere"},
		{
			disruption.Weakest{Tried: 20, AtMost: 7, Limited: true}, 1,
			"of the possible losses the 20 that end most pods were played, and this is the worst of them; after others up to 7 pods may run nowhere; in a cluster of this size no more are played",
		},
	} {
		if got := strings.Join(worstOf(&test.weakest, "node", test.k), "; "); got != test.want {
			t.Errorf("%s\nwant %s", got, test.want)
		}
	}
}
