package inspect

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNamesInJSON reads back what JSON has of names, and refuses what is no name.
func TestNamesInJSON(t *testing.T) {
	type names struct {
		Claim  ClaimRef
		Pod    PodRef
		Device DeviceID
	}
	want := names{ClaimRef{"ml", "train-0"}, PodRef{"ml", "train-0-abc"}, DeviceID{"gpu.example.com", "rack-1/node-1", "gpu-0"}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if wanted := `{"Claim":"ml/train-0","Pod":"ml/train-0-abc","Device":"gpu.example.com/rack-1/node-1/gpu-0"}`; string(text) != wanted {
		t.Errorf("got %s, want %s", text, wanted)
	}
	var got names
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	for _, text := range []string{`{"Claim":"train-0"}`, `{"Pod":""}`, `{"Device":"gpu-0"}`, `{"Device":"gpu.example.com/gpu-0"}`} {
		if err := json.Unmarshal([]byte(text), &names{}); err == nil {
			t.Errorf("%s is read without an error", text)
		}
	}
}
