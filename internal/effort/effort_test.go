package effort

import "testing"

func TestOf(t *testing.T) {
	for _, test := range []struct {
		value string
		want  int
	}{{"", 10}, {"all", 1000}, {"more", 40}, {"some", 10}} {
		t.Setenv(Variable, test.value)
		if got := Of(1000, 10); got != test.want {
			t.Errorf("with %s=%q: %d, want %d", Variable, test.value, got, test.want)
		}
		if got := Usual(); got != (test.want == 10) {
			t.Errorf("with %s=%q: usual %v", Variable, test.value, got)
		}
	}
}
