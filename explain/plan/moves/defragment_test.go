package moves

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler"
)

// TestDefragment: on three nodes with eight devices, five of each are in use. A claim for six fits nowhere;
// three pods have to leave a node for one, and there is room for three on each of the others. Of nine free
// devices, two claims can have four each once one pod has left each of two nodes.
func TestDefragment(t *testing.T) {
	for _, tt := range []struct {
		wanted, most int
		rows         string
	}{
		{3, 2, "[{0 3}]"}, {6, 2, "[{0 0}]"}, {6, 3, "[{0 0} {3 1}]"}, {4, 3, "[{0 0} {1 1} {2 2}]"}, {1, 3, "[{0 9}]"}, {8, 9, "[{0 0} {5 1}]"},
	} {
		t.Run(fmt.Sprint(tt.wanted, tt.most), func(t *testing.T) {
			o := busyFarm(3, 5)
			like := &resourcev1.ResourceClaim{Spec: template("many", int64(tt.wanted), "").Spec.Spec}
			like.Namespace, like.Name = "ml", "many"
			c := scheduler.NewCluster(inspect.New(*o, inspect.Config{Features: inspect.DefaultFeatures(inspect.NewestMinor)}), scheduler.Options{})
			d, err := Defragment(t.Context(), c, like, tt.most)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(d.Rows); got != tt.rows {
				t.Errorf("rows %s, want %s", got, tt.rows)
			}
		})
	}
}
