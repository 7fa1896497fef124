package e2e

import (
	"context"
	cryptorand "crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubectl-dra/kubectl-dra/e2e/cluster"
)

// managerYAML is what surrounds Kueue's manager in a cluster: its configuration where the product looks for
// it, the secret that the manager keeps its certificate in, and its pod, which is an object alone.
const managerYAML = `
apiVersion: v1
kind: Namespace
metadata: {name: kueue-system}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
---
apiVersion: v1
kind: Secret
metadata: {name: kueue-webhook-server-cert, namespace: kueue-system}
---
apiVersion: v1
kind: Pod
metadata: {name: kueue-controller-manager, namespace: kueue-system, labels: {app.kubernetes.io/name: kueue, control-plane: controller-manager}}
spec:
  nodeName: manager
  containers:
  - name: manager
    image: registry.k8s.io/kueue/kueue:v0.19.1
    command: [/manager]
    args: [--config=/controller_manager_config.yaml]
    volumeMounts: [{name: config, mountPath: /controller_manager_config.yaml, subPath: controller_manager_config.yaml}]
  volumes: [{name: config, configMap: {name: kueue-manager-config}}]
`

// managerConfig is how Kueue's manager is configured; %[1]s and so on are ports, and a directory.
const managerConfig = `apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
namespace: kueue-system
health: {healthProbeBindAddress: "127.0.0.1:%[1]s"}
metrics: {bindAddress: "127.0.0.1:%[2]s"}
webhook: {host: 127.0.0.1, port: %[3]s, certDir: %[4]s}
leaderElection: {leaderElect: false}
featureGates: {VisibilityOnDemand: false} # which wants a directory of its own, /visibility
integrations: {frameworks: [batch/job]}
resources: {deviceClassMappings: [{name: example.com/gpu, deviceClassNames: [gpu]}]}
`

// startKueue starts a control plane with Kueue's manager, and its webhooks.
func startKueue(t *testing.T) *cluster.Cluster {
	t.Helper()
	binary := cluster.BuildKueue(t)
	c := cluster.Start(t, cluster.Options{Controllers: []string{"job-controller", "resourceclaim-controller", "garbage-collector-controller"}})
	began := time.Now()
	dir, ports := t.TempDir(), cluster.FreePorts(t, 3)
	config := fmt.Sprintf(managerConfig, ports[0], ports[1], ports[2], dir)
	webhook := "https://127.0.0.1:" + ports[2]
	c.AddKueueKinds(t, webhook)
	certificate, key := webhookCertificate(t)
	for name, data := range map[string][]byte{"config.yaml": []byte(config), "tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, object := range cluster.DecodeText(t, managerYAML) {
		switch object.GetKind() {
		case "ConfigMap":
			object.Object["data"] = map[string]any{"controller_manager_config.yaml": config}
		case "Secret": // a certificate that is its own authority
			object.Object["stringData"] = map[string]any{"ca.crt": string(certificate), "ca.key": string(key), "tls.crt": string(certificate), "tls.key": string(key)}
		}
		createObject(t, c, object)
	}
	for _, object := range cluster.KueueManifests(t, "webhook/manifests.yaml") {
		object.SetName("kueue-" + object.GetName())
		for _, hook := range object.Object["webhooks"].([]any) {
			path, _, _ := unstructured.NestedString(hook.(map[string]any), "clientConfig", "service", "path")
			hook.(map[string]any)["clientConfig"] = map[string]any{"url": webhook + path}
			hook.(map[string]any)["namespaceSelector"] = map[string]any{"matchExpressions": []any{
				map[string]any{"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": []any{"kueue-system"}}}}
		}
		createObject(t, c, object)
	}
	c.Run(t, binary, "--config="+filepath.Join(dir, "config.yaml"), "--kubeconfig="+c.Kubeconfig(cluster.Admin), "--zap-log-level=2")
	cluster.Eventually(t, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1:"+ports[0]+"/readyz", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("Kueue's manager is not ready: %s", answer.Status)
		}
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	})
	t.Logf("Kueue's manager ready after %v", time.Since(began).Round(time.Millisecond))
	return c
}

func createObject(t *testing.T, c *cluster.Cluster, object *unstructured.Unstructured) {
	t.Helper()
	if err := c.Create(t.Context(), object); err != nil {
		t.Fatal(err)
	}
}

// webhookCertificate makes a certificate that Kueue's manager does not replace: it has the names that it
// looks for, and is its own authority. The API server calls it by its address.
func webhookCertificate(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := rsa.GenerateKey(cryptorand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"kueue-ca", "kueue-webhook-service.kueue-system.svc"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(cryptorand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return certificate, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
}

// named puts the name of a scenario in front of what belongs to the whole cluster.
func named(scenario, text string) string { return strings.ReplaceAll(text, "~", scenario+"-") }
