package programs

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/live/wire"
)

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

// Kueue finds out how Kueue runs. It is nil where there is no Kueue, and where nothing tells how it runs.
func (s *Seen) Kueue(ctx context.Context, read ReadKey) *kueueconfig.Config {
	ways, _ := s.own(true)
	const hint = "; its defaults are assumed, and --kueue-config FILE gives the true one"
	switch {
	case len(ways) > 1:
		return kueueconfig.Unreadable("the managers of Kueue run with different flags" + hint)
	case len(ways) == 1:
	case !s.queued():
		return nil
	default: // its pods may not be read, or were not asked for
		text, err := read(ctx, usualKueue.namespace, usualKueue.configMap, usualKueue.key)
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
		text, of, why = configText(ctx, read, way)
	}
	if why == "" {
		config, err := kueueconfig.Read(text, way.gates)
		if err == nil {
			return config.From(of, way.version)
		}
		why = "is in " + of + ", and not understood (" + wire.Clean(err.Error()) + ")"
	}
	return kueueconfig.Unreadable(fmt.Sprintf("the configuration of Kueue (--config=%s) %s%s", wire.Clean(way.config), why, hint))
}
