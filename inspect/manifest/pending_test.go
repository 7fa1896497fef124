package manifest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// TestManyObjects reads more objects than are gathered at once, some of them unusual, on one thread and on
// eight: nothing may depend on who prepares what.
func TestManyObjects(t *testing.T) {
	lines := make([]string, 2*maxPending+10)
	for i := range lines {
		name, kind, driver := fmt.Sprintf(`"name":"s%d"`, i), "ResourceSlice", "gpu.example.com"
		switch {
		case i%101 == 1: // without a name
			name = `"generateName":"made-"`
		case i%103 == 2: // given before, and different
			name, driver = fmt.Sprintf(`"name":"s%d"`, i-2), "nic.example.com"
		case i%107 == 3: // not read
			kind = "Gadget"
		case i%109 == 4: // refused by the API server
			driver = "no driver"
		}
		lines[i] = fmt.Sprintf(`{"apiVersion":"resource.k8s.io/v1","kind":%q,"metadata":{%s},"spec":{"driver":%q,"pool":{"name":"p%d","resourceSliceCount":1},"allNodes":true,"devices":[]}}`,
			kind, name, driver, i)
	}
	alike := func(t *testing.T) (*Result, error) {
		t.Helper()
		list := "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n" + strings.Join(lines, ",\n") + "\n]}"
		alone, errAlone := onThreads(1, list)
		together, err := onThreads(8, list)
		if diff := cmp.Diff(alone, together, cmpopts.IgnoreUnexported(Result{})); diff != "" {
			t.Errorf("result (-on one thread +on eight):\n%s", diff)
		}
		if fmt.Sprint(errAlone) != fmt.Sprint(err) {
			t.Errorf("error on one thread: %v, on eight: %v", errAlone, err)
		}
		return together, err
	}

	result, err := alike(t)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(result.Objects.Slices); n < 2*maxPending-100 || len(result.Warnings) < 70 || result.Skipped["resource.k8s.io/v1 Gadget"] < 30 {
		t.Errorf("%d slices, %d warnings, skipped %v", n, len(result.Warnings), result.Skipped)
	}

	// The first of several mistakes is told, wherever it stands and whatever kind it is.
	lines[maxPending+5] = strings.Replace(lines[maxPending+5], `"devices":[]`, `"devices":7`, 1)
	lines[maxPending+6] = `"no object"`
	want := fmt.Sprintf("f:%d:", maxPending+5+2)
	if _, err := alike(t); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func onThreads(n int, data string) (*Result, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return ReadBytes("f", []byte(data), Options{})
}
