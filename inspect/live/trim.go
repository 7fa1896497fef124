package live

import (
	"encoding/binary"
	"slices"

	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/wire"
)

// What nothing reads of an object is most of what a server sends: images and environments, who manages which field. It
// is left out of the encoded object before that is decoded, which costs a small part of decoding it and dropping it
// after that. Only what reduce drops anyway is left out (TestTrim).

// trim says what is left out of a message, by the number of a field.
type trim map[uint64]rule

// rule is what becomes of a field.
type rule struct {
	drop   bool
	only   func(body []byte) bool // if not nil, others are left out
	within trim                   // of a field that is a message
}

// dropping adds fields that are left out.
func (t trim) dropping(numbers ...uint64) trim {
	for _, n := range numbers {
		t[n] = rule{drop: true}
	}
	return t
}

// The numbers of the fields are those in the generated.proto of each API group.

// trimOf returns what is left out of the objects of a kind.
func trimOf(k inspect.Kind) trim {
	const metadata, spec, status, managedFields = 1, 2, 3, 17
	switch k.Resource {
	case inspect.TaintRules: // managed fields tell who set the taint
		return trim{}
	case inspect.Pods:
		// generateName, selfLink, generation, deletionGracePeriodSeconds, finalizers
		meta := trim{}.dropping(2, 4, 7, 10, 14, managedFields)
		return trim{metadata: {within: meta}, spec: {within: podSpecTrim()}, status: {within: podStatusTrim()}}
	case inspect.Nodes:
		// images, volumesInUse, volumesAttached
		return trim{metadata: {within: trim{}.dropping(managedFields)}, status: {within: trim{}.dropping(8, 9, 10)}}
	}
	if inspect.HasOld(k.Name) {
		return trim{metadata: {within: trim{managedFields: oldWriters}}}
	}
	return trim{metadata: {within: trim{}.dropping(managedFields)}}
}

// oldWriters keeps who wrote an object in an old version of the API: without which fields, and in which form, and by which
// subresource.
var oldWriters = rule{within: trim{}.dropping(6, 7, 8), only: func(entry []byte) bool {
	const apiVersion = 3
	for len(entry) > 0 {
		number, _, size, body := wire.Field(entry)
		if size <= 0 || number == apiVersion {
			return size <= 0 || inspect.WasOld(body)
		}
		entry = entry[size:]
	}
	return false
}}

func podSpecTrim() trim {
	const volumes, containers, initContainers, ephemeralContainers = 1, 2, 20, 34
	// image, command, args, workingDir, env, probes, lifecycle, termination messages, pull policy, security context,
	// terminals, envFrom, volumeDevices, resizePolicy
	container := trim{}.dropping(2, 3, 4, 5, 7, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)
	// emptyDir, gitRepo, secret, nfs, glusterfs, flexVolume, cephfs, flocker, downwardAPI, fc, configMap, quobyte,
	// photonPersistentDisk, scaleIO, projected, storageos, image
	source := trim{}.dropping(2, 5, 6, 7, 9, 12, 14, 15, 16, 17, 19, 21, 23, 25, 26, 27, 30)
	t := trim{
		volumes: {within: trim{2: {within: source}}}, containers: {within: container}, initContainers: {within: container},
		ephemeralContainers: {within: trim{1: {within: container}}.dropping(2)},
	}
	// the grace period, deadlines, DNS, the old name of the service account, security, secrets, names of hosts, readiness gates, service links
	return t.dropping(4, 5, 6, 9, 12, 13, 14, 15, 16, 17, 21, 23, 26, 27, 28, 29, 30, 35, 41, 44)
}

func podStatusTrim() trim {
	// image, imageID, containerID, started, volumeMounts, user, stopSignal
	status := rule{within: trim{}.dropping(6, 7, 8, 9, 12, 13, 15)}
	// addresses, the class of quality, ephemeral containers, observedGeneration, volumeHealth
	return trim{8: status, 10: status}.dropping(5, 6, 9, 12, 13, 16, 17, 22)
}

// apply appends a message without what is left out of it.
func (t trim) apply(to, message []byte) ([]byte, error) {
	for len(message) > 0 {
		number, kind, size, body := wire.Field(message)
		if size <= 0 {
			return to, wire.ErrBroken
		}
		whole := message[:size]
		message = message[size:]
		r, special := t[number]
		switch {
		case !special:
			to = append(to, whole...)
		case r.drop:
		case kind != wire.Delimited:
			return to, wire.ErrBroken
		case r.only != nil && !r.only(body):
		default:
			var err error
			if to, err = r.within.embed(to, number, body); err != nil {
				return to, err
			}
		}
	}
	return to, nil
}

// lengthRoom is the number of bytes that a length is written with before it is known.
const lengthRoom = 5

// embed appends a field with a message without what is left out of it.
func (t trim) embed(to []byte, number uint64, message []byte) ([]byte, error) {
	to = binary.AppendUvarint(to, number<<3|wire.Delimited)
	at := len(to)
	to = slices.Grow(to, lengthRoom+len(message))[:at+lengthRoom]
	to, err := t.apply(to, message)
	length := len(to) - at - lengthRoom
	for i := range lengthRoom { // a varint may have more bytes than it needs
		to[at+i] = byte(length>>(7*i))&0x7f | 0x80 //nolint:gosec // seven bits
	}
	to[at+lengthRoom-1] &= 0x7f
	return to, err
}
