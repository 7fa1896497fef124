package sources

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"sync"

	"github.com/spf13/pflag"
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

// ClusterAndUser name the cluster, by the kubeconfig context in use unless a flag names another one, and the
// user of the context.
func (c *Connection) ClusterAndUser() (cluster, user string) {
	raw, err := c.ClientConfig().RawConfig()
	if err != nil {
		return "", "" // they only adorn the header; reading has told of it
	}
	name := c.ContextInUse()
	current := raw.Contexts[name]
	if current == nil {
		return "", ""
	}
	if c.serverFlag() != "" || c.overrides.Context.Cluster != "" {
		name = current.Cluster
	}
	return name, current.AuthInfo
}

// Contexts are the names of all contexts of the kubeconfig.
func (c *Connection) Contexts() []string {
	raw, err := c.ClientConfig().RawConfig()
	if err != nil {
		return nil // reading tells of it
	}
	return slices.Sorted(maps.Keys(raw.Contexts))
}

// CheckContext says why another context of the kubeconfig cannot be used, as far as the kubeconfig tells.
func (c *Connection) CheckContext(name string) error {
	other := NewConnection(c.streams)
	other.kubeconfig, other.overrides.CurrentContext = c.kubeconfig, name
	_, err := other.RESTConfig()
	return err
}

// SwitchTo connects to another context of the kubeconfig from now on. What the flags said of the cluster, and
// of what to take for granted of it, is forgotten.
func (c *Connection) SwitchTo(name string, flags *pflag.FlagSet) error {
	for _, flag := range slices.Concat(readingFlags, []string{"namespace", "token"}) {
		f := flags.Lookup(flag)
		if flag == "kubeconfig" || f == nil || !f.Changed {
			continue
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			if err := list.Replace(nil); err != nil {
				return err
			}
		} else if err := f.Value.Set(f.DefValue); err != nil {
			return err
		}
		f.Changed = false
	}
	if err := flags.Set("context", name); err != nil {
		return err
	}
	c.ClientConfig, c.KeyboardTaken = sync.OnceValue(c.load), false
	return nil
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
