package scores

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/scheduler/filters"
)

// Images says which images are on which nodes.
type Images struct {
	nodes int
	known map[string]*image // by name
}

type image struct {
	size int64
	// unsure says that nodes have it with different sizes: which of them counts is by chance.
	unsure bool
	nodes  map[inspect.NodeName]struct{}
}

// ImagesOf reads the images of all nodes of a cluster.
func ImagesOf(nodes []*corev1.Node) *Images {
	out := &Images{nodes: len(nodes), known: map[string]*image{}}
	for _, node := range nodes {
		for i := range node.Status.Images {
			for _, name := range node.Status.Images[i].Names {
				out.add(name, node.Status.Images[i].SizeBytes, inspect.NodeName(node.Name))
			}
		}
	}
	return out
}

func (x *Images) add(name string, size int64, node inspect.NodeName) {
	known := x.known[name]
	if known == nil {
		known = &image{size: size, nodes: map[inspect.NodeName]struct{}{}}
		x.known[name] = known
	}
	known.unsure = known.unsure || known.size != size
	known.nodes[node] = struct{}{}
}

// prepareImageLocality is the plugin ImageLocality: the more of the pod's images a node has, by their size
// and by how many nodes have them, the better.
func prepareImageLocality(s *Scorer) (part, []filters.Doubt) {
	images, ok := s.images()
	pod := s.pod
	if s.options.Whole != nil {
		pod = s.options.Whole
	}
	names, said := s.imageNames(pod)
	if !ok || !said {
		return nil, []filters.Doubt{{Plugin: ImageLocality, Resource: inspect.Nodes, Key: "images", Message: "which images are on nodes is not known, and nodes are better that have those of the pod"}}
	}
	p := imageLocality{count: int64(s.imageCount(pod))}
	for _, name := range names {
		known := images.known[name]
		switch {
		case known == nil:
		case known.unsure:
			return nil, []filters.Doubt{{Plugin: ImageLocality, Resource: inspect.Nodes, Key: "image size", Message: "nodes do not agree on the size of image " + name}}
		default:
			p.images = append(p.images, known)
			p.scaled = append(p.scaled, int64(float64(known.size)*(float64(len(known.nodes))/float64(images.nodes))))
		}
	}
	if len(p.images) == 0 {
		return nil, nil
	}
	return p, nil
}

// images are those of the options, or those of the snapshot if it has any.
func (s *Scorer) images() (*Images, bool) {
	if s.options.Images != nil {
		return s.options.Images, true
	}
	for _, n := range s.nodes {
		if len(n.Object().Status.Images) > 0 {
			return ImagesOf(s.snapshot().Nodes()), true
		}
	}
	return nil, false
}

// imageNames are the images of a pod that count, as often as they do. It is false if the pod does not say all
// of them.
func (s *Scorer) imageNames(pod *corev1.Pod) ([]string, bool) {
	var out []string
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			if containers[i].Image == "" {
				return nil, false
			}
			out = append(out, withTag(containers[i].Image))
		}
	}
	if s.snapshot().Release().Modelled().Before(36, 0) {
		return out, true
	}
	for i := range pod.Spec.Volumes {
		if v := pod.Spec.Volumes[i].Image; v != nil {
			out = append(out, withTag(v.Reference))
		}
	}
	return out, true
}

// imageCount is by how many images the size that gives all points is multiplied.
func (s *Scorer) imageCount(pod *corev1.Pod) int {
	out := len(pod.Spec.InitContainers) + len(pod.Spec.Containers)
	if s.snapshot().Release().Modelled().Before(37, 0) {
		return out // images of volumes count in 1.36, but do not add to this
	}
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Image != nil {
			out++
		}
	}
	return out
}

// withTag is the name of an image as nodes have it.
func withTag(name string) string {
	if strings.LastIndex(name, ":") <= strings.LastIndex(name, "/") {
		return name + ":latest"
	}
	return name
}

// Sizes up to which images give no points, and, of each image of a pod, from which on they give all.
const (
	smallImages = 23 << 20
	largeImage  = 1000 << 20
)

type imageLocality struct {
	images []*image
	scaled []int64 // of each of images: its size times the part of all nodes that have it
	count  int64
}

func (p imageLocality) raw(nodes *field, out []int64) {
	for i := range nodes.candidates {
		var sum int64
		for k, image := range p.images {
			if _, ok := image.nodes[nodes.candidates[i].Node]; ok {
				sum += p.scaled[k]
			}
		}
		large := largeImage * p.count
		out[i] = most * (min(max(sum, smallImages), large) - smallImages) / (large - smallImages)
	}
}

func (p imageLocality) normalize([]int64) {}
