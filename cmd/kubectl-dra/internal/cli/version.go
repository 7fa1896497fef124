package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	goruntime "runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	apiversion "k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output"
	"github.com/kubectl-dra/kubectl-dra/explain/text"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	liveconnection "github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

// version is set when a release is built.
var version string

// versionOptions are what version is asked.
type versionOptions struct {
	shared
	client bool
}

func newVersion(streams *streams, reader *reader) *cobra.Command {
	o := &versionOptions{shared: shared{streams: streams, reader: reader}}
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin and of the server",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&o.client, "client", false, "do not ask the server")
	addOutputFlags(cmd, &o.format, output.ObjectFormats)
	return cmd
}

// run prints the plugin's version even when the server's cannot be read; that is then the error.
func (o *versionOptions) run(ctx context.Context) error {
	v := pluginVersion()
	var failed error
	if !o.client && !o.reader.offline() {
		v.ServerVersion, failed = serverVersion(ctx, o.reader.connection)
	}
	err := o.answer(v, func(w io.Writer, _ text.Options) error { return output.PrintVersion(w, v) }, exitAnswered)
	return errors.Join(err, failed)
}

// pluginVersion is what is known without a server.
func pluginVersion() *output.Version {
	return &output.Version{ClientVersion: clientVersion(), ModelledKubernetes: fmt.Sprintf("1.%d", inspect.NewestMinor)}
}

func serverVersion(ctx context.Context, to *connection) (*apiversion.Info, error) {
	config, err := to.restConfig()
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
	c := rest.CopyConfig(config)
	decoder := runtime.NoopEncoder{Decoder: serializer.NewCodecFactory(scheme).UniversalDecoder()} // whatever the answer calls itself
	c.NegotiatedSerializer = serializer.NegotiatedSerializerWrapper(runtime.SerializerInfo{Serializer: decoder})
	return c
}

const (
	versionBytes   = 64 << 10
	versionRetries = 3
)

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

// clientVersion is what is known of this build.
func clientVersion() output.BuildInfo {
	info := output.BuildInfo{
		GitVersion: version, GoVersion: goruntime.Version(), Compiler: goruntime.Compiler, Platform: goruntime.GOOS + "/" + goruntime.GOARCH,
	}
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if info.GitVersion == "" {
		info.GitVersion = build.Main.Version
	}
	for _, setting := range build.Settings {
		switch setting.Key {
		case "vcs.revision":
			info.GitCommit = setting.Value
		case "vcs.time":
			info.CommitDate = setting.Value
		}
	}
	return info
}
