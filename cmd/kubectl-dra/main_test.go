package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/cli"
	"github.com/kubectl-dra/kubectl-dra/cmd/kubectl-dra/internal/output/schematest"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

func TestMain(m *testing.M) {
	// The home of scripts, which commands that run in this process would not know: it is read when a process
	// begins.
	clientcmd.RecommendedConfigDir = "/no-home/.kube"
	clientcmd.RecommendedHomeFile = "/no-home/.kube/config"
	testscript.Main(m, map[string]func(){"kubectl-dra": main, "kubectl_complete-dra": main})
}

// TestScripts runs the program. Each script of testdata/script is a few command lines with what
// they print and how they end.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Abs("testdata/script") // commands that run here change the working directory
	if err != nil {
		t.Fatal(err)
	}
	testscript.RunT(scriptT{t}, testscript.Params{
		Dir:                 scripts,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			for name, handler := range map[string]http.HandlerFunc{"FORBIDDING_SERVER": forbidAll, "SERVER": serve, "OLD_SERVER": serveOld, "BREAKING_SERVER": serveNoClaims, "REFUSING_SERVER": refuseAll, "FAILING_SERVER": failAll} {
				server := httptest.NewServer(handler)
				env.Defer(server.Close)
				env.Setenv(name, server.URL)
			}
			if err := serveKubelet(env); err != nil {
				return err
			}
			env.Values[variables{}] = variablesOf(env)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "clean": clean},
		Condition: func(condition string) (bool, error) {
			if condition == "full" {
				return !effort.Usual(), nil
			}
			return false, fmt.Errorf("unknown condition %q", condition)
		},
	})
}

// scriptT is a test that runs scripts: one after the other where their commands run in this process.
type scriptT struct{ *testing.T }

// Parallel implements testscript.T.
func (t scriptT) Parallel() {
	if effort.Full() {
		t.T.Parallel()
	}
}

// Run implements testscript.T.
func (t scriptT) Run(name string, script func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { script(scriptT{t}) })
}

// Verbose implements testscript.T.
func (t scriptT) Verbose() bool { return testing.Verbose() }

// served is what the API server of the scripts has: by path, the JSON of the answer.
var served = map[string]string{
	"/version":                               `{"major":"1","minor":"36","gitVersion":"v1.36.2"}`,
	"/apis/resource.k8s.io/v1":               `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"resource.k8s.io/v1","resources":[{"name":"resourceclaims","namespaced":true,"kind":"ResourceClaim","verbs":["list"]},{"name":"resourceslices","kind":"ResourceSlice","verbs":["list"]},{"name":"deviceclasses","kind":"DeviceClass","verbs":["list"]},{"name":"resourceclaimtemplates","namespaced":true,"kind":"ResourceClaimTemplate","verbs":["list"]}]}`,
	"/api/v1/nodes":                          `{"kind":"NodeList","apiVersion":"v1","items":[{"metadata":{"name":"n1"}}]}`,
	"/api/v1/namespaces":                     `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"Status"}],"rows":[{"cells":["default","Active"]},{"cells":["ml","Active"]}]}`,
	"/api/v1/pods":                           `{"kind":"PodList","apiVersion":"v1","items":[]}`,
	"/apis/resource.k8s.io/v1/deviceclasses": `{"kind":"DeviceClassList","apiVersion":"resource.k8s.io/v1","items":[{"metadata":{"name":"gpu"},"spec":{}}]}`,
	"/apis/rbac.authorization.k8s.io/v1/clusterroles":        `{"kind":"ClusterRoleList","apiVersion":"rbac.authorization.k8s.io/v1","items":[{"metadata":{"name":"cluster-admin"},"rules":[{"apiGroups":["*"],"resources":["*"],"verbs":["*"]}]}]}`,
	"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings": `{"kind":"ClusterRoleBindingList","apiVersion":"rbac.authorization.k8s.io/v1","items":[{"metadata":{"name":"ops"},"roleRef":{"kind":"ClusterRole","name":"cluster-admin"},"subjects":[{"kind":"Group","name":"ops"}]}]}`,
	"/apis/resource.k8s.io/v1/resourceclaimtemplates":        `{"kind":"ResourceClaimTemplateList","apiVersion":"resource.k8s.io/v1","items":[]}`,
	"/apis/resource.k8s.io/v1/resourceslices":                `{"kind":"ResourceSliceList","apiVersion":"resource.k8s.io/v1","items":[{"metadata":{"name":"s"},"spec":{"driver":"d","nodeName":"n1","pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"x"}]}}]}`,
	"/apis/resource.k8s.io/v1/namespaces/ml/resourceclaims":  `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"State"}],"rows":[{"cells":["train-0","pending"]}]}`,
	"/apis/resource.k8s.io/v1/resourceclaims":                `{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","items":[{"metadata":{"name":"train-0","namespace":"ml"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","allocationMode":"ExactCount","count":1}}]}}}]}`,
}

