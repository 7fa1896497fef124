//go:build kube134

package filters

import (
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type (
	kubePlugin       = framework.Plugin
	preEnqueuePlugin = framework.PreEnqueuePlugin
	preFilterPlugin  = framework.PreFilterPlugin
	filterPlugin     = framework.FilterPlugin
)

// recorder makes what notes events, of which there are none.
func recorder(string) events.EventRecorder { return &events.FakeRecorder{} }
