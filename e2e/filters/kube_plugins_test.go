package filters

import fwk "k8s.io/kube-scheduler/framework"

type (
	kubePlugin       = fwk.Plugin
	preEnqueuePlugin = fwk.PreEnqueuePlugin
	preFilterPlugin  = fwk.PreFilterPlugin
	filterPlugin     = fwk.FilterPlugin
)
