package sources

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-dra/kubectl-dra/internal/inputfile"
)

// maxKubeconfig is far more than the contexts of any company take.
const maxKubeconfig = 64 << 20

// boundedConfig is what client-go must not read itself, because it would read without end or wait without
// end: a kubeconfig that is no regular file, or an enormous one. It is nil if there is nothing of that sort.
func boundedConfig(rules *clientcmd.ClientConfigLoadingRules, overrides *clientcmd.ConfigOverrides) clientcmd.ClientConfig {
	paths := rules.Precedence
	if rules.ExplicitPath != "" {
		paths = []string{rules.ExplicitPath}
	}
	for _, path := range paths {
		data, err := readSpecial(path)
		switch {
		case err != nil:
			return unreadable{err}
		case len(data) == 0: // a file as usual, or /dev/null, with which nobody's kubeconfig is used
			continue
		case len(paths) > 1:
			return unreadable{fmt.Errorf("%s is not a regular file, and cannot be merged with others", path)}
		}
		config, err := clientcmd.Load(data) // a pipe gives what it holds once only
		if err != nil {
			return unreadable{fmt.Errorf("%s: %w", path, err)}
		}
		return clientcmd.NewNonInteractiveClientConfig(*config, overrides.CurrentContext, overrides, rules)
	}
	return nil
}

// readSpecial is what a file holds that is a pipe or a device. It is empty for all others, which are read
// elsewhere, and for one that does not exist. An enormous file is an error.
func readSpecial(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil: //nolint:nilerr // who reads it says what there is to say
		return nil, nil
	case info.Mode().IsRegular() && info.Size() > maxKubeconfig:
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxKubeconfig>>20)
	case info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) == 0:
		return nil, nil
	}
	data, err := inputfile.ReadAll(path, maxKubeconfig)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}

// checkCredentials refuses certificates, keys and tokens in pipes and devices, which client-go would open
// more than once and read without end. They are those of the context in use, and of flags.
func (f *connectionFlags) checkCredentials(raw *api.Config) error {
	cluster, user := f.overrides.ClusterInfo, f.overrides.AuthInfo
	files := []string{cluster.CertificateAuthority, user.ClientCertificate, user.ClientKey, user.TokenFile}
	if current := raw.Contexts[cmp.Or(f.contextFlag(), raw.CurrentContext)]; current != nil {
		if of := raw.Clusters[cmp.Or(f.overrides.Context.Cluster, current.Cluster)]; of != nil {
			files = append(files, of.CertificateAuthority)
		}
		if of := raw.AuthInfos[cmp.Or(f.overrides.Context.AuthInfo, current.AuthInfo)]; of != nil {
			files = append(files, of.ClientCertificate, of.ClientKey, of.TokenFile)
		}
	}
	for _, path := range files {
		if info, err := os.Stat(path); err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeDevice) != 0 {
			return fmt.Errorf("%s is not a regular file", path)
		}
	}
	return nil
}

// unreadable is a configuration that could not be read.
type unreadable struct{ err error }

func (u unreadable) RawConfig() (api.Config, error)       { return api.Config{}, u.err }
func (u unreadable) ClientConfig() (*rest.Config, error)  { return nil, u.err }
func (u unreadable) Namespace() (string, bool, error)     { return "", false, u.err }
func (u unreadable) ConfigAccess() clientcmd.ConfigAccess { return nil }
