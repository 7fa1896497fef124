package requests

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	kjson "sigs.k8s.io/json"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/quantity"
)

const (
	// pageSize is how many claims one request lists.
	pageSize = 500
	// maxClaims is after how many claims a list is given up: no cluster has as many, so the server is making
	// them up.
	maxClaims = 1_000_000
	// maxBody is how many bytes of one answer are read.
	maxBody = 512 << 20
	// maxError is how many bytes of an error are read.
	maxError = 1 << 20
	// requestTimeout bounds a request where the configuration does not.
	requestTimeout = 30 * time.Second
)

// A run makes a few dozen requests; the client must not slow it down.
const (
	queriesPerSecond = 50
	burst            = 100
)

// fieldManager is who the API server notes as the writer of fields.
const fieldManager = "kubectl-dra"

// API is a Server over HTTP. It speaks one version of resource.k8s.io. Metadata and status are the same at
// every version since v1beta1; the spec, which is not, is neither read nor written. A write changes the
// object as the server has it, so that fields of a newer server than this program survive.
type API struct {
	client  *rest.RESTClient
	version string
	dryRun  bool
	timeout time.Duration // of one request, with all that is tried again for it
}

// NewAPI returns a client of the API server that config points to. version is that of resource.k8s.io to
// speak, as "v1"; with dryRun the server checks every write and stores nothing. The Timeout of config bounds
// every request but a watch; where it is 0, 30 s do.
func NewAPI(config *rest.Config, version string, dryRun bool) (*API, error) {
	c := rest.CopyConfig(config)
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	c.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	c.QPS, c.Burst = max(c.QPS, queriesPerSecond), max(c.Burst, burst)
	timeout := cmp.Or(c.Timeout, requestTimeout)
	c.Timeout = 0 // it would be for each try, and end watches
	c.Wrap(bounded)
	c.ContentType, c.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	client, err := rest.UnversionedRESTClientFor(c)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", config.Host, err)
	}
	return &API{client: client, version: version, dryRun: dryRun, timeout: timeout}, nil
}

// do makes a request in bounded time and returns the body of the answer, or the error in the words of the
// server.
func (a *API) do(ctx context.Context, request *rest.Request) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	result := request.Do(limited)
	err := result.Error()
	if err == nil {
		return result.Raw()
	}
	if ctx.Err() == nil && limited.Err() != nil {
		return nil, fmt.Errorf("no answer within %s (--request-timeout)", a.timeout)
	}
	return nil, err
}

// bounded makes the bodies of answers end with an error where they would be too long to keep.
func bounded(next http.RoundTripper) http.RoundTripper { return boundedBodies{next} }

type boundedBodies struct{ next http.RoundTripper }

// beginning is the beginning of a body: that a server has more to say of an error is no error itself.
type beginning struct {
	io.Reader
	io.Closer
}

func (b boundedBodies) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := b.next.RoundTrip(request)
	switch {
	case err != nil:
	case response.StatusCode >= http.StatusBadRequest:
		response.Body = beginning{io.LimitReader(response.Body, maxError), response.Body}
	default:
		response.Body = http.MaxBytesReader(nil, response.Body, maxBody)
	}
	return response, err
}

// path is that of a claim, of the claims of a namespace, or of all claims.
func (a *API) path(ref inspect.ClaimRef) []string {
	path := []string{"/apis", resourcev1.GroupName, a.version}
	if ref.Namespace != "" {
		path = append(path, "namespaces", ref.Namespace)
	}
	path = append(path, "resourceclaims")
	if ref.Name != "" {
		path = append(path, ref.Name)
	}
	return path
}

// claimList is a list of claims at any version.
type claimList struct {
	metav1.TypeMeta
	metav1.ListMeta `json:"metadata"`
	Items           []*resourcev1.ResourceClaim `json:"items"`
}

// Claims lists all claims, in pages of one consistent read.
func (a *API) Claims(ctx context.Context) ([]*resourcev1.ResourceClaim, error) {
	claims, _, err := a.listClaims(ctx)
	return claims, err
}

// listClaims also returns the resource version of the list.
func (a *API) listClaims(ctx context.Context) ([]*resourcev1.ResourceClaim, string, error) {
	claims, version, err := a.list(ctx, pageSize)
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		claims, version, err = a.list(ctx, 0) // the server forgets faster than we read
	}
	if err != nil {
		return nil, "", fmt.Errorf("listing resourceclaims: %w", classified(err))
	}
	return claims, version, nil
}

