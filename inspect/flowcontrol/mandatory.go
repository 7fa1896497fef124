package flowcontrol

import (
	"fmt"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/util/shufflesharding"
	"k8s.io/utils/ptr"
)

// mandatory returns the levels that a server makes up when there are no objects for them. They are
// those of k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap, which a test compares them with.
func mandatory() []*flowcontrolv1.PriorityLevelConfiguration {
	return []*flowcontrolv1.PriorityLevelConfiguration{{
		ObjectMeta: metav1.ObjectMeta{Name: flowcontrolv1.PriorityLevelConfigurationNameExempt},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementExempt,
			Exempt: &flowcontrolv1.ExemptPriorityLevelConfiguration{
				NominalConcurrencyShares: ptr.To[int32](0), LendablePercent: ptr.To[int32](0),
			},
		},
	}, {
		ObjectMeta: metav1.ObjectMeta{Name: flowcontrolv1.PriorityLevelConfigurationNameCatchAll},
		Spec: flowcontrolv1.PriorityLevelConfigurationSpec{
			Type: flowcontrolv1.PriorityLevelEnablementLimited,
			Limited: &flowcontrolv1.LimitedPriorityLevelConfiguration{
				NominalConcurrencyShares: ptr.To[int32](5), LendablePercent: ptr.To[int32](0),
				LimitResponse: flowcontrolv1.LimitResponse{Type: flowcontrolv1.LimitResponseTypeReject},
			},
		},
	}}
}

// Mandatory returns a level as a server makes it up when there is no object for it. ok is false for levels that it does not make up.
func Mandatory(name string) (level *flowcontrolv1.PriorityLevelConfiguration, ok bool) {
	for _, level := range mandatory() {
		if level.Name == name {
			return level, true
		}
	}
	return nil, false
}

// broken says why the server would ignore an object, or "". The checks are those of its controller
// (queueSetCompleterForPL) and then those of the API that keep the numbers in their range, without which
// limits mean nothing.
func broken(object *flowcontrolv1.PriorityLevelConfiguration) string {
	spec := &object.Spec
	switch isExempt := spec.Type == flowcontrolv1.PriorityLevelEnablementExempt; {
	case !isExempt && spec.Type != flowcontrolv1.PriorityLevelEnablementLimited:
		return fmt.Sprintf("spec.type is %q, not Limited or Exempt", spec.Type)
	case isExempt != (object.Name == flowcontrolv1.PriorityLevelConfigurationNameExempt):
		return "spec.type is Exempt for the level named exempt and for no other"
	case !isExempt && spec.Exempt != nil:
		return "spec.exempt is set although spec.type is Limited"
	case isExempt == (spec.Limited != nil):
		return "spec.limited has to be set when spec.type is Limited, and only then"
	case isExempt && spec.Exempt == nil:
		return "" // as old as Kubernetes 1.25; the server uses the mandatory level, which is the same
	case isExempt:
		return outOfRange(spec.Exempt.NominalConcurrencyShares, spec.Exempt.LendablePercent, nil)
	}
	if reason := brokenResponse(&spec.Limited.LimitResponse); reason != "" {
		return reason
	}
	return outOfRange(spec.Limited.NominalConcurrencyShares, spec.Limited.LendablePercent, spec.Limited.BorrowingLimitPercent)
}

func brokenResponse(response *flowcontrolv1.LimitResponse) string {
	queuing := response.Queuing
	switch response.Type {
	case flowcontrolv1.LimitResponseTypeReject:
		if queuing != nil {
			return "spec.limited.limitResponse.queuing is set although the type is Reject"
		}
		return ""
	case flowcontrolv1.LimitResponseTypeQueue:
		if queuing == nil {
			return "spec.limited.limitResponse.queuing is missing although the type is Queue"
		}
	default:
		return fmt.Sprintf("spec.limited.limitResponse.type is %q, not Queue or Reject", response.Type)
	}
	if queuing.QueueLengthLimit <= 0 {
		return "spec.limited.limitResponse.queuing.queueLengthLimit is not positive"
	}
	if _, err := shufflesharding.NewDealer(int(queuing.Queues), int(queuing.HandSize)); err != nil {
		return fmt.Sprintf("requests cannot be dealt to %d queues in hands of %d: %v", queuing.Queues, queuing.HandSize, err)
	}
	return ""
}

func outOfRange(shares, lendable, borrowing *int32) string {
	switch {
	case value(shares) < 0:
		return fmt.Sprintf("nominalConcurrencyShares is %d, which is negative", *shares)
	case value(lendable) < 0 || value(lendable) > 100:
		return fmt.Sprintf("lendablePercent is %d, not between 0 and 100", *lendable)
	case value(borrowing) < 0:
		return fmt.Sprintf("borrowingLimitPercent is %d, which is negative", *borrowing)
	}
	return ""
}

// mandatorySchemas returns the FlowSchemas that a server makes up when there are no objects for them. They are those of
// k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap, which a test compares them with.
func mandatorySchemas() (exempt, catchAll *flowcontrolv1.FlowSchema) {
	all := []string{"*"}
	schema := func(name string, precedence int32, groups ...string) *flowcontrolv1.FlowSchema {
		rule := flowcontrolv1.PolicyRulesWithSubjects{
			ResourceRules: []flowcontrolv1.ResourcePolicyRule{{Verbs: all, APIGroups: all, Resources: all, Namespaces: all, ClusterScope: true}},

			NonResourceRules: []flowcontrolv1.NonResourcePolicyRule{{Verbs: all, NonResourceURLs: all}},
		}
		for _, group := range groups {
			rule.Subjects = append(rule.Subjects, flowcontrolv1.Subject{Kind: flowcontrolv1.SubjectKindGroup, Group: &flowcontrolv1.GroupSubject{Name: group}})
		}
		return &flowcontrolv1.FlowSchema{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: flowcontrolv1.FlowSchemaSpec{
			MatchingPrecedence: precedence, Rules: []flowcontrolv1.PolicyRulesWithSubjects{rule},
			// The levels have the same names.
			PriorityLevelConfiguration: flowcontrolv1.PriorityLevelConfigurationReference{Name: name},
		}}
	}
	exempt = schema(flowcontrolv1.FlowSchemaNameExempt, 1, user.SystemPrivilegedGroup)
	catchAll = schema(flowcontrolv1.FlowSchemaNameCatchAll, 10000, user.AllUnauthenticated, user.AllAuthenticated)
	catchAll.Spec.DistinguisherMethod = &flowcontrolv1.FlowDistinguisherMethod{Type: flowcontrolv1.FlowDistinguisherMethodByUserType}
	return exempt, catchAll
}
