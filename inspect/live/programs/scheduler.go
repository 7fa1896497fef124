package programs

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kueuev1beta2 "sigs.k8s.io/kueue/apis/kueue/v1beta2"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
	"github.com/kubectl-dra/kubectl-dra/inspect/schedulerconfig"
)

// program is what the scheduler of Kubernetes is called, as a program and as a component.
const program = "kube-scheduler"

// Seen are the pods that run kube-scheduler, of kube-system, and Kueue, of any namespace. They are
// noticed while pods are read, before their commands are dropped, so that a cluster where there are none is
// asked nothing more.
type Seen struct {
	mu   sync.Mutex
	pods map[types.NamespacedName]running
	// queues says that there are queues of Kueue, whether or not its pods are seen.
	queues bool
	// changes is how often they have changed. Then there is something in news.
	changes int
	news    chan struct{}
}

// running is how a pod runs kube-scheduler, or Kueue.
type running struct {
	// kueue says that it runs Kueue, namespace is where, and version its release, as "0.19.1", if that is
	// known.
	kueue              bool
	namespace, version string
	// own says that this is the scheduler of the cluster itself, and not another one beside it.
	own bool
	// config is its flag --config, gates its flag --feature-gates.
	config, gates string
	// configMap and key are where the file of config comes from. They are empty if it is nothing that can be
	// read, for which there is a reason.
	configMap, key, why string
}

// maxSchedulers is how many schedulers are told apart.
const maxSchedulers = 16

// New returns what was seen when nothing was read.
func New() *Seen {
	return &Seen{pods: map[types.NamespacedName]running{}, news: make(chan struct{}, 1)}
}

// See notices a pod or queue that was read.
func (s *Seen) See(o wire.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch o := o.(type) {
	case *kueuev1beta2.ClusterQueue, *kueuev1beta2.LocalQueue:
		if s.queues {
			return
		}
		s.queues = true
	case *corev1.Pod:
		name := types.NamespacedName{Namespace: o.Namespace, Name: o.Name}
		now, is := runningIn(o)
		is = is && o.DeletionTimestamp == nil && o.Status.Phase != corev1.PodSucceeded && o.Status.Phase != corev1.PodFailed
		before, was := s.pods[name]
		if is == was && before == now {
			return
		}
		if delete(s.pods, name); is {
			s.pods[name] = now
		}
	default:
		return
	}
	s.changes++
	s.ReadAgain()
}

// ReadAgain has what is known of how they run found out anew.
func (s *Seen) ReadAgain() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// runningIn says how a pod runs kube-scheduler or Kueue, if it does.
func runningIn(pod *corev1.Pod) (running, bool) {
	labelled := pod.Labels["component"] == program || pod.Labels["k8s-app"] == program
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		words := strings.Fields(strings.Join(slices.Concat(c.Command, c.Args), " ")) // a shell may run it
		out := running{namespace: pod.Namespace}
		switch {
		case isKueue(pod, c, words):
			out.kueue, out.own, out.version = true, true, tagOf(c.Image)
		case pod.Namespace == metav1.NamespaceSystem && (labelled && len(words) > 0 || slices.ContainsFunc(words, func(word string) bool { return path.Base(word) == program })):
			out.own = labelled || strings.HasPrefix(pod.Name, program)
		default:
			continue
		}
		for j, word := range words {
			name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if !given && j+1 < len(words) {
				value = words[j+1]
			}
			switch value = strings.Trim(value, `"'`); {
			case !strings.HasPrefix(word, "-"):
			case name == "config":
				out.config = value
			case name == "feature-gates":
				out.gates = value
			}
		}
		if out.config != "" {
			out.configMap, out.key, out.why = fileOf(pod, c, out.config)
		}
		return out, true
	}
	return running{}, false
}

// fileOf says which key of which ConfigMap a file in a container is, or else why it cannot be read.
func fileOf(pod *corev1.Pod, c *corev1.Container, file string) (configMap, key, why string) {
	var mount *corev1.VolumeMount
	for i := range c.VolumeMounts {
		m := &c.VolumeMounts[i]
		if inside := m.MountPath == file || strings.HasPrefix(file, strings.TrimSuffix(m.MountPath, "/")+"/"); inside && (mount == nil || len(m.MountPath) > len(mount.MountPath)) {
			mount = m
		}
	}
	if mount == nil || mount.SubPathExpr != "" {
		return "", "", "is a file of its container"
	}
	within := strings.TrimPrefix(path.Join(mount.SubPath, strings.TrimPrefix(file, mount.MountPath)), "/")
	at := slices.IndexFunc(pod.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
	if at < 0 {
		return "", "", "is in a volume that its pod does not have"
	}
	volume := &pod.Spec.Volumes[at]
	if volume.HostPath != nil {
		return "", "", "is a file of its node"
	}
	var sources []corev1.ConfigMapProjection
	if v := volume.ConfigMap; v != nil {
		sources = append(sources, corev1.ConfigMapProjection{LocalObjectReference: v.LocalObjectReference, Items: v.Items})
	}
	if volume.Projected != nil {
		for i := range volume.Projected.Sources {
			if v := volume.Projected.Sources[i].ConfigMap; v != nil {
				sources = append(sources, *v)
			}
		}
	}
	for _, source := range sources {
		if len(source.Items) == 0 && len(sources) == 1 {
			return source.Name, within, ""
		}
		for _, item := range source.Items {
			if path.Clean(item.Path) == within {
				return source.Name, item.Key, ""
			}
		}
	}
	return "", "", "is in a volume that is not read"
}

// News is where something comes when they have changed.
func (s *Seen) News() <-chan struct{} { return s.news }

// Count is how often the pods have changed.
func (s *Seen) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changes
}

