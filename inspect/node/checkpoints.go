package node

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-dra/kubectl-dra/inspect"
)

// The structs below are what the kubelet writes: the JSON of k8s.io/kubernetes v1.37.1,
// pkg/kubelet/cm/devicemanager/checkpoint, dra/state, cpumanager/state and memorymanager/state. Fields that
// are not used are left out.

// deviceFile is kubelet_internal_checkpoint. Its checksum is over names of Go types of the kubelet and is not
// verified.
type deviceFile struct {
	Data *struct {
		PodDeviceEntries []struct {
			PodUID        types.UID
			ContainerName string
			ResourceName  string
			DeviceIDs     map[int64][]string // by NUMA node; -1 is none
		}
		RegisteredDevices map[string][]string
	}
}

// ParseDevices reads the checkpoint of the device manager.
func ParseDevices(data []byte) (registered []RegisteredDevices, err error) {
	var file deviceFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.Data == nil {
		return nil, errors.New("it has no Data")
	}
	for _, resource := range slices.Sorted(maps.Keys(file.Data.RegisteredDevices)) {
		registered = append(registered, RegisteredDevices{resource, unique(file.Data.RegisteredDevices[resource])})
	}
	return registered, nil
}

// claimFile is dra_manager_state.
type claimFile struct {
	Data     *string // JSON of claimData
	Checksum uint32
}

type claimData struct {
	ClaimInfoStateList []struct {
		ClaimUID    types.UID
		ClaimName   string
		Namespace   string
		PodUIDs     map[types.UID]struct{}
		DriverState map[string]struct {
			Devices []struct {
				PoolName, DeviceName       string
				ShareID                    *string
				RequestNames, CDIDeviceIDs []string
			}
		}
	}
}

// ParseClaims reads the checkpoint of prepared claims.
func ParseClaims(data []byte) ([]PreparedClaim, error) {
	var file claimFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	if file.Data == nil {
		return nil, errors.New("it has no Data")
	}
	if sum := crc32.ChecksumIEEE([]byte(*file.Data)); sum != file.Checksum {
		return nil, fmt.Errorf("its checksum is %d, that of its content %d: the kubelet does not start with it", file.Checksum, sum)
	}
	var content claimData
	if err := json.Unmarshal([]byte(*file.Data), &content); err != nil {
		return nil, err
	}
	var out []PreparedClaim
	for _, e := range content.ClaimInfoStateList {
		c := PreparedClaim{Claim: inspect.ClaimRef{Namespace: e.Namespace, Name: e.ClaimName}, UID: e.ClaimUID,
			Pods: slices.Sorted(maps.Keys(e.PodUIDs)), Drivers: slices.Sorted(maps.Keys(e.DriverState))}
		for _, driver := range c.Drivers {
			for _, d := range e.DriverState[driver].Devices {
				id := Device{DeviceID: inspect.DeviceID{Driver: driver, Pool: d.PoolName, Device: d.DeviceName}}
				if d.ShareID != nil {
					id.Share = *d.ShareID
				}
				c.Devices = append(c.Devices, PreparedDevice{id, unique(d.CDIDeviceIDs)})
			}
		}
		slices.SortStableFunc(c.Devices, func(a, b PreparedDevice) int { return a.Compare(b.Device) })
		c.Devices = slices.CompactFunc(c.Devices, func(a, b PreparedDevice) bool { return a.Device == b.Device })
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b PreparedClaim) int {
		return cmp.Or(a.Claim.Compare(b.Claim), cmp.Compare(a.UID, b.UID))
	})
	return out, nil
}

// Compare orders devices by driver, pool, name and share.
func (d Device) Compare(e Device) int {
	return cmp.Or(d.DeviceID.Compare(e.DeviceID), cmp.Compare(d.Share, e.Share))
}

// unique returns the values sorted, each once.
func unique[T cmp.Ordered](in []T) []T { return slices.Compact(slices.Sorted(slices.Values(in))) }
