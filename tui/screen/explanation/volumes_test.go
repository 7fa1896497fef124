package explanation

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/internal/demo"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestVolumes opens the page of a storage capacity of class scratch, with more or fewer claims that wait for
// a volume of it.
func TestVolumes(t *testing.T) {
	objects := func(change func(scratch *corev1.PersistentVolumeClaim, o *inspect.Objects)) inspect.Objects {
		o, err := demo.Objects()
		if err != nil {
			t.Fatal(err)
		}
		all := o.VolumeClaims
		o.VolumeClaims = nil
		for _, claim := range all {
			if claim.Name == "checkpoints" {
				change(claim, &o)
			}
		}
		return o
	}
	for name, test := range map[string]struct {
		change func(*corev1.PersistentVolumeClaim, *inspect.Objects)
		has    []string
		lacks  string
	}{
		"one": {
			func(c *corev1.PersistentVolumeClaim, o *inspect.Objects) { o.VolumeClaims = append(o.VolumeClaims, c) },
			[]string{"✗ ml/checkpoints fits on none of 12 nodes", "storage/csisc-wq55h"}, "more volume claims",
		},
		"none": {
			func(c *corev1.PersistentVolumeClaim, o *inspect.Objects) {
				bound := c.DeepCopy()
				bound.Spec.VolumeName = "v"
				o.VolumeClaims = append(o.VolumeClaims, bound)
			},
			[]string{"no volume claim waits for a volume of class scratch"}, "checkpoints",
		},
		"many": {
			func(c *corev1.PersistentVolumeClaim, o *inspect.Objects) {
				for i := range 10 {
					one := c.DeepCopy()
					one.Name = fmt.Sprint("c", i)
					o.VolumeClaims = append(o.VolumeClaims, one)
				}
			},
			[]string{"ml/c0 fits", "ml/c7 fits", "and 2 more volume claims of class scratch"}, "ml/c8",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := screentest.World(t, objects(test.change))
			page := New(screen.Ref{Kind: screen.StorageCapacity, Namespace: "storage", Name: "csisc-wq55h"})
			screentest.Settle(w, page, screen.Shown{}, screentest.Key("v"))
			text := page.Plain(w, 120)
			for _, part := range test.has {
				if !strings.Contains(text, part) {
					t.Errorf("%q is not on the page:\n%s", part, text)
				}
			}
			if strings.Contains(text, test.lacks) {
				t.Errorf("%q is on the page:\n%s", test.lacks, text)
			}
		})
	}
	w := screentest.Demo(t)
	page := New(screen.Ref{Kind: screen.StorageCapacity, Namespace: "storage", Name: "gone"})
	screentest.Settle(w, page, screen.Shown{})
	if text := page.Plain(w, 120); !strings.Contains(text, "csistoragecapacity storage/gone: not found") {
		t.Errorf("of a capacity that is gone the page says %q", text)
	}
}
