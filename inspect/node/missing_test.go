package node_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/node"
)

// TestMissingDrivers takes all that tells of a driver away, one after the other.
func TestMissingDrivers(t *testing.T) {
	none, csi := []node.Plugin{}, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "csi.example.test"}}}}
	allocated := inspect.Objects{Claims: []*resourcev1.ResourceClaim{claimObject("c", "u", "gpu-0")}, Pods: []*corev1.Pod{podObject("p", corev1.PodPending, "c")}}
	prepared := []node.PreparedClaim{preparedAs("c", "u", "gpu-0")}
	csiAnswers := node.Plugin{Type: node.CSIPlugin, Name: "csi.example.test", Health: inspect.Health{State: inspect.Synced}}
	for name, test := range map[string]struct {
		view    node.View
		objects inspect.Objects
		want    []string
	}{
		"all at once": {node.View{Plugins: none, Claims: prepared}, allocated, []string{"DRAPlugin gpu.example.test [PreparedClaims AllocatedClaims ResourceSlices]"}},
		"allocated":   {node.View{Plugins: none}, allocated, []string{"DRAPlugin gpu.example.test [AllocatedClaims ResourceSlices]"}},
		"slices":      {node.View{Plugins: none}, inspect.Objects{}, []string{"DRAPlugin gpu.example.test [ResourceSlices]"}},
		"it answers":  {node.View{Plugins: answering, Claims: prepared}, allocated, nil},
		"a socket is left of it": {node.View{Plugins: []node.Plugin{{Type: node.DRAPlugin, Name: "gpu.example.test", Health: inspect.Health{State: inspect.Broken}}}}, inspect.Objects{},
			[]string{"DRAPlugin gpu.example.test [ResourceSlices]"}},
		"CSI":                 {node.View{}, inspect.Objects{CSINodes: []*storagev1.CSINode{csi}}, []string{"CSIPlugin csi.example.test [CSINode]"}},
		"CSI answers":         {node.View{Plugins: append([]node.Plugin{csiAnswers}, answering...)}, inspect.Objects{CSINodes: []*storagev1.CSINode{csi}}, nil},
		"CSI of another node": {node.View{}, inspect.Objects{CSINodes: []*storagev1.CSINode{{ObjectMeta: metav1.ObjectMeta{Name: "n2"}, Spec: csi.Spec}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := viewOf(test.view)
			r := node.Join(v, cluster(test.objects), "n1")
			if diff := cmp.Diff(test.want, missed(t, r)); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			v.Health[node.Registry] = inspect.Health{State: inspect.Forbidden}
			if r := node.Join(v, cluster(test.objects), "n1"); len(r.Missing) > 0 {
				t.Errorf("plugins are missed although the registry could not be read: %+v", r.Missing)
			}
		})
	}
}

// TestHiddenDriver: of a driver that may be behind a socket which does not answer it is not said that pods
// cannot start.
func TestHiddenDriver(t *testing.T) {
	silent := inspect.Health{State: inspect.Broken}
	for name, test := range map[string]struct {
		plugin node.Plugin
		hidden bool
	}{
		"nothing else":          {node.Plugin{Type: node.DRAPlugin, Name: "other.example.test", Health: inspect.Health{State: inspect.Synced}}, false},
		"a device plugin hangs": {node.Plugin{Type: node.DevicePlugin, Socket: "device-plugins/x", Health: silent}, false},
		"a socket hangs":        {node.Plugin{Socket: "plugins_registry/x", Health: silent}, true},
	} {
		r := node.Join(viewOf(node.View{Plugins: []node.Plugin{test.plugin}}), cluster(inspect.Objects{}), "n1")
		at := slices.IndexFunc(r.Problems, func(p node.Problem) bool { return p.Code == node.DriverMissing })
		if at < 0 {
			t.Fatalf("%s: the driver is not missed: %+v", name, r.Problems)
		}
		if said := r.Problems[at].Sentence(); strings.Contains(said, "unless the kubelet has registered it before") != test.hidden {
			t.Errorf("%s: %s", name, said)
		}
	}
}

// missed are the plugins that are missing. For each there is a problem.
func missed(t *testing.T, r *node.Report) []string {
	t.Helper()
	var out []string
	for _, m := range r.Missing {
		out = append(out, fmt.Sprint(m.Type, " ", m.Name, " ", m.Evidence))
		found := false
		for _, p := range r.Problems {
			missing := p.Code == node.DriverMissing || p.Code == node.DriverSilent || p.Code == node.PluginMissing || p.Code == node.CSIDriverMissing
			found = found || missing && (p.Driver == m.Name || p.Resource == m.Name)
		}
		if !found || m.Sentence() == "" || m.Sentence() == string(m.Evidence[0]) {
			t.Errorf("%+v: said %q, and among the problems: %v", m, m.Sentence(), found)
		}
	}
	return out
}

// TestMissingDevicePlugins has what a kubelet (1.37.1, devicemanager.ManagerImpl) counts in each phase of the
// life of a plugin.
func TestMissingDevicePlugins(t *testing.T) {
	kept := func(ids ...string) []node.RegisteredDevices {
		return []node.RegisteredDevices{{Resource: "example.com/fpga", IDs: ids}}
	}
	status := func(capacity, allocatable string) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}, Status: corev1.NodeStatus{
			Capacity: corev1.ResourceList{"example.com/fpga": resource.MustParse(capacity)}, Allocatable: corev1.ResourceList{"example.com/fpga": resource.MustParse(allocatable)}}}
	}
	healthy := node.Allocatable{Devices: []node.PluginDevice{{Resource: "example.com/fpga", ID: "f0"}}}
	for name, test := range map[string]struct {
		view   node.View
		status *corev1.Node
		want   []string
	}{
		"it is there":                    {node.View{Registered: kept("f0"), Allocatable: healthy}, status("2", "1"), nil},
		"not back after a restart":       {node.View{Registered: kept("f0")}, status("0", "0"), []string{"NotBack"}},
		"and another one has registered": {node.View{Registered: kept()}, status("0", "0"), []string{"NoDevice"}},
		"it has just stopped":            {node.View{Registered: kept("f0")}, status("2", "0"), []string{"Stopped"}},
		"for more than five minutes":     {node.View{}, status("0", "0"), []string{"Dropped"}},
		"the API server does not say":    {node.View{Registered: kept("f0")}, nil, []string{"NoneHealthy"}},
		"the status is behind":           {node.View{Registered: kept("f0")}, status("2", "2"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			objects := inspect.Objects{}
			if test.status != nil {
				objects.Nodes = []*corev1.Node{test.status}
			}
			s := inspect.New(objects, inspect.Config{})
			var want []string
			for _, e := range test.want {
				want = append(want, "DevicePlugin example.com/fpga ["+e+"]")
			}
			v := viewOf(test.view)
			if diff := cmp.Diff(want, missed(t, node.Join(v, s, "n1"))); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			for _, source := range []node.Source{node.Allocatables, node.DeviceCheckpoint} {
				unread := viewOf(test.view)
				unread.Health[source] = inspect.Health{State: inspect.Broken}
				if r := node.Join(unread, s, "n1"); len(r.Missing) > 0 {
					t.Errorf("missing although %s was not read: %+v", source, r.Missing)
				}
			}
		})
	}
}