func (a *API) list(ctx context.Context, limit int64) ([]*resourcev1.ResourceClaim, string, error) {
	var out []*resourcev1.ResourceClaim
	options := metav1.ListOptions{Limit: limit}
	for {
		data, err := a.do(ctx, a.client.Get().AbsPath(a.path(inspect.ClaimRef{})...).
			SpecificallyVersionedParams(&options, metav1.ParameterCodec, schema.GroupVersion{Version: "v1"}))
		if err != nil {
			return nil, "", err
		}
		page := &claimList{}
		if err := decode(data, page); err != nil {
			return nil, "", err
		}
		if page.Kind != "ResourceClaimList" || slices.Contains(page.Items, nil) {
			return nil, "", fmt.Errorf("reading the answer: it is no list of resourceclaims, but %q", page.Kind)
		}
		out = append(out, page.Items...)
		if len(out) > maxClaims {
			return nil, "", fmt.Errorf("the server goes on after %d objects", len(out))
		}
		if page.Continue == "" {
			return out, page.ResourceVersion, nil
		}
		if page.Continue == options.Continue {
			return nil, "", fmt.Errorf("the server repeats itself after %d objects", len(out))
		}
		if len(page.Items) == 0 {
			return nil, "", fmt.Errorf("the server sends a page without objects after %d of them", len(out))
		}
		options.Continue = page.Continue
	}
}

// get reads what is at a path.
func (a *API) get(ctx context.Context, into any, path ...string) error {
	data, err := a.do(ctx, a.client.Get().AbsPath(path...))
	if err != nil {
		return classified(err)
	}
	return decode(data, into)
}

// Claim reads a claim.
func (a *API) Claim(ctx context.Context, ref inspect.ClaimRef) (*resourcev1.ResourceClaim, error) {
	data, err := a.do(ctx, a.client.Get().AbsPath(a.path(ref)...))
	if err != nil {
		return nil, classified(err)
	}
	return decodeClaim(data, ref)
}

// decodeClaim decodes an answer that has to be a certain claim.
func decodeClaim(data []byte, ref inspect.ClaimRef) (*resourcev1.ResourceClaim, error) {
	claim := &resourcev1.ResourceClaim{}
	if err := decode(data, claim); err != nil {
		return nil, err
	}
	if claim.Kind != "ResourceClaim" || inspect.RefOf(claim) != ref {
		return nil, fmt.Errorf("reading the answer: it is not resourceclaim %s, but %q %s", ref, claim.Kind, inspect.RefOf(claim))
	}
	return claim, nil
}

// decode decodes an answer, but refuses quantities that would take for ever to read.
func decode(data []byte, into any) error {
	if guarded := quantity.Replace(data); guarded != nil {
		trial := reflect.New(reflect.TypeOf(into).Elem()).Interface()
		if err := kjson.UnmarshalCaseSensitivePreserveInts(guarded, trial); err != nil {
			return fmt.Errorf("reading the answer: %w", err)
		}
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, into); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	return nil
}

// classified wraps an error of the server so that it is one of those of Server.
func classified(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Errorf("%w (%w)", ErrNotFound, err)
	case apierrors.IsForbidden(err):
		return forbidden{err}
	case apierrors.IsConflict(err):
		return fmt.Errorf("%w (%w)", ErrConflict, err)
	}
	return err
}

// forbidden is an ErrForbidden in the words of the server, which say it all.
type forbidden struct{ error }

func (f forbidden) Is(target error) bool { return target == ErrForbidden }
func (f forbidden) Unwrap() error        { return f.error }

// UpdateMeta writes annotations and finalizers.
func (a *API) UpdateMeta(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return a.update(ctx, claim, "", func(object *unstructured.Unstructured) error {
		object.SetAnnotations(claim.Annotations)
		object.SetFinalizers(claim.Finalizers)
		return nil
	})
}

