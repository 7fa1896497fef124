//go:build kube134 || kube135 || kube136 || kube138

// This file and the others named kube are built with the libraries of another release of Kubernetes into a
// program that is its scheduler: see filters-% in the Makefile.

package filters

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/component-base/featuregate"
)

// TestServe answers problems until there are no more.
func TestServe(t *testing.T) {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	for {
		var p kubeProblem
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		reply := p.answer(t)
		if t.Failed() {
			reply.Failure = "the test failed; its output says why"
		}
		if err := out.Encode(reply); err != nil {
			t.Fatal(err)
		}
	}
}

func (p *kubeProblem) answer(t *testing.T) kubeReply {
	if err := p.setGates(); err != nil {
		return kubeReply{Failure: err.Error()}
	}
	var objects []runtime.Object
	out := kubeReply{Asked: p.Asked}
	for _, raw := range p.Objects {
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
		if err != nil {
			return kubeReply{Failure: fmt.Sprintf("reading %s: %v", raw, err)}
		}
		kept, err := json.Marshal(object)
		if err != nil {
			return kubeReply{Failure: fmt.Sprintf("writing %s: %v", raw, err)}
		}
		objects, out.Objects = append(objects, object), append(out.Objects, kept)
	}
	inKubeScheduler(t, objects, func(_ *testing.T, s *kubeScheduler) {
		for _, pod := range p.Asked {
			one, err := s.askAll(pod, p)
			if err != nil {
				out.Failure = fmt.Sprintf("pod %s: %v", pod.Name, err)
				return
			}
			out.Pods = append(out.Pods, one)
		}
	})
	return out
}

func (s *kubeScheduler) askAll(pod *corev1.Pod, p *kubeProblem) (kubePod, error) {
	var out kubePod
	var errs [4]error
	out.Answer, errs[0] = s.Ask(pod)
	if p.Score && pod.Spec.NodeName == "" {
		out.Scores, errs[1] = s.Score(pod)
	}
	if p.Preempt && pod.Spec.NodeName == "" {
		out.Preemption[0], errs[2] = s.Preempt(pod, nil)
		out.Preemption[1], errs[3] = s.Preempt(pod, p.Budgets)
	}
	return out, errors.Join(errs[:]...)
}

// setGates sets the gates of the problem, and those that depend on them.
func (p *kubeProblem) setGates() error {
	gate, changed := utilfeature.DefaultMutableFeatureGate, map[string]bool{}
	set := func(name featuregate.Feature, on bool) {
		if gate.Enabled(name) != on {
			changed[string(name)] = on
		}
	}
	known := gate.GetAll()
	for name, on := range p.Gates {
		if _, ok := known[featuregate.Feature(name)]; ok {
			set(featuregate.Feature(name), on)
		}
	}
	p.setOthers(set)
	return gate.SetFromMap(changed)
}