// serve is an API server of Kubernetes 1.36 with one claim and one device.
func serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	answer, ok := served[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`
	}
	if r.URL.Path == "/api/v1/namespaces" && !strings.Contains(r.Header.Get("Accept"), "as=Table") {
		answer = `{"kind":"NamespaceList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"default"}},{"metadata":{"name":"ml"}}]}`
	}
	_, _ = w.Write([]byte(answer)) // the client says so if it fails
}

// serveOld is an API server that knows nothing of DRA.
func serveOld(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/apis/resource.k8s.io") {
		r.URL.Path = "/nothing"
	}
	serve(w, r)
}

// serveNoClaims is an API server that fails when it is asked for claims.
func serveNoClaims(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/apis/resource.k8s.io/v1/resourceclaims" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"InternalError","code":500,"message":"no database"}`)) // as above
		return
	}
	serve(w, r)
}

// forbidAll is an API server that tells its version and nothing else.
func forbidAll(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.URL.Path == "/version" {
		_, _ = w.Write([]byte(`{"major":"1","minor":"37","gitVersion":"v1.37.1"}`)) // the client says so if it fails
		return
	}
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"user may not"}`)) // as above
}

// refuseAll and failAll answer nothing, not even the version, and say why.
func refuseAll(w http.ResponseWriter, r *http.Request) {
	failWith(w, http.StatusForbidden, `"reason":"Forbidden","message":"no access before nine"`)
}

func failAll(w http.ResponseWriter, r *http.Request) {
	failWith(w, http.StatusInternalServerError, `"reason":"InternalError","message":"etcd is on fire"`)
}

func failWith(w http.ResponseWriter, code int, what string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_, _ = fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":%d,%s}`, code, what) // as above
}

// exits runs a command and checks its exit code: exits CODE COMMAND ARGUMENT... What it prints as JSON has to
// follow its schema.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGUMENT...]")
	}
	var got, stdout string
	if hasToBeAProcess(ts, args[1:]) {
		got = "0"
		if err := ts.Exec(args[1], args[2:]...); err != nil {
			got = strings.TrimPrefix(err.Error(), "exit status ")
		}
		stdout = ts.ReadFile("stdout")
	} else {
		got, stdout = runHere(ts, args[2:])
	}
	if got != args[0] {
		ts.Fatalf("exit code %s, want %s", got, args[0])
	}
	if !schematest.PrintsJSON(args) {
		return
	}
	if _, err := schematest.Validate([]byte(stdout)); err != nil {
		ts.Fatalf("what is printed does not follow its schema: %v", err)
	}
}

// hasToBeAProcess reports whether a command of a script needs a process of its own: starting a thousand of
// them takes most of the time of all scripts, so only the full run does it for each. Standard input is known
// to processes alone, as are the width and the locale of a pipe, and a time zone is read once in a process.
func hasToBeAProcess(ts *testscript.TestScript, command []string) bool {
	return effort.Full() || command[0] != "kubectl-dra" || slices.Contains(command, "-") ||
		ts.Getenv("TZ")+ts.Getenv("COLUMNS")+ts.Getenv("LC_ALL") != ""
}

