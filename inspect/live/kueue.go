package live

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
)

// upgraded is the JSON of an object of Kueue that a server has at v1beta1, with the fields of v1beta2.
type upgraded struct{ raw []byte }

// UnmarshalJSON keeps the object with the fields of v1beta2.
func (u *upgraded) UnmarshalJSON(raw []byte) (err error) {
	u.raw, err = inspect.UpgradeKueue(raw)
	return err //nolint:wrapcheck // it says what is wrong
}

// addKueue adds the lists of Kueue at v1beta1, whose types need a client for their conversion.
func addKueue(s *runtime.Scheme) {
	for _, k := range inspect.Kinds() {
		if k.Resource.OfKueue() {
			s.AddKnownTypeWithName(schema.GroupVersionKind{Group: k.Group, Version: "v1beta1", Kind: k.Name + "List"}, &alphaList[upgraded]{})
			s.AddKnownTypeWithName(schema.GroupVersionKind{Group: k.Group, Version: "v1beta1", Kind: k.Name}, &metav1.PartialObjectMetadata{})
		}
	}
}

// convertUpgraded decodes the items of a list at v1beta1 into one at v1beta2.
func convertUpgraded(in *alphaList[upgraded], out runtime.Object) error {
	list := reflect.ValueOf(out).Elem()
	list.FieldByName("ListMeta").Set(reflect.ValueOf(in.ListMeta))
	items := list.FieldByName("Items")
	for i := range in.Items {
		item := reflect.New(items.Type().Elem())
		if err := json.Unmarshal(in.Items[i].raw, item.Interface()); err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
		items.Set(reflect.Append(items, item.Elem()))
	}
	return nil
}

// isKueue reports whether a container runs the manager of Kueue: a program of any name in a pod with its
// label, or one called manager in its image.
func isKueue(pod *corev1.Pod, c *corev1.Container, words []string) bool {
	image, _, _ := strings.Cut(path.Base(c.Image), ":")
	runs := slices.ContainsFunc(words, func(word string) bool { return path.Base(word) == "manager" || strings.HasPrefix(word, "--config") })
	return runs && (image == "kueue" || pod.Labels["app.kubernetes.io/name"] == "kueue" && pod.Labels["control-plane"] == "controller-manager")
}

// release is a release of Kueue in the tag of an image.
var release = regexp.MustCompile(`:v(\d{1,6}\.\d{1,6}\.\d{1,6})\b`)

// tagOf is the release of an image, or "".
func tagOf(image string) string {
	if found := release.FindStringSubmatch(image); found != nil {
		return found[1]
	}
	return ""
}

// usualKueue is how Kueue runs where it is installed as its documentation says.
var usualKueue = running{kueue: true, namespace: "kueue-system", configMap: "kueue-manager-config", key: "controller_manager_config.yaml"}

// noKueueConfig is a configuration that changes nothing.
const noKueueConfig = "apiVersion: " + kueueconfig.Group + "/v1beta2\nkind: Configuration\n"

// kueue finds out how Kueue runs. It is nil where there is no Kueue, and where nothing tells how it runs.
func (r *reader) kueue(ctx context.Context) *kueueconfig.Config {
	ways, _ := r.schedulers.own(true)
	const hint = "; its defaults are assumed, and --kueue-config FILE gives the true one"
	switch {
	case len(ways) > 1:
		return kueueconfig.Unreadable("the managers of Kueue run with different flags" + hint)
	case len(ways) == 1:
	case !r.schedulers.queued():
		return nil
	default: // its pods may not be read, or were not asked for
		text, err := r.configMapKey(ctx, usualKueue.namespace, usualKueue.configMap, usualKueue.key)
		if err != nil && !apierrors.IsForbidden(err) {
			return nil
		}
		config, err := kueueconfig.Read(text, "")
		if err != nil {
			return nil
		}
		return config.From(fmt.Sprintf("ConfigMap %s/%s", usualKueue.namespace, usualKueue.configMap), "")
	}
	way, text, of, why := ways[0], []byte(noKueueConfig), "the flags of its manager", ""
	if way.config != "" {
		text, of, why = r.configText(ctx, way)
	}
	if why == "" {
		config, err := kueueconfig.Read(text, way.gates)
		if err == nil {
			return config.From(of, way.version)
		}
		why = "is in " + of + ", and not understood (" + clean(err.Error()) + ")"
	}
	return kueueconfig.Unreadable(fmt.Sprintf("the configuration of Kueue (--config=%s) %s%s", clean(way.config), why, hint))
}

// queued reports whether there are queues of Kueue.
func (s *schedulers) queued() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queues
}
