package sources

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli/shared/console"
)

// twoClusters is a kubeconfig whose current context is "first". Its files are beside it.
const twoClusters = `{"apiVersion": "v1", "kind": "Config", "current-context": "first",
"clusters": [
  {"name": "one", "cluster": {"server": "https://one.example.com", "certificate-authority": "one.crt", "tls-server-name": "one.internal"}},
  {"name": "two", "cluster": {"server": "https://two.example.com", "proxy-url": "http://proxy.example.com"}}],
"users": [
  {"name": "ann", "user": {"token": "of-ann"}},
  {"name": "bob", "user": {"client-certificate": "bob.crt", "client-key": "bob.key"}}],
"contexts": [
  {"name": "first", "context": {"cluster": "one", "user": "ann", "namespace": "ml"}},
  {"name": "second", "context": {"cluster": "two", "user": "bob"}}]}`

// parsed are the flags of a command line.
func parsed(t *testing.T, args ...string) *connectionFlags {
	t.Helper()
	f := newConnectionFlags()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return f
}

// outsideClusters makes KUBECONFIG name the file and hides that the test may run in a pod.
func outsideClusters(t *testing.T, kubeconfig string) {
	t.Helper()
	t.Setenv("KUBECONFIG", kubeconfig)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	t.Setenv("KUBERNETES_MASTER", "")
}