// own are the different ways in which the scheduler of the cluster itself runs, or Kueue, in no particular
// order; if no pod is known to be that, those of all that could be.
func (s *Seen) own(kueue bool) (out []running, sure bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range slices.SortedFunc(maps.Keys(s.pods), func(a, b types.NamespacedName) int { return strings.Compare(a.String(), b.String()) }) {
		one := s.pods[name]
		if one.kueue != kueue {
			continue
		}
		sure = sure || one.own
		if len(out) < maxSchedulers && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return slices.DeleteFunc(out, func(r running) bool { return r.own != sure }), sure
}

// ReadKey reads a key of a ConfigMap. The error says in a few words why it could not; that it is forbidden
// shows in its type.
type ReadKey func(ctx context.Context, namespace, name, key string) ([]byte, error)

// Found is what is known of how the scheduler of the cluster, and Kueue, run besides their defaults.
type Found struct {
	// Changes is how often their pods had changed by then.
	Changes int
	Kueue   *kueueconfig.Config
	Config  *schedulerconfig.Config
	Gates   map[inspect.Gate]bool
}

// Features are the gates of the scheduler in a cluster of which some gates are known.
func (f *Found) Features(of inspect.Features) inspect.Features {
	changed := of.With(f.Gates)
	if slices.Equal(changed.List(), of.List()) {
		return of
	}
	changed.Source += ", changed by --feature-gates of kube-scheduler"
	return changed
}

// Scheduler finds out how the scheduler of the cluster runs.
func (s *Seen) Scheduler(ctx context.Context, read ReadKey, features inspect.Features) Found {
	ways, sure := s.own(false)
	if len(ways) == 0 {
		return Found{}
	}
	if sure && len(ways) > 1 {
		return Found{Config: schedulerconfig.Unreadable("the kube-schedulers of the cluster run with different flags")}
	}
	for _, way := range ways {
		out := Found{Gates: map[inspect.Gate]bool{}}
		for gate := range strings.SplitSeq(way.gates, ",") { // those that are not known decide about nothing here
			if one, err := inspect.ParseFeatures(gate); err == nil {
				maps.Copy(out.Gates, one)
			}
		}
		if out.Config = configOf(ctx, read, way, out.Features(features)); sure {
			return out
		}
		// It is one of several schedulers: that of the cluster if it has the profile of all pods that name
		// none.
		if _, ok := out.Config.Profile(""); ok && out.Config != nil && out.Config.Unreadable() == "" {
			return out
		}
	}
	return Found{}
}

// configOf is the configuration of a scheduler, or nil if it is the default one.
func configOf(ctx context.Context, read ReadKey, way running, features inspect.Features) *schedulerconfig.Config {
	if way.config == "" {
		return nil
	}
	unread := func(why string) *schedulerconfig.Config {
		return schedulerconfig.Unreadable(fmt.Sprintf("the configuration of kube-scheduler (--config=%s) %s; what is said holds for the default one, and --scheduler-config FILE gives the true one", wire.Clean(way.config), why))
	}
	text, of, why := configText(ctx, read, way)
	if why != "" {
		return unread(why)
	}
	config, err := schedulerconfig.Read(text, func(gate string) bool { return features.Enabled(inspect.Gate(gate)) })
	if err != nil {
		return unread("is in " + of + ", and not understood (" + wire.Clean(err.Error()) + ")")
	}
	if config.Usual() {
		return nil
	}
	return config.From(of)
}

// configText reads the file of --config and says where it is, or why it could not be read.
func configText(ctx context.Context, read ReadKey, way running) (text []byte, of, why string) {
	if way.configMap == "" {
		return nil, "", way.why + ", which the API server cannot show"
	}
	of = fmt.Sprintf("ConfigMap %s/%s", wire.Clean(way.namespace), wire.Clean(way.configMap))
	text, err := read(ctx, way.namespace, way.configMap, way.key)
	switch {
	case apierrors.IsForbidden(err):
		return nil, of, "is in " + of + ", which may not be read"
	case err != nil:
		return nil, of, "is in " + of + ", which could not be read (" + err.Error() + ")"
	}
	return text, of, ""
}

// queued reports whether there are queues of Kueue.
func (s *Seen) queued() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queues
}
