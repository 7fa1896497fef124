package explanation_test

import (
	"context"
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/explanation"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

// TestLogsOfTheDriver: l leads to the pod of the driver that could not prepare the devices of the pod.
func TestLogsOfTheDriver(t *testing.T) {
	w, events := hanging(t)
	w.Events = func(context.Context, []inspect.ObjectRef) (inspect.Events, error) {
		return inspect.Events{List: events, Health: inspect.Health{State: inspect.Synced}}, nil
	}
	page := explanation.New(screen.Ref{Kind: screen.Pod, Namespace: "ml", Name: "train-0"})
	screentest.Settle(w, page, screen.Shown{})
	want := screen.Open{Page: screen.Logs, Ref: screen.Ref{Kind: screen.Pod, Namespace: "gpu-driver", Name: "gpu-kubelet-plugin-g0xyz"}}
	if asked := screentest.Settle(w, page, screentest.Key("l")); !slices.Contains(asked, tea.Msg(want)) {
		t.Errorf("l leads to %+v, want %+v", asked, want)
	}
}
