package logs_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/logs"
	"github.com/kubectl-dra/kubectl-dra/tui/screen/screentest"
)

var plugin = screen.Ref{Kind: screen.Pod, Namespace: "gpu", Name: "plugin-x"}

func world(t *testing.T) *screen.World {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "gpu", Name: "plugin-x"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main"}, {Name: "side"}}}}
	return screentest.World(t, inspect.Objects{Pods: []*corev1.Pod{pod}})
}

// TestLogs: what each container has written is read once, and again only when that is asked for. Nothing of
// it reaches the terminal as it is.
func TestLogs(t *testing.T) {
	w, times := world(t), 0
	w.Logs = func(_ context.Context, namespace, pod, container string, lines int) (string, error) {
		if times++; container == "side" {
			return "", errors.New("container side is \x1bwaiting")
		}
		return fmt.Sprintf("the last %d of %s/%s\r\n\x1b[2Jcannot prepare\n", lines, namespace, pod), nil
	}
	page := logs.New(plugin)
	screentest.Settle(w, page, screen.Shown{})
	text := page.Plain(w, 80)
	for _, want := range []string{"── main, the last 200 lines", "the last 200 of gpu/plugin-x\n", `\x1b[2Jcannot prepare`, "── side", `container side is \x1bwaiting`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.ContainsAny(text, "\x1b\r") {
		t.Errorf("not sanitised: %q", text)
	}
	next := w.Next(w.Version+1, w.Snapshot)
	screentest.Settle(next, page, screen.Changed{})
	if times != 2 {
		t.Errorf("two containers were read %d times", times)
	}
	screentest.Settle(next, page, screentest.Key("r"))
	if times != 4 {
		t.Errorf("after r two containers were read %d times", times)
	}
}

// TestNoLogs: a file has none, and a pod may be gone.
func TestNoLogs(t *testing.T) {
	w, page := world(t), logs.New(plugin)
	screentest.Settle(w, page, screen.Shown{})
	if text := page.Plain(w, 80); !strings.Contains(text, "logs are read from a cluster only") {
		t.Errorf("without a cluster:\n%s", text)
	}
	w = screentest.World(t, inspect.Objects{})
	w.Logs = func(context.Context, string, string, string, int) (string, error) {
		t.Error("the logs of a pod that is gone were asked for")
		return "", nil
	}
	page = logs.New(plugin)
	screentest.Settle(w, page, screen.Shown{})
	if text := page.Plain(w, 80); !strings.Contains(text, "pod gpu/plugin-x is gone") {
		t.Errorf("without the pod:\n%s", text)
	}
}
