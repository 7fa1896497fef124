package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// managerFile is cpu_manager_state or memory_manager_state, with an entry of each container. Since 1.37 the
// same content is in Data once more, with what is new.
type managerFile[E any] struct {
	PolicyName    string                     `json:"policyName"`
	DefaultCPUSet string                     `json:"defaultCpuSet"`
	Entries       map[types.UID]map[string]E `json:"entries"`
	Data          string                     `json:"data"`
}

func readManager[E any](data []byte) (*managerFile[E], error) {
	file := &managerFile[E]{}
	if err := json.Unmarshal(data, file); err != nil {
		return nil, err
	}
	if inner := file.Data; inner != "" {
		file = &managerFile[E]{}
		if err := json.Unmarshal([]byte(inner), file); err != nil {
			return nil, err
		}
	}
	if file.PolicyName == "" {
		return nil, errors.New("it names no policy")
	}
	return file, nil
}

// CheckMemory reports whether the checkpoint of the memory manager can be read. PodResources tells what is in
// it.
func CheckMemory(data []byte) error {
	_, err := readManager[[]struct {
		NUMAAffinity []int64 `json:"numaAffinity"`
		Type         string  `json:"type"`
		Size         uint64  `json:"size"`
	}](data)
	return err
}

// ParseCPUs reads the checkpoint of the CPU manager.
func ParseCPUs(data []byte) (*CPUState, error) {
	file, err := readManager[string](data)
	if err != nil {
		return nil, err
	}
	out := &CPUState{Policy: file.PolicyName}
	if out.Shared, err = ParseCPUSet(file.DefaultCPUSet); err != nil {
		return nil, err
	}
	for _, pod := range slices.Sorted(maps.Keys(file.Entries)) {
		for _, container := range slices.Sorted(maps.Keys(file.Entries[pod])) {
			cpus, err := ParseCPUSet(file.Entries[pod][container])
			if err != nil {
				return nil, err
			}
			out.Exclusive = append(out.Exclusive, cpus...)
		}
	}
	return out, nil
}

// maxCPU bounds the ids of CPUs and the length of their lists. Linux has at most 8192.
const maxCPU = 1 << 16

// ParseCPUSet reads a list of CPUs, such as 0-3,8. The kubelet's own parser makes a list of any length of a
// few characters.
func ParseCPUSet(text string) ([]int64, error) {
	var out []int64
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		low, high, isRange := strings.Cut(part, "-")
		if !isRange {
			high = low
		}
		a, errA := strconv.ParseInt(low, 10, 64)
		b, errB := strconv.ParseInt(high, 10, 64)
		if errA != nil || errB != nil || a < 0 || a > b || b >= maxCPU || len(out) > maxCPU {
			return nil, fmt.Errorf("%.40q is no list of CPUs", text)
		}
		for cpu := a; cpu <= b; cpu++ {
			out = append(out, cpu)
		}
	}
	return unique(out), nil
}

// FormatCPUSet is the reverse of ParseCPUSet, for a list that is sorted.
func FormatCPUSet(cpus []int64) string {
	var parts []string
	for i := 0; i < len(cpus); {
		j := i
		for j+1 < len(cpus) && cpus[j+1] == cpus[j]+1 {
			j++
		}
		part := strconv.FormatInt(cpus[i], 10)
		if j > i {
			part += "-" + strconv.FormatInt(cpus[j], 10)
		}
		parts = append(parts, part)
		i = j + 1
	}
	return strings.Join(parts, ",")
}
