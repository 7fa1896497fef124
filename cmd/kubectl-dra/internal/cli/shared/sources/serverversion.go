package sources

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	liveconnection "github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

// ServerVersion asks the server for its version.
func (c *Connection) ServerVersion(ctx context.Context) (*apiversion.Info, error) {
	config, err := c.RESTConfig()
	if err != nil {
		return nil, err
	}
	bounded, err := liveconnection.Client(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	client, err := rest.UnversionedRESTClientForConfigAndClient(forVersion(config), bounded)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return askVersion(ctx, client, config.Host)
}

// forVersion is the configuration of a client that need not understand more than the errors of a server. The
// discovery client would bring in every type of the API, a quarter of the program.
func forVersion(config *rest.Config) *rest.Config {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	out := rest.CopyConfig(config)
	decoder := runtime.NoopEncoder{Decoder: serializer.NewCodecFactory(scheme).UniversalDecoder()} // whatever the answer calls itself
	out.NegotiatedSerializer = serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{Serializer: decoder})
	return out
}

func askVersion(ctx context.Context, client rest.Interface, host string) (*apiversion.Info, error) {
	result := client.Get().AbsPath("/version").MaxRetries(versionRetries).Do(liveconnection.With(ctx, liveconnection.Bounds{Bytes: versionBytes}))
	data, err := result.Raw()
	if err != nil {
		err = result.Error() // what the server says itself, where it says something
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		cause := err
		if request := (*url.Error)(nil); errors.As(err, &request) {
			cause = request.Err // without the address, which is said already
		}
		return nil, fmt.Errorf("reading the version of %s: %w; check the server and the kubeconfig context", host, cause)
	}
	info := &apiversion.Info{}
	if err := json.Unmarshal(data, info); err != nil {
		return nil, fmt.Errorf("reading the version of %s: it does not answer as a Kubernetes API server does: %w", host, err)
	}
	if info.GitVersion == "" {
		return nil, fmt.Errorf("reading the version of %s: it does not answer as a Kubernetes API server does", host)
	}
	return info, nil
}

const (
	versionBytes   = 64 << 10
	versionRetries = 3
)