func written(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// reached is what of a rest.Config the flags decide.
type reached struct {
	Host, Token, Proxy string
	Timeout            time.Duration
	NoCompression      bool
	TLS                rest.TLSClientConfig
	Impersonate        rest.ImpersonationConfig
}

func reachedBy(t *testing.T, config *rest.Config) reached {
	t.Helper()
	out := reached{
		Host: config.Host, Token: config.BearerToken, Timeout: config.Timeout, NoCompression: config.DisableCompression,
		TLS: config.TLSClientConfig, Impersonate: config.Impersonate,
	}
	if config.Proxy != nil {
		to := url.URL{Scheme: "https", Host: "x"}
		address, err := config.Proxy(&http.Request{URL: &to})
		if err != nil {
			t.Fatal(err)
		}
		out.Proxy = address.String()
	}
	return out
}

// inDirectoryOf writes a kubeconfig, with the files that connections need beside it, and goes to that
// directory.
func inDirectoryOf(t *testing.T, kubeconfig string) (dir string) {
	t.Helper()
	path := written(t, kubeconfig)
	outsideClusters(t, path)
	t.Chdir(filepath.Dir(path))
	for _, name := range []string{"one.crt", "bob.crt", "bob.key", "flag.crt", "flag.key"} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Dir(path)
}

// TestConnectionFlags: every flag reaches what requests are made with, and wins over the kubeconfig. Paths in
// the kubeconfig are relative to it, paths in flags to the working directory.
func TestConnectionFlags(t *testing.T) {
	dir := inDirectoryOf(t, twoClusters)
	beside := func(name string) string { return filepath.Join(dir, name) }
	// as is what the context in use says, changed by what the flags say.
	as := func(change func(*reached)) reached {
		r := reached{Host: "https://one.example.com", Token: "of-ann", TLS: rest.TLSClientConfig{CAFile: beside("one.crt"), ServerName: "one.internal"}}
		change(&r)
		return r
	}
	second := func(r *reached) {
		*r = reached{
			Host: "https://two.example.com", Proxy: "http://proxy.example.com",
			TLS: rest.TLSClientConfig{CertFile: beside("bob.crt"), KeyFile: beside("bob.key")},
		}
	}
	tests := map[string]func(*reached){
		"":                                 func(*reached) {},
		"--context second":                 second,
		"--cluster two --user bob":         second,
		"--cluster two":                    func(r *reached) { second(r); r.Token, r.TLS = "of-ann", rest.TLSClientConfig{} },
		"--user bob":                       func(r *reached) { r.Token, r.TLS.CertFile, r.TLS.KeyFile = "", beside("bob.crt"), beside("bob.key") },
		"--server https://a.example.com":   func(r *reached) { r.Host, r.TLS.ServerName = "https://a.example.com", "" },
		"-s https://a.example.com":         func(r *reached) { r.Host, r.TLS.ServerName = "https://a.example.com", "" },
		"--token other":                    func(r *reached) { r.Token = "other" },
		"--certificate-authority flag.crt": func(r *reached) { r.TLS.CAFile = "flag.crt" },
		"--user bob --client-certificate flag.crt": func(r *reached) { r.Token, r.TLS.CertFile, r.TLS.KeyFile = "", "flag.crt", beside("bob.key") },
		"--user bob --client-key flag.key":         func(r *reached) { r.Token, r.TLS.CertFile, r.TLS.KeyFile = "", beside("bob.crt"), "flag.key" },
		"--tls-server-name a":                      func(r *reached) { r.TLS.ServerName = "a" },
		"--insecure-skip-tls-verify":               func(r *reached) { r.TLS.Insecure, r.TLS.CAFile = true, "" },
		"--insecure-skip-tls-verify=false":         func(*reached) {},
		"--disable-compression":                    func(r *reached) { r.NoCompression = true },
		"--proxy-url http://p.example.com":         func(r *reached) { r.Proxy = "http://p.example.com" },
		"--request-timeout 5":                      func(r *reached) { r.Timeout = 5 * time.Second },
		"--request-timeout 5s":                     func(r *reached) { r.Timeout = 5 * time.Second },
		"--request-timeout 0":                      func(*reached) {},
		"--as eve":                                 func(r *reached) { r.Impersonate.UserName = "eve" },
		"--as eve --as-uid 7":                      func(r *reached) { r.Impersonate.UserName, r.Impersonate.UID = "eve", "7" },
		"--as eve --as-group a --as-group b,c": func(r *reached) {
			r.Impersonate.UserName, r.Impersonate.Groups = "eve", []string{"a", "b,c"}
		},
		"--as eve --as-user-extra a=1 --as-user-extra a=2 --as-user-extra b=x=y --as-user-extra none": func(r *reached) {
			r.Impersonate.UserName, r.Impersonate.Extra = "eve", map[string][]string{"a": {"1", "2"}, "b": {"x=y"}}
		},
		"--client-certificate flag.crt --client-key flag.key": func(r *reached) { r.TLS.CertFile, r.TLS.KeyFile = "flag.crt", "flag.key" },
	}
	for args, change := range tests {
		t.Run(args, func(t *testing.T) {
			config, err := parsed(t, strings.Fields(args)...).ClientConfig().ClientConfig()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(as(change), reachedBy(t, config), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestKubeconfigPrecedence: --kubeconfig wins over KUBECONFIG, whose first file wins over the others, and a
// pod's own account is used only if neither says anything.
func TestKubeconfigPrecedence(t *testing.T) {
	file := func(server string) string {
		return written(t, `{"apiVersion":"v1","kind":"Config","current-context":"x","clusters":[{"name":"c","cluster":{"server":"`+server+`"}}],"contexts":[{"name":"x","context":{"cluster":"c"}}]}`)
	}
	first, second, flag := file("https://first"), file("https://second"), file("https://flag")
	none := filepath.Join(t.TempDir(), "none")
	list := string(os.PathListSeparator)
	for name, test := range map[string]struct{ env, flag, want string }{
		"the first file":      {first + list + second, "", "https://first"},
		"the first there is":  {none + list + second, "", "https://second"},
		"the flag":            {first + list + second, flag, "https://flag"},
		"the flag, not there": {first, none, ""},
		"nothing":             {none, "", "http://localhost:8080"},
	} {
		t.Run(name, func(t *testing.T) {
			outsideClusters(t, test.env)
			var args []string
			if test.flag != "" {
				args = []string{"--kubeconfig", test.flag}
			}
			config, err := parsed(t, args...).ClientConfig().ClientConfig()
			if (err != nil) != (test.want == "") {
				t.Fatalf("got %v", err)
			}
			if err == nil && config.Host != test.want {
				t.Errorf("got %q, want %q", config.Host, test.want)
			}
		})
	}
}

// TestNamespaceOfTheConnection: -n wins over the context, and a context without a namespace means "default".
func TestNamespaceOfTheConnection(t *testing.T) {
	inDirectoryOf(t, twoClusters)
	for args, want := range map[string]string{
		"": "ml", "--context second": "default", "-n dev": "dev", "--namespace dev --context second": "dev", "-n ns/dev": "ns/dev",
	} {
		got, _, err := parsed(t, strings.Fields(args)...).ClientConfig().Namespace()
		if err != nil || got != want {
			t.Errorf("%q: got %q and %v, want %q", args, got, err, want)
		}
	}
}

// TestNoConnectionFlagIsLost: these are the flags that users know from kubectl, with their shorthands and
// defaults.
func TestNoConnectionFlagIsLost(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	newConnectionFlags().AddFlags(flags)
	got := map[string]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		got[f.Name] = strings.TrimSpace(f.Shorthand + " " + f.Value.Type() + " " + f.DefValue)
		if f.Usage == "" {
			t.Errorf("--%s has no help", f.Name)
		}
	})
	want := map[string]string{
		"kubeconfig": "string", "context": "string", "cluster": "string", "user": "string", "server": "s string", "namespace": "n string",
		"token": "string", "as": "string", "as-group": "stringArray []", "as-uid": "string", "as-user-extra": "stringArray []",
		"certificate-authority": "string", "client-certificate": "string", "client-key": "string", "insecure-skip-tls-verify": "bool false",
		"tls-server-name": "string", "request-timeout": "string 0", "disable-compression": "bool false", "proxy-url": "string",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSwitchTo: nothing that flags said of the old cluster holds for the new one, neither how it is reached
// nor what is taken for granted of it.
func TestSwitchTo(t *testing.T) {
	outsideClusters(t, written(t, strings.Replace(twoClusters, `"client-certificate": "bob.crt", "client-key": "bob.key"`, `"token": "of-bob"`, 1)))
	c := NewConnection(&console.Streams{})
	reader := NewReader(&console.Streams{}, c, &Memory{}, nil)
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.AddFlags(flags)
	reader.AddFlags(flags)
	args := []string{"-n", "ml", "--server", "https://old.example.com", "--token", "old", "--as", "eve", "--as-group", "g", "--as-user-extra", "a=b",
		"--features", "DRAPartitionableDevices=true", "--request-timeout", "7s"}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	if got := c.Contexts(); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("contexts %q", got)
	}
	if err := c.CheckContext("third"); err == nil {
		t.Error("a context that is not there can be used")
	}
	if c.CheckContext("first") == nil || c.CheckContext("second") != nil {
		t.Errorf("first, whose certificate is not there: %v; second: %v", c.CheckContext("first"), c.CheckContext("second"))
	}
	c.KeyboardTaken = true
	if err := c.SwitchTo("second", flags); err != nil {
		t.Fatal(err)
	}
	if got, want := GivenFlags(flags, readingFlags), []string{"--context", "second"}; !slices.Equal(got, want) {
		t.Errorf("asks with %q, want %q", got, want)
	}
	if name, user := c.ClusterAndUser(); name != "second" || user != "bob" {
		t.Errorf("the header says %q, %q", name, user)
	}
	config, err := c.ClientConfig().ClientConfig()
	if err != nil {
		t.Fatal(err)
	}
	if config.Host != "https://two.example.com" || config.BearerToken != "of-bob" || config.Impersonate.UserName != "" || len(config.Impersonate.Groups) > 0 ||
		len(config.Impersonate.Extra) > 0 || config.Timeout != 7*time.Second || c.KeyboardTaken {
		t.Errorf("reaches it with %+v", config)
	}
	if c.NamespaceFlag() != "" || reader.Features != "" {
		t.Errorf("namespace %q, features %q are those of the old cluster", c.NamespaceFlag(), reader.Features)
	}
}