// runHere runs the program in this process, as main does, with the environment and the working directory of a
// script, and returns its exit code and what it prints.
func runHere(ts *testscript.TestScript, args []string) (code, stdout string) {
	defer enter(ts)()
	var out, errOut bytes.Buffer
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut}
	code = strconv.Itoa(cli.Main(args, streams, time.Now))
	_, _ = ts.Stdout().Write(out.Bytes()) // a buffer
	_, _ = ts.Stderr().Write(errOut.Bytes())
	return code, out.String()
}

// enter goes to the directory of a script and takes its environment; what it returns goes back.
func enter(ts *testscript.TestScript) (leave func()) {
	before, err := os.Getwd()
	ts.Check(err)
	environment := os.Environ()
	ts.Check(os.Chdir(ts.MkAbs(".")))
	os.Clearenv()
	for _, key := range ts.Value(variables{}).([]string) {
		if value := ts.Getenv(key); value != "" {
			ts.Check(os.Setenv(key, value))
		}
	}
	return func() {
		os.Clearenv()
		for _, variable := range environment {
			key, value, _ := strings.Cut(variable, "=")
			ts.Check(os.Setenv(key, value))
		}
		ts.Check(os.Chdir(before))
	}
}

// variables is the key of the names of the variables that a script may have.
type variables struct{}

// variablesOf are those that it begins with, and those that scripts set.
func variablesOf(env *testscript.Env) []string {
	names := []string{"KUBECONFIG", "NO_COLOR", "NODE_NAME"}
	for _, variable := range env.Vars {
		name, _, _ := strings.Cut(variable, "=")
		names = append(names, name)
	}
	return names
}

// clean checks that a file, stdout or stderr holds no character that could steer a terminal.
func clean(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: clean FILE...")
	}
	for _, name := range args {
		if strings.ContainsFunc(ts.ReadFile(name), steers) {
			ts.Fatalf("%s holds control characters: %q", name, ts.ReadFile(name))
		}
	}
}

func steers(r rune) bool {
	return r != '\n' && (r < ' ' || r >= 0x7f && r <= 0x9f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069)
}

// TestInterrupt is here and not in a script because a script cannot see the exit code of what it kills.
func TestInterrupt(t *testing.T) {
	for sent, want := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		t.Run(sent.String(), func(t *testing.T) { interrupt(t, sent, want) })
	}
}

func interrupt(t *testing.T, sent os.Signal, want int) {
	t.Helper()
	cmd := exec.Command("kubectl-dra", "get", "claims", "--from", "-")
	stdin, err := cmd.StdinPipe() // never closed before the end, so that the command waits for it
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// What is written here is read only once the command has begun to read, long after it listens to signals.
	if _, err := stdin.Write(bytes.Repeat([]byte("# nothing\n"), 10_000)); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(sent); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != want || stderr.String() != "error: interrupted\n" {
		t.Errorf("ended with %v and %q, want exit code %d and \"error: interrupted\"", err, stderr.String(), want)
	}
}

// TestGetWatch follows a server until it is interrupted.
func TestGetWatch(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("watch") != "" {
			forbidAll(w, r) // then the lists are what there is
			return
		}
		serve(w, r)
	}))
	defer server.Close()
	cmd := exec.Command("kubectl-dra", "get", "claims", "-A", "--watch", "--no-headers", "--server", server.URL)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(5*time.Minute, func() { _ = cmd.Process.Kill() }).Stop() // the test fails then
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "ml ") || !strings.Contains(line, "train-0") {
		t.Errorf("line %q, error %v", line, err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 130 {
		t.Errorf("ended with %v and %q, want exit code 130", err, stderr.String())
	}
}
