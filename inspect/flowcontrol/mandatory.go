package flowcontrol

import (
	"fmt"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apiserver/pkg/apis/flowcontrol/bootstrap"
	"k8s.io/apiserver/pkg/util/shufflesharding"
	"k8s.io/utils/ptr"
)

// Mandatory returns the level that a server makes up when there is no object of that name, or nil if it makes
// up none.
func Mandatory(name string) *flowcontrolv1.PriorityLevelConfiguration {
	for _, level := range bootstrap.MandatoryPriorityLevelConfigurations {
		if level.Name == name {
			level = level.DeepCopy()
			level.Annotations = nil // what is made up has none
			return level
		}
	}
	return nil
}

// mandatorySchema is a FlowSchema of the server's as it is made up when there is no object of it.
func mandatorySchema(of *flowcontrolv1.FlowSchema) Schema {
	object := of.DeepCopy()
	object.Annotations = nil // what is made up has none
	return Schema{Object: object, Assumed: true}
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
	case ptr.Deref(shares, 0) < 0:
		return fmt.Sprintf("nominalConcurrencyShares is %d, which is negative", *shares)
	case ptr.Deref(lendable, 0) < 0 || ptr.Deref(lendable, 0) > 100:
		return fmt.Sprintf("lendablePercent is %d, not between 0 and 100", *lendable)
	case ptr.Deref(borrowing, 0) < 0:
		return fmt.Sprintf("borrowingLimitPercent is %d, which is negative", *borrowing)
	}
	return ""
}
