package quantity

import (
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"1": "1", "10Gi": "10Gi", "-5m": "-5m", "1e18": "1e18", "1E3": "1e3", ".5": "500m", "1e-3": "1e-3",
		"5E": "5E", "1e999": "1e999", "1e-999": "1n", "1e0000000003": "1e3",
	} {
		q, err := Parse(text)
		if err != nil || q.Cmp(resource.MustParse(want)) != 0 {
			t.Errorf("Parse(%q) = %s, %v; want %s", text, q.String(), err, want)
		}
	}
	for _, text := range []string{"", "x", "1e", "1ee5", "1e5x", "--5e2000000000", "1 Gi"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("Parse(%q) gives no error", text)
		}
	}
}

func TestUnbounded(t *testing.T) {
	for _, text := range []string{
		"1e-2000000000", "1e2147483647", "1E+999999999", "-1e-999999999", "+.5e1000", "00000001e-2000000000",
		"e2147483647", "-E999999999", " +e1000", "1e4294965296" /* cut off to -2000 */, strings.Repeat("9", 1<<20), "." + strings.Repeat("9", 1<<20), " 1e-2000000000\n",
	} {
		began := time.Now()
		if _, err := Parse(text); !errors.Is(err, ErrUnbounded) {
			t.Errorf("Parse(%.20q) gives %v", text, err)
		}
		if d := time.Since(began); d > 20*time.Second { // thousandths of a second on a quiet machine
			t.Errorf("Parse(%.20q) took %v", text, d)
		}
		if !Suspect([]byte(`{"a":"` + text + `"}`)) {
			t.Errorf("%.20q is not suspect", text)
		}
	}
}

func TestReplace(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"nothing to replace":               {`{"a":"10Gi","uid":"61e23456-1e99-4e12-9e99-5e1234567890"}`, ""},
		"string":                           {`{"a":["1e-2000000000"]}`, `{"a":["out of range: 1e-2000000000"]}`},
		"number":                           {`{"a":1e-2000000000}`, `{"a":"out of range: 1e-2000000000"}`},
		"escaped":                          {`{"a":"1\u0065-2000000000"}`, `{"a":"out of range: 1e-2000000000"}`},
		"hidden by a second key":           {`{"a":{"m":"1e-2000000000","m":"1"}}`, `"out of range"`},
		"hidden beside one that is not":    {`{"m":1e-2000000000,"m":[{"x":"1e-2000000000"}]}`, `"out of range"`},
		"hidden in what is overwritten":    {`{"m":{"n":["1e-2000000000"]},"m":{}}`, `"out of range"`},
		"a key that looks like a quantity": {`{"1e-2000000000":{"1e-2000000000":[{"1e-2000000000":1}]},"a":"1e-2000000000"}`, `{"1e-2000000000":{"1e-2000000000":[{"1e-2000000000":1}]},"a":"out of range: 1e-2000000000"}`},
		"not JSON":                         {`{"a":"1e-2000000000"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Replace([]byte(test.in))); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// Whatever is Bounded is parsed in time, and what Suspect passes holds nothing that is not.
func FuzzBounded(f *testing.F) {
	for _, seed := range []string{"1e-2000000000", "10Gi", "1e4294965296", "+-5E3", "0x1p9"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !Bounded(text) {
			if !Suspect([]byte(text)) {
				t.Errorf("%q is not suspect", text)
			}
			return
		}
		began := time.Now()
		if q, err := resource.ParseQuantity(strings.TrimSpace(text)); err == nil {
			_ = q.String() + q.AsDec().String()
			_ = q.Cmp(resource.MustParse("1"))
		}
		if d := time.Since(began); d > 20*time.Second {
			t.Errorf("%q took %v", text, d)
		}
	})
}