// UpdateStatus writes allocation and reservedFor.
func (a *API) UpdateStatus(ctx context.Context, claim *resourcev1.ResourceClaim) (*resourcev1.ResourceClaim, error) {
	return a.update(ctx, claim, "status", func(object *unstructured.Unstructured) error {
		status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&resourcev1.ResourceClaimStatus{
			Allocation: claim.Status.Allocation, ReservedFor: claim.Status.ReservedFor,
		})
		if err != nil {
			return fmt.Errorf("writing the status of claim %s: %w", inspect.RefOf(claim), err)
		}
		for _, field := range []string{"allocation", "reservedFor"} {
			unstructured.RemoveNestedField(object.Object, "status", field)
			if value, ok := status[field]; ok {
				if err := unstructured.SetNestedField(object.Object, value, "status", field); err != nil {
					return fmt.Errorf("writing the status of claim %s: %w", inspect.RefOf(claim), err)
				}
			}
		}
		return nil
	})
}

// update changes a claim as the server has it, if it still is at the version that was read.
func (a *API) update(ctx context.Context, claim *resourcev1.ResourceClaim, subresource string, change func(*unstructured.Unstructured) error) (*resourcev1.ResourceClaim, error) {
	ref := inspect.RefOf(claim)
	data, err := a.do(ctx, a.client.Get().AbsPath(a.path(ref)...))
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("%w (%w)", ErrConflict, err)
		}
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &object.Object); err != nil {
		return nil, fmt.Errorf("reading the answer: %w", err)
	}
	if object.GetResourceVersion() != claim.ResourceVersion || object.GetUID() != claim.UID {
		return nil, ErrConflict
	}
	if err := change(object); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(object.Object); err != nil {
		return nil, fmt.Errorf("writing claim %s: %w", ref, err)
	}
	request := a.client.Put().AbsPath(a.path(ref)...).Param("fieldManager", fieldManager).Body(data)
	if subresource != "" {
		request = request.Suffix(subresource)
	}
	if a.dryRun {
		request = request.Param("dryRun", metav1.DryRunAll)
	}
	data, err = a.do(ctx, request)
	if apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w (%w)", ErrConflict, err)
	}
	if err != nil {
		return nil, classified(err)
	}
	return decodeClaim(data, ref)
}

// PodUID reads the UID of a pod.
func (a *API) PodUID(ctx context.Context, ref inspect.PodRef) (types.UID, error) {
	pod := &metav1.PartialObjectMetadata{}
	if err := a.get(ctx, pod, "/api/v1/namespaces", ref.Namespace, "pods", ref.Name); err != nil {
		return "", err
	}
	if pod.Kind != "Pod" || pod.UID == "" {
		return "", fmt.Errorf("reading the answer: it is not pod %s/%s, but %q", ref.Namespace, ref.Name, pod.Kind)
	}
	return pod.UID, nil
}

// Pod reads a whole pod, as JSON has it.
func (a *API) Pod(ctx context.Context, ref inspect.PodRef) (map[string]any, error) {
	pod := &unstructured.Unstructured{}
	if err := a.get(ctx, &pod.Object, "/api/v1/namespaces", ref.Namespace, "pods", ref.Name); err != nil {
		return nil, err
	}
	if pod.GetKind() != "Pod" || pod.GetName() != ref.Name {
		return nil, fmt.Errorf("reading the answer: it is not pod %s, but %q", ref, pod.GetKind())
	}
	return pod.Object, nil
}

// NamespaceLabels reads the labels of a namespace.
func (a *API) NamespaceLabels(ctx context.Context, name string) (map[string]string, error) {
	namespace := &metav1.PartialObjectMetadata{}
	err := a.get(ctx, namespace, "/api/v1/namespaces", name)
	return namespace.Labels, err
}

// may asks the server whether the user has a permission.
func (a *API) may(ctx context.Context, p Permission) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: authorizationv1.SchemeGroupVersion.String(), Kind: "SelfSubjectAccessReview"},
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: p.Namespace, Verb: p.Verb, Group: p.Group, Resource: p.Resource, Subresource: p.Subresource, Name: p.Name,
		}},
	}
	text, err := json.Marshal(review)
	if err != nil {
		return false, fmt.Errorf("asking for a permission: %w", err)
	}
	data, err := a.do(ctx, a.client.Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").Body(text))
	if err != nil {
		return false, fmt.Errorf("asking for a permission: %w", err)
	}
	answer := &authorizationv1.SelfSubjectAccessReview{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, answer); err != nil {
		return false, fmt.Errorf("asking for a permission: %w", err)
	}
	return answer.Status.Allowed, nil
}
