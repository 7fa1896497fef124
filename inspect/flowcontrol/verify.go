package flowcontrol

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/rest"

	"github.com/kubectl-dra/kubectl-dra/inspect/live/connection"
)

// Verification is what the server says about the classification of a request.
type Verification struct {
	// Status is that of the answer. One that refuses the user what was asked says as much as any other:
	// requests are classified first.
	Status int
	// Classified says that the server told where the request went. It does not for requests that pass by
	// priority and fairness, nor when it is off, nor when the asker may not impersonate the user.
	Classified bool
	// SchemaUID and LevelUID are empty for those that the server makes up.
	SchemaUID, LevelUID string
	// Message is what the server says if it did not classify the request.
	Message string
}

// noVersion is a version that no API group has. The classification does not depend on the version, and
// nothing is read or written at one that does not exist.
const noVersion = "v0kubectldra"

// Verifiable reports whether [Verify] would send such a request: only one that reads.
func (r *Request) Verifiable() bool { return r.Method == http.MethodGet }

// Verify asks the server where it puts a request: it sends one that is classified alike, in the name of the
// user, and reads the headers of the answer. A resource is asked for at a version that does not exist, so
// nobody's data is read. It may be called for requests that are Verifiable only.
func Verify(ctx context.Context, config *rest.Config, r *Request) (Verification, error) {
	c := rest.CopyConfig(config)
	c.Impersonate = rest.ImpersonationConfig{UserName: r.User, Groups: claimedGroups(r)}
	client, err := connection.Client(c)
	if err != nil {
		return Verification{}, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	base, _, err := rest.DefaultServerURL(config.Host, "", schema.GroupVersion{}, rest.IsConfigTransportTLS(*config))
	if err != nil {
		return Verification{}, fmt.Errorf("reading the address of the server: %w", err)
	}
	at := &url.URL{Scheme: base.Scheme, Host: base.Host, Path: strings.TrimSuffix(base.Path, "/") + harmlessPath(r), RawQuery: r.URL.RawQuery}
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return Verification{}, fmt.Errorf("asking for %s: %w", r.URL, err)
	}
	response, err := client.Do(request)
	if err != nil {
		return Verification{}, fmt.Errorf("asking for %s: %w", r.URL, err)
	}
	defer func() { _ = response.Body.Close() }() // nothing was written
	v := Verification{
		Status:    response.StatusCode,
		SchemaUID: response.Header.Get(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID),
		LevelUID:  response.Header.Get(flowcontrolv1.ResponseHeaderMatchedPriorityLevelConfigurationUID),
	}
	_, v.Classified = response.Header[http.CanonicalHeaderKey(flowcontrolv1.ResponseHeaderMatchedFlowSchemaUID)]
	if !v.Classified {
		body, _ := io.ReadAll(io.LimitReader(response.Body, longestMessage))
		v.Message = clean(string(body))
	}
	return v, nil
}

// harmlessPath is a path that is classified like that of a request, and reads nothing.
func harmlessPath(r *Request) string {
	if !r.Info.IsResourceRequest {
		return r.URL.Path
	}
	before := "/" + r.Info.APIPrefix + "/"
	if r.Info.APIGroup != "" {
		before += r.Info.APIGroup + "/"
	}
	return before + noVersion + strings.TrimPrefix(r.URL.Path, before+r.Info.APIVersion)
}

// claimedGroups are the groups that have to be named: the server adds the others itself, but those of a
// service account only if none is named.
func claimedGroups(r *Request) []string {
	bare := AllGroups(r.User, nil)
	if slices.Equal(bare, r.Groups) {
		return nil
	}
	added := AllGroups("", nil)
	if _, _, err := serviceaccount.SplitUsername(r.User); err != nil {
		added = bare
	}
	return slices.DeleteFunc(slices.Clone(r.Groups), func(group string) bool { return slices.Contains(added, group) })
}
