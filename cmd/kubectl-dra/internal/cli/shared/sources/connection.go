package sources

import (
	"errors"
	"fmt"
	"net/url"
	"os"

	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// Connection is how the cluster is reached: what the kubeconfig and the flags say, and what a credential
// plugin may do at the terminal.
type Connection struct {
	*connectionFlags
	streams *console.Streams
	Plugin  *pluginOutput
	// KeyboardTaken says that the terminal UI reads the keyboard, so that a credential plugin cannot.
	KeyboardTaken bool
}

// NewConnection returns a connection of which no flag was given yet.
func NewConnection(streams *console.Streams) *Connection {
	return &Connection{connectionFlags: newConnectionFlags(), streams: streams, Plugin: &pluginOutput{}}
}

// errNoCluster says that nothing tells which cluster to ask. client-go would try localhost.
var errNoCluster = errors.New("no cluster is configured: set KUBECONFIG or --kubeconfig, or ask without a cluster with --from FILE or --demo")

// RESTConfig returns how to reach the cluster.
func (c *Connection) RESTConfig() (*rest.Config, error) {
	loader := c.ClientConfig()
	raw, err := loader.RawConfig()
	if err == nil && len(raw.Clusters) == 0 && c.serverFlag() == "" && !inCluster() {
		return nil, errNoCluster
	}
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, kubeconfigError(err)
	}
	hideUserinfo(config)
	if config.ExecProvider != nil {
		c.Plugin.replaceStderr(c.streams.ErrOut)
	}
	if c.KeyboardTaken {
		withoutKeyboard(config)
	}
	return config, nil
}

// namespaceInUse is the namespace of -n, or else that of the kubeconfig context.
func (c *Connection) namespaceInUse() (string, error) {
	namespace, _, err := c.ClientConfig().Namespace()
	if err != nil {
		return "", kubeconfigError(err)
	}
	return namespace, nil
}

// ContextInUse is the name of the kubeconfig context in use. It is empty when there is none, or when the
// kubeconfig cannot be read.
func (c *Connection) ContextInUse() string {
	if name := c.contextFlag(); name != "" {
		return name
	}
	raw, err := c.ClientConfig().RawConfig()
	if err != nil {
		return ""
	}
	return raw.CurrentContext
}

// ClusterAndUser are the names of the cluster and the user of the kubeconfig context in use.
func (c *Connection) ClusterAndUser() (cluster, user string) {
	raw, err := c.ClientConfig().RawConfig()
	if err != nil {
		return "", "" // they only adorn the header; reading has told of it
	}
	if current := raw.Contexts[c.ContextInUse()]; current != nil {
		cluster, user = current.Cluster, current.AuthInfo
	}
	return cluster, user
}

func kubeconfigError(err error) error {
	return fmt.Errorf("reading the kubeconfig: %w; check KUBECONFIG, --kubeconfig and --context", err)
}

// inCluster reports whether the program runs in a pod, where client-go finds the server by itself, or
// is told of one by the variable that kubectl knows.
func inCluster() bool {
	return os.Getenv("KUBERNETES_SERVICE_HOST") != "" || os.Getenv("KUBERNETES_MASTER") != ""
}

// hideUserinfo moves a user and a password from the address of the server to where they are not printed:
// package http would send them all the same, but logs and errors show the address.
func hideUserinfo(config *rest.Config) {
	address, err := url.Parse(config.Host)
	if err != nil || address.User == nil {
		return
	}
	if config.Username == "" && config.BearerToken == "" && config.BearerTokenFile == "" && config.ExecProvider == nil && config.AuthProvider == nil {
		config.Username = address.User.Username()
		config.Password, _ = address.User.Password()
	}
	address.User = nil
	config.Host = address.String()
}
