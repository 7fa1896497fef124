package inspect

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// quotaClaim is a claim in namespace ml whose requests are given as "class=count", "class=All" or
// alternatives with "|".
func quotaClaim(requests ...string) *resourcev1.ResourceClaim {
	claim := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: strings.Join(requests, ",")}}
	for _, text := range requests {
		var subs []resourcev1.DeviceSubRequest
		for alternative := range strings.SplitSeq(text, "|") {
			class, count, _ := strings.Cut(alternative, "=")
			sub := resourcev1.DeviceSubRequest{DeviceClassName: class, AllocationMode: resourcev1.DeviceAllocationModeAll}
			if count != "All" {
				sub.AllocationMode = resourcev1.DeviceAllocationModeExactCount
				_, _ = fmt.Sscan(count, &sub.Count) // the tests are right
			}
			subs = append(subs, sub)
		}
		r := resourcev1.DeviceRequest{FirstAvailable: subs}
		if len(subs) == 1 {
			r = resourcev1.DeviceRequest{Exactly: &resourcev1.ExactDeviceRequest{
				DeviceClassName: subs[0].DeviceClassName, AllocationMode: subs[0].AllocationMode, Count: subs[0].Count,
			}}
		}
		claim.Spec.Devices.Requests = append(claim.Spec.Devices.Requests, r)
	}
	return claim
}

func TestClaimQuota(t *testing.T) {
	const gpus = "gpu.deviceclass.resource.k8s.io/devices"
	limit := func(name string, hard, used string) *corev1.ResourceQuota {
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "q"}}
		q.Spec.Hard = corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(hard)}
		if used != "" {
			q.Status = corev1.ResourceQuotaStatus{Hard: q.Spec.Hard, Used: corev1.ResourceList{corev1.ResourceName(name): resource.MustParse(used)}}
		}
		return q
	}
	tests := []struct {
		name   string
		quota  *corev1.ResourceQuota
		exist  []*resourcev1.ResourceClaim
		create []*resourcev1.ResourceClaim
		want   string // of the last that is created
	}{
		{"exactly what is left", limit(gpus, "4", "2"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=2")}, ""},
		{"one more than is left", limit(gpus, "4", "2"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=3")}, "gpu 4 2 0 3"},
		{"requests add up", limit(gpus, "4", "2"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=2", "gpu=1", "nic=9")}, "gpu 4 2 0 3"},
		{"all devices are as many as a claim can have", limit(gpus, "31", "0"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=All")}, "gpu 31 0 0 32"},
		{"the largest alternative counts", limit(gpus, "4", "2"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=1|gpu=3|nic=8")}, "gpu 4 2 0 3"},
		{"another class", limit(gpus, "4", "4"), nil, []*resourcev1.ResourceClaim{quotaClaim("nic=1")}, ""},
		{"what was created before counts", limit(gpus, "4", "2"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=2"), quotaClaim("gpu=1")}, "gpu 4 2 2 1"},
		{"what was refused before does not", limit(gpus, "4", "2"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=3"), quotaClaim("gpu=2")}, ""},
		{"what a quota says of itself counts more than claims", limit(gpus, "4", "0"), []*resourcev1.ResourceClaim{quotaClaim("gpu=4")}, []*resourcev1.ResourceClaim{quotaClaim("gpu=4")}, ""},
		{"a quota without status", limit(gpus, "4", ""), []*resourcev1.ResourceClaim{quotaClaim("gpu=3")}, []*resourcev1.ResourceClaim{quotaClaim("gpu=2")}, "gpu 4 3 0 2"},
		{"the number of claims", limit("count/resourceclaims.resource.k8s.io", "2", "1"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=1"), quotaClaim("gpu=1")}, " 2 1 1 1"},
		{"the extended resource of a class", limit("requests.example.com/nic", "1", "0"), nil, []*resourcev1.ResourceClaim{quotaClaim("nic=2")}, "nic 1 0 0 2"},
		{"the implicit one too", limit("requests.deviceclass.resource.kubernetes.io/nic", "1", "0"), nil, []*resourcev1.ResourceClaim{quotaClaim("nic=2")}, "nic 1 0 0 2"},
		{"but not of a class without", limit("requests.deviceclass.resource.kubernetes.io/gpu", "1", "0"), nil, []*resourcev1.ResourceClaim{quotaClaim("gpu=2")}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			classes := []*resourcev1.DeviceClass{{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}}, {ObjectMeta: metav1.ObjectMeta{Name: "nic"}}}
			classes[1].Spec.ExtendedResourceName = ptr.To("example.com/nic")
			elsewhere := limit(gpus, "0", "0")
			elsewhere.Namespace = "dev"
			scoped := limit(gpus, "0", "0")
			scoped.Name, scoped.Spec.Scopes = "scoped", []corev1.ResourceQuotaScope{corev1.ResourceQuotaScopeBestEffort}
			s := New(Objects{Quotas: []*corev1.ResourceQuota{elsewhere, scoped, tt.quota}, Claims: tt.exist, Classes: classes}, Config{Features: DefaultFeatures(NewestMinor)})
			quota, got := s.ClaimQuota("ml"), ""
			for _, claim := range tt.create {
				got = ""
				if x := quota.Create(claim); x != nil {
					got = fmt.Sprint(x.Class, " ", x.Hard, " ", x.Used, " ", x.Charged, " ", x.Requested)
				}
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
