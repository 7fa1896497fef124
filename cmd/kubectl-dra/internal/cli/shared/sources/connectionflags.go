package sources

import (
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
)

// connectionFlags are kubectl's flags of the connection to a cluster. They have kubectl's names, shorthands,
// defaults and help texts.
//
// kubectl's own, genericclioptions.ConfigFlags, would bring in kustomize, which takes a quarter of the
// program.
type connectionFlags struct {
	kubeconfig string
	userExtra  []string // as key=value; a key may have several values
	overrides  clientcmd.ConfigOverrides

	// ClientConfig makes what reads the kubeconfig and puts the flags over it. It is made when it is first
	// asked for, which must be after the flags were parsed.
	ClientConfig func() clientcmd.ClientConfig
}

func newConnectionFlags() *connectionFlags {
	f := &connectionFlags{}
	f.ClientConfig = sync.OnceValue(f.load)
	return f
}

// AddFlags adds the flags of the connection.
func (f *connectionFlags) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.kubeconfig, clientcmd.RecommendedConfigPathFlag, "", "Path to the kubeconfig file to use for CLI requests.")
	clientcmd.BindOverrideFlags(&f.overrides, flags, overrideFlags())
	// clientcmd would take "ns/" off the front of a namespace; kubectl does not.
	namespace := clientcmd.RecommendedContextOverrideFlags("").Namespace
	namespace.BindStringFlag(flags, &f.overrides.Context.Namespace)
	flags.StringArrayVar(&f.userExtra, "as-user-extra", nil,
		"User extras to impersonate for the operation, this flag can be repeated to specify multiple values for the same key.")
}

// overrideFlags are the flags that clientcmd binds: those that kubectl has, with its shorthands and help
// texts.
func overrideFlags() clientcmd.ConfigOverrideFlags {
	flags := clientcmd.RecommendedConfigOverrideFlags("")
	auth, cluster := &flags.AuthOverrideFlags, &flags.ClusterOverrideFlags
	auth.Username, auth.Password = clientcmd.FlagInfo{}, clientcmd.FlagInfo{}
	flags.ContextOverrideFlags.Namespace = clientcmd.FlagInfo{}
	auth.Impersonate.Description = "Username to impersonate for the operation. User could be a regular user or a service account in a namespace."
	auth.ImpersonateUID.Description = "UID to impersonate for the operation."
	cluster.APIServer.ShortName = "s"
	cluster.TLSServerName.Description = "Server name to use for server certificate validation. If it is not provided, the hostname used to contact the server is used"
	cluster.ProxyURL.Description = "Proxy URL to use for requests to the API server"
	return flags
}

func (f *connectionFlags) load() clientcmd.ClientConfig {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.DefaultClientConfig = &clientcmd.DefaultClientConfig // what equals it is no configuration: then a pod's own is used
	rules.ExplicitPath = f.kubeconfig
	overrides := f.overrides
	overrides.ClusterDefaults = clientcmd.ClusterDefaults
	overrides.AuthInfo.ImpersonateUserExtra = userExtraOf(f.userExtra)
	config := boundedConfig(rules, &overrides)
	if config == nil {
		config = clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &overrides)
	}
	if raw, err := config.RawConfig(); err == nil { // another error is told by who asks for the configuration
		if err := f.checkCredentials(&raw); err != nil {
			return unreadable{err}
		}
	}
	return config
}

// userExtraOf takes key=value pairs apart. Like kubectl it passes over what has no "=".
func userExtraOf(pairs []string) map[string][]string {
	var extra map[string][]string
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			continue
		}
		if extra == nil {
			extra = map[string][]string{}
		}
		extra[key] = append(extra[key], value)
	}
	return extra
}

// NamespaceFlag is the value of -n; it is empty when the flag is not given.
func (f *connectionFlags) NamespaceFlag() string { return f.overrides.Context.Namespace }

// TimeoutFlag is the value of --request-timeout; it is "0" or empty when there is no limit.
func (f *connectionFlags) TimeoutFlag() string { return f.overrides.Timeout }

// contextFlag is the value of --context; it is empty when the flag is not given.
func (f *connectionFlags) contextFlag() string { return f.overrides.CurrentContext }

// serverFlag is the value of --server; it is empty when the flag is not given.
func (f *connectionFlags) serverFlag() string { return f.overrides.ClusterInfo.Server }

// ClusterFlags are the flags of kubectl that say which cluster it is and who asks. A token is not repeated.
var ClusterFlags = []string{
	"kubeconfig", "context", "cluster", "user", "server", "as", "as-uid", "as-group", "as-user-extra",
	"certificate-authority", "client-certificate", "client-key", "insecure-skip-tls-verify", "tls-server-name", "proxy-url",
}

// readingFlags are the flags that say what is read and how.
var readingFlags = append([]string{"from", "at", "demo", "features", "scheduler-config", "kueue-config", "max-input"}, ClusterFlags...)

// GivenFlags are those of some flags that were given, as they would be given again.
func GivenFlags(flags *pflag.FlagSet, names []string) []string {
	var out []string
	for _, name := range names {
		flag := flags.Lookup(name)
		if flag == nil || !flag.Changed {
			continue
		}
		values := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, value := range values {
			if flag.NoOptDefVal != "" { // a switch
				out = append(out, "--"+name+strings.TrimPrefix("="+value, "="+flag.NoOptDefVal))
				continue
			}
			out = append(out, "--"+name, value)
		}
	}
	return out
}
