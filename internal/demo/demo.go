package demo

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/kueueconfig"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
)

//go:embed cluster/*.yaml
var cluster embed.FS

// KueueConfig is the configuration of Kueue in the demo cluster, as its manager is given it.
//
//go:embed kueue.yaml
var KueueConfig []byte

// queues is the same, read. That it can be is tested.
var queues = sync.OnceValue(func() *kueueconfig.Config {
	config, err := kueueconfig.Read(KueueConfig, "")
	if err != nil {
		return kueueconfig.Unreadable(err.Error())
	}
	return config.From("the demo cluster", "0.19.1")
})

// Now is the moment at which the demo cluster was read, 2026-11-20 09:00 UTC. Ages are measured from it, so
// that they are the same on every day. No timestamp in the cluster is later.
func Now() time.Time { return time.Date(2026, time.November, 20, 9, 0, 0, 0, time.UTC) }

// Config is what else there is to say of the demo cluster at its time, with these feature gates.
func Config(features inspect.Features) inspect.Config {
	return inspect.Config{Revision: 1, Time: Now(), Features: features, Health: Health(), Kueue: queues()}
}

// once is read, once in a process: reading takes ten times as long as copying what was read.
var once = sync.OnceValues(read)

// Objects returns the objects of the demo cluster. They are the caller's own: each call copies them. An error
// means that the embedded files are broken, which a test rules out.
func Objects() (inspect.Objects, error) {
	result, err := once()
	if err != nil {
		return inspect.Objects{}, err
	}
	var out inspect.Objects
	for _, kind := range inspect.Kinds() {
		for _, object := range kind.Objects(&result.Objects) {
			out.Add(object.(runtime.Object).DeepCopyObject().(metav1.Object)) //nolint:forcetypeassert // objects of the API are both
		}
	}
	return out, nil
}

// Health says that every resource was read completely: what the demo cluster does not hold does not exist.
// Without this, a resource without objects would count as one that nobody tried to read.
func Health() map[inspect.Resource]inspect.Health {
	health := map[inspect.Resource]inspect.Health{}
	for _, resource := range inspect.Resources() {
		health[resource] = inspect.Health{State: inspect.Synced}
	}
	return health
}

// read reads the embedded files as one, in the order of their names.
func read() (*manifest.Result, error) {
	names, err := fs.Glob(cluster, "cluster/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("reading the demo cluster: %w", err)
	}
	documents := make([][]byte, 0, len(names))
	for _, name := range names {
		document, err := cluster.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the demo cluster: %w", err)
		}
		documents = append(documents, document)
	}
	result, err := manifest.ReadBytes("demo cluster", bytes.Join(documents, []byte("---\n")), manifest.Options{})
	if err != nil {
		return nil, fmt.Errorf("reading the demo cluster: %w", err)
	}
	return result, nil
}
