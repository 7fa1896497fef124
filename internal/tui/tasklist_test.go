package tui

// tasks are those of docs/top.md, which is written from them. The commands of kubectl were run against an API server
// of Kubernetes 1.37 with the objects of the demo cluster; k9s is meant without plugins and views of one's own.
var tasks = []task{
	{
		question: "Why does pod train-0 hang?",
		keys:     []string{"/", "train-0", "enter", "e"},
		shows:    []string{"✗ ml/train-0 needs 5 devices of class gpu.example.com with the same numa", "on gpu-b-04, one of the nearest, it would fit without either of these", "1  ask for 4 devices instead of 5 → 2 nodes"},
		says:     "What is needed and what there is, the two requirements of which either is too much, and fixes that were tried. The reason alone is on the screen after the name; for the first stuck claim, where the cursor is in the beginning, without any key.",
		kubectl: []string{
			"kubectl describe pod train-0 -n ml", "kubectl get resourceclaim train-0 -n ml -o yaml",
			"kubectl get resourceslices -o yaml", "kubectl get resourceclaims -A -o yaml",
		},
		kubectlLeft: "The event says `12 cannot allocate all claims`. To do by hand: evaluate the selectors on 127 devices, strike out those that 44 claims hold, and count what is left on each NUMA node.",
		k9s:         []string{":pod", "enter", "0", "/train-0", "enter", "d"},
		k9sLeft:     "It shows the same event; the rest is to be done by hand as with kubectl.",
	},
	{
		question: "Who holds GPU 3 of gpu-b-03?",
		keys:     []string{":", "b-03/gpu-3", "enter"},
		shows:    []string{"gpu.example.com/gpu-b-03/gpu-3", "held by infer/llm-70b-2-gpus-w9bnf for pod llm-70b-2"},
		says:     "The claim, its pods, and behind them the monitoring that has admin access, which takes nothing away.",
		kubectl: []string{
			`kubectl get resourceclaims -A -o json | jq -r '.items[]|select(any(.status.allocation.devices.results[]?;.pool=="gpu-b-03" and .device=="gpu-3" and .adminAccess!=true))|[.metadata.namespace,.metadata.name,.status.reservedFor[]?.name]|@tsv'`,
		},
		k9s:     []string{":resourcec", "tab", "enter", "0"},
		k9sLeft: "The list does not say which devices a claim has: to do by hand, open the YAML of each.",
	},
	{
		question:    "Which node is most fragmented?",
		keys:        []string{"3", "S"},
		shows:       []string{"▸ gpu-a-02", "gpu 2+2 by numa", "gpu 4 of 8 free, 2+2 by numa"},
		says:        "`S` sorts by the last column, the remark, the worst first: four GPUs are free, two on each NUMA node.",
		kubectl:     []string{"kubectl get resourceslices -o yaml", "kubectl get resourceclaims -A -o yaml"},
		kubectlLeft: "To do by hand: join the two by driver, pool and device, leave out what is tainted, and count by node and NUMA node. That is a script.",
		k9sLeft:     "no view joins slices with claims.",
	},
	{
		question: "What would a taint on the GPUs of gpu-b-03 hit?",
		keys:     []string{"2", "/", "pool=b-03 driver=gpu", "enter"},
		shows:    []string{"8 of 127 devices", "held by infer/llm-70b-2-gpus-w9bnf for pod llm-70b-2"},
		says: "The filter names what the `deviceSelector` of a DeviceTaintRule names: pool, driver or device. There are the devices, and for each the claim and the pods that `NoExecute` would evict. " +
			"Which of these claims tolerate the taint is not worked out: a preview of the rule itself is not there yet.",
		kubectl: []string{
			`echo '{"apiVersion":"resource.k8s.io/v1","kind":"DeviceTaintRule","metadata":{"name":"p"},"spec":{"deviceSelector":{"driver":"gpu.example.com","pool":"gpu-b-03"},"taint":{"key":"example.com/p","effect":"None"}}}' | kubectl create -f -`,
			"kubectl get devicetaintrule p -o yaml", "kubectl delete devicetaintrule p",
		},
		kubectlLeft: "A rule with effect `None` is the preview of Kubernetes itself. It counts the pods that `NoExecute` would evict, with tolerations, and does not name them; who holds the devices is question 2, for each.",
		k9s:         []string{":resources", "tab", "enter", "/b-03", "enter", "y"},
		k9sLeft:     "The slice lists the devices, not who holds them.",
	},
	{
		question:    "Whom would it help if pretrain-1 were released?",
		keys:        []string{":", "pretrain-1", "enter", "w", "home"},
		shows:       []string{"WHAT IF  ml/pretrain-1 released", "✓ helped", "✓ ml/pretrain-2 can be allocated on 1 of 12 nodes", "as is supposed; as things are, it is stuck", "1 helped"},
		says:        "Claims that are stuck now and would not be come first. `w` on a tainted device or on a node asks what if the taint were tolerated, or if there were one more such node.",
		kubectlLeft: "only by deleting it and watching what happens.",
		k9sLeft:     "as kubectl.",
	},
	{
		question: "How many more copies of template chat-7b-gpu fit?",
		keys:     []string{":", "chat-7b-gpu", "enter", "f"},
		shows:    []string{"more copies of infer/chat-7b-gpu fit now", "gpu-b-04   6"},
		says:     "In all, on each node, and what runs out first.",
		kubectl: []string{
			"kubectl get resourceclaimtemplate chat-7b-gpu -n infer -o yaml", "kubectl get resourceslices -o yaml", "kubectl get resourceclaims -A -o yaml",
		},
		kubectlLeft: "To do by hand: what question 3 asks for, and then a packing. Or raise the replicas until pods hang.",
		k9sLeft:     "as kubectl.",
	},
	{
		question: "Which driver has a broken pool?",
		keys:     []string{"2", "/", "unr", "enter"},
		shows:    []string{"2 of 127 devices", "fpga.example.com/shelf-2", "the pool has 1 of 2 slices"},
		says:     "Devices that nobody can get are unreachable, and say why.",
		kubectl: []string{
			`kubectl get resourceslices -o json | jq -r '[.items[].spec]|group_by(.driver+"/"+.pool.name)[]|max_by(.pool.generation).pool.generation as $g|map(select(.pool.generation==$g))|select(length<.[0].pool.resourceSliceCount)|.[0]|.driver+"/"+.pool.name'`,
		},
		kubectlLeft: "It finds pools that are incomplete, not those that are invalid, such as with a device twice.",
		k9s:         []string{":resources", "tab", "enter"},
		k9sLeft:     "The list shows pools, not how many slices each should have: to do by hand, compare the YAML of all slices.",
	},
	{
		question:    "Which priority level rejects requests?",
		keys:        []string{"4"},
		shows:       []string{"▸ workload-low", "/s", "since the server started"},
		says:        "Totals, and how many in a second now; with seats, borrowing and queues. The demo's server is flooded about two minutes after the start.",
		kubectl:     []string{"kubectl get --raw /metrics | grep flowcontrol_rejected_requests_total"},
		kubectlLeft: "These are totals: what is rejected now is the difference to a second look.",
		k9s:         []string{":prioritylevel", "tab", "enter"},
		k9sLeft:     "The objects, without load.",
	},
	{
		question: "Where can a volume of 2Ti of class scratch go?",
		keys:     []string{"5", "/", "class=scratch largest>=2Ti", "enter"},
		shows:    []string{"5 of 11 capacities", "gpu-b-04", "gpu-b-03", "gpu-a-04", "gpu-a-02", "gpu-a-03"},
		says:     "Five nodes. Not gpu-b-02: it has 5Ti, in pieces of 640Gi.",
		kubectl: []string{
			"kubectl get csistoragecapacities -A -o custom-columns=CLASS:.storageClassName,MAX:.maximumVolumeSize,ROOM:.capacity,NODES:.nodeTopology | grep scratch",
		},
		kubectlLeft: "To do by hand: compare `3500Gi` with `3Ti`, and look up the nodes with the labels of a topology.",
		k9s:         []string{":csistoragecap", "tab", "enter", "0"},
		k9sLeft:     "Names and ages: class, sizes and topology are in the YAML of each.",
	},
	{
		question: "Correct the selector of claim sweep-2",
		keys:     []string{"/", "sweep-2", "enter", "c", "r", "u", "enter"},
		shows:    []string{"has(device.attributes", "32 of 64 match", "of 12 nodes"},
		says:     "`c` takes it into the [lab](selectors.md), which says that it fails on 24 devices; `r` takes a corrected form, `u` and Enter count the nodes with it; `Y` would copy it as YAML.",
		kubectl:  []string{"kubectl get resourceclaim sweep-2 -n ml -o yaml", "kubectl get resourceslices -o yaml"},
		kubectlLeft: "To do by hand: find the devices without the attribute, write another expression, delete the claim (its spec is immutable), create it, and wait for the event of its pod." +
			" Until it is right.",
		k9s:     []string{":resourcec", "tab", "enter", "0", "/sweep-2", "enter", "y"},
		k9sLeft: "The rest as with kubectl.",
	},
	{
		question:    "What became of claim render-001?",
		steps:       23,
		keys:        []string{":", "render-001", "enter", "enter"},
		shows:       []string{"Seen since the start", "created, reserved on gpu-a-02", "reserved → allocated"},
		says:        "It got its GPUs at once, and its pod has ended: every change of state is kept, with the time, since `top` was started. (The demo's job comes after three seconds.)",
		kubectl:     []string{"kubectl get resourceclaim render-001 -n batch -w -o yaml"},
		kubectlLeft: "It has to run from the beginning, for this claim, and differences are found by reading.",
		k9sLeft:     "the state of now, and events of the pod.",
	},
	{
		question: "Take devices back that nobody uses",
		keys:     []string{"/", "state=alloc dev", "enter", "D"},
		shows:    []string{"write this to the cluster?", "deallocate dev/notebook-omar", "To write it, type yes"},
		says:     "A claim that is allocated and not reserved holds devices for nobody. `D` shows what would be written, and typing `yes` writes it; where that is not possible, the key says why.",
		kubectl: []string{
			`kubectl get resourceclaims -A -o json | jq -r '.items[]|select(.status.allocation and (.status.reservedFor|length)==0)|.metadata.namespace+" "+.metadata.name'`,
			`kubectl patch resourceclaim notebook-omar -n dev --subresource=status --type=merge -p '{"status":{"allocation":null}}'`,
		},
		kubectlLeft: "The patch asks nothing and shows nothing before; while a pod has the claim reserved, the API server refuses it.",
		k9s:         []string{":resourcec", "tab", "enter", "0"},
		k9sLeft:     "The STATE column tells `allocated` from `allocated,reserved`; k9s cannot write the status, only delete the claim.",
	},
	{
		question: "How many GPUs does each team hold?",
		keys:     []string{"8"},
		shows:    []string{"▸ infer 23 gpu 16, mig 7", "ml 21 gpu 18, nic 2, mig 1", "54 of 127 held"},
		says:     "A team is a namespace here; the largest comes first. What a filter hides still counts in the totals, which are those of the first line.",
		kubectl: []string{
			`kubectl get resourceclaims -A -o json | jq -r '[.items[]|.metadata.namespace as $n|.status.allocation.devices.results[]?|select(.adminAccess!=true)|[$n,.driver,.pool,.device]]|unique|group_by(.[:2])[]|[.[0][0],.[0][1],length]|@tsv'`,
		},
		k9s:     []string{":resourcec", "tab", "enter", "0"},
		k9sLeft: "The list does not say which devices a claim has: to do by hand, open the YAML of each, and add up.",
	},
	{
		question: "What is idle, and since when?",
		keys:     []string{"8", "/", "idle>0", "enter"},
		shows:    []string{"▸ dev 6 gpu 4, fpga 2 1 for 14h", "idle notebook-omar 1 device for 14h: its pod has ended"},
		says:     "Claims that hold devices for nobody, below the team, with the pod that tells since when. Where none does, they are idle at least since the start of `top`.",
		kubectl: []string{
			`kubectl get resourceclaims -A -o json | jq -r '.items[]|select(.status.allocation and (.status.reservedFor|length)==0)|.metadata.namespace+" "+.metadata.name'`,
			"kubectl get pod notebook-omar -n dev -o yaml",
		},
		kubectlLeft: "It finds claims that nobody has reserved, not those that only pods have reserved that have ended. When a pod has ended is in its conditions, for each.",
		k9s:         []string{":resourcec", "tab", "enter", "0"},
		k9sLeft:     "The STATE column tells `allocated` from `allocated,reserved`, not since when.",
	},
	{
		question: "What happened in the last five minutes?",
		steps:    23,
		keys:     []string{"9", "/", "age<5m", "enter"},
		shows:    []string{"3s idle claim batch/render-", "claim batch/render-001", "tainted device gpu-a-02/gpu", "created claim ml/train-1"},
		says:     "What was seen since the start, and before that what objects and Events of the cluster tell, the newest first.",
		kubectl:  []string{"kubectl get events -A --sort-by=.lastTimestamp", "kubectl get resourceclaims -A -w -o yaml"},
		kubectlLeft: "Nobody makes Events of claims that are allocated or released, of taints or pools: the second command must have run from the beginning, and differences are found by reading. " +
			"The first lists all that happens in a cluster.",
		k9s:     []string{":events", "enter", "0"},
		k9sLeft: "As the first command.",
	},
	{
		question:    "Which workload holds most?",
		keys:        []string{"8", groupKey, groupKey},
		shows:       []string{"▸ infer/llm-70b", "12 gpu 12", "infer/llm-70b StatefulSet 1 of 41, 12 of 54 held devices"},
		says:        "By workload, after namespace and class: the last controller to which the owners of the pods lead, with all its claims.",
		kubectl:     []string{"kubectl get resourceclaims -A -o json", "kubectl get pods -A -o json", "kubectl get replicasets -A -o json"},
		kubectlLeft: "To do by hand: join claims with the pods that have them reserved, these with their owners, and those of replica sets with deployments; count, and sort. That is a script.",
		k9sLeft:     "no view joins claims with the owners of pods.",
	},
}

// groupKey groups the rows of tables, and has the view of usage count by something else.
const groupKey = "b"
