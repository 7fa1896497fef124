package flip_test

import (
	"bytes"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/flip"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/history"
	"github.com/kubectl-dra/kubectl-dra/inspect/manifest"
	"github.com/kubectl-dra/kubectl-dra/internal/effort"
)

var (
	ctx     = context.Background()
	begin   = time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	subject = explain.Subject{Kind: "ResourceClaim", Namespace: "ml", Name: "subject"}
)

const wanted = 3 // devices of the model that the subject wants

// edit is a change of one object.
type edit func(o *inspect.Objects)

// device is the name of a device that the subject wants.
func device(i int) string { return fmt.Sprintf("gpu-%d", i) }

// cluster has devices of two models, claims that come and go, and the subject, which waits for a device of
// the first model.
func cluster() *inspect.Objects {
	o := &inspect.Objects{Classes: []*resourcev1.DeviceClass{class(`device.driver == "d"`)}}
	for i := range wanted {
		o.Slices = append(o.Slices, sliceOf(i, "wanted"), sliceOf(wanted+i, "other"))
	}
	for i := range 2 * wanted {
		o.Nodes = append(o.Nodes, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeOf(i)}})
		o.Claims = append(o.Claims, claim(holder(i), ""))
		o.Pods = append(o.Pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i), Namespace: "ml"}, Spec: corev1.PodSpec{NodeName: nodeOf(i)}})
	}
	o.Claims = append(o.Claims, claim(subject.Name, `device.attributes["d"].model == "wanted"`))
	return o
}

func nodeOf(i int) string { return fmt.Sprintf("n%d", i) }
func holder(i int) string { return fmt.Sprintf("holder-%d", i) }

func class(selector string) *resourcev1.DeviceClass {
	return &resourcev1.DeviceClass{ObjectMeta: metav1.ObjectMeta{Name: "gpu"}, Spec: resourcev1.DeviceClassSpec{
		Selectors: []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector}}},
	}}
}

func sliceOf(i int, model string) *resourcev1.ResourceSlice {
	return &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "slice-" + nodeOf(i)}, Spec: resourcev1.ResourceSliceSpec{
		Driver: "d", NodeName: new(nodeOf(i)), Pool: resourcev1.ResourcePool{Name: nodeOf(i), ResourceSliceCount: 1},
		Devices: []resourcev1.Device{{Name: device(i), Attributes: map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"model": {StringValue: new(model)}}}},
	}}
}

func claim(name, selector string) *resourcev1.ResourceClaim {
	request := &resourcev1.ExactDeviceRequest{DeviceClassName: "gpu", AllocationMode: resourcev1.DeviceAllocationModeExactCount, Count: 1}
	if selector != "" {
		request.Selectors = []resourcev1.DeviceSelector{{CEL: &resourcev1.CELDeviceSelector{Expression: selector}}}
	}
	return &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "ml"},
		Spec:       resourcev1.ResourceClaimSpec{Devices: resourcev1.DeviceClaim{Requests: []resourcev1.DeviceRequest{{Name: "r", Exactly: request}}}},
	}
}

// take gives a device to a claim; free takes it back.
func take(i int) edit {
	return update(func(o *inspect.Objects) *[]*resourcev1.ResourceClaim { return &o.Claims }, holder(i), func(c *resourcev1.ResourceClaim) {
		c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{
			{Request: "r", Driver: "d", Pool: nodeOf(i), Device: device(i)},
		}}}
	})
}

func free(i int) edit {
	return update(func(o *inspect.Objects) *[]*resourcev1.ResourceClaim { return &o.Claims }, holder(i), func(c *resourcev1.ResourceClaim) { c.Status.Allocation = nil })
}

// object is a pointer to an API object.
type object[T any] interface {
	*T
	metav1.Object
	DeepCopy() *T
}

// update changes a copy of an object.
func update[T any, P object[T]](list func(*inspect.Objects) *[]P, name string, change func(P)) edit {
	return func(o *inspect.Objects) {
		all := slices.Clone(*list(o))
		i := slices.IndexFunc(all, func(p P) bool { return p.GetName() == name })
		if i < 0 {
			return
		}
		all[i] = all[i].DeepCopy()
		change(all[i])
		*list(o) = all
	}
}

// killers are changes of one object each after which the subject fits nowhere, when only one device is left
// for it.
var killers = map[string]edit{
	"DeviceClass gpu": func(o *inspect.Objects) { o.Classes = nil },
	"DeviceTaintRule bad": func(o *inspect.Objects) {
		o.TaintRules = append(slices.Clone(o.TaintRules), &resourcev1.DeviceTaintRule{ObjectMeta: metav1.ObjectMeta{Name: "bad"}, Spec: resourcev1.DeviceTaintRuleSpec{
			DeviceSelector: &resourcev1.DeviceTaintSelector{Driver: new("d")}, Taint: resourcev1.DeviceTaint{Key: "k", Effect: resourcev1.DeviceTaintEffectNoSchedule},
		}})
	},
	"ResourceClaim holder-0": take(0),
	"ResourceSlice slice-n0": func(o *inspect.Objects) {
		o.Slices = slices.DeleteFunc(slices.Clone(o.Slices), func(s *resourcev1.ResourceSlice) bool { return s.Name == "slice-n0" })
	},
	"DeviceClass gpu (selector)": func(o *inspect.Objects) { o.Classes = []*resourcev1.DeviceClass{class("false")} },
}

// noise changes what does not decide: devices of the other model come and go, and of the model that is wanted
// those but one; labels change; pods come and go.
func noise(r *rand.Rand, n int) edit {
	switch r.IntN(6) {
	case 0:
		return take(wanted + r.IntN(wanted))
	case 1:
		return free(wanted + r.IntN(wanted))
	case 2:
		return take(1 + r.IntN(wanted-1))
	case 3:
		return update(func(o *inspect.Objects) *[]*corev1.Node { return &o.Nodes }, nodeOf(r.IntN(2*wanted)), func(p *corev1.Node) { p.Labels = map[string]string{"n": fmt.Sprint(n)} })
	case 4:
		return update(func(o *inspect.Objects) *[]*corev1.Pod { return &o.Pods }, fmt.Sprintf("pod-%d", r.IntN(2*wanted)), func(p *corev1.Pod) { p.Labels = map[string]string{"n": fmt.Sprint(n)} })
	}
	return func(o *inspect.Objects) {
		o.Claims = append(slices.Clone(o.Claims), claim(fmt.Sprintf("made-%d", n), ""))
		if n%3 == 0 || len(o.Claims) > 30 {
			o.Claims = slices.DeleteFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Name[0] == 'm' })
		}
	}
}

// past is a history: of each moment its objects.
type past []inspect.Objects

func (p past) snapshot(i int) *inspect.Snapshot {
	o := p[i]
	for _, k := range inspect.Kinds() {
		inspect.SetObjects(&o, k, k.Objects(&o))
	}
	return inspect.New(o, config(i))
}

func config(i int) inspect.Config {
	return inspect.Config{Revision: int64(i), Time: begin.Add(time.Duration(i) * time.Second), Features: inspect.DefaultFeatures(inspect.NewestMinor)}
}

// random is a history of so many changes, in which the subject fits until one of them.
func random(seed uint64, changes int) (p past, planted int, culprit string) {
	r := rand.New(rand.NewPCG(seed, 7)) //nolint:gosec // repeatable
	names := make([]string, 0, len(killers))
	for name := range killers {
		names = append(names, name)
	}
	slices.Sort(names)
	culprit, planted = names[r.IntN(len(names))], 1+r.IntN(changes-1)
	o := *cluster()
	p = append(p, o)
	for i := 1; i <= changes; i++ {
		switch {
		case i == planted:
			killers[culprit](&o)
		case i > planted-wanted && i < planted: // so that one is left
			take(planted - i)(&o)
		default:
			noise(r, i)(&o)
		}
		p = append(p, o)
	}
	return p, planted, culprit
}

// TestPlanted: of 10,000 changes the one is found after which the subject fits no longer, by at most 20
// verdicts.
func TestPlanted(t *testing.T) {
	const changes, mostAsked = 10_000, 20
	histories := effort.Of(100, 25)
	found, most := 0, 0
	for seed := range uint64(histories) {
		p, planted, culprit := random(seed, changes)
		end := p.snapshot(len(p) - 1)
		j := flip.NewJudge(end, subject)
		if v, err := j.Verdict(ctx, end); err != nil || flip.Fits(v) {
			t.Fatalf("history %d: at its end it is %s, %v", seed, v, err)
		}
		last, err := flip.Last(ctx, len(p), func(ctx context.Context, i int) (bool, error) {
			v, err := j.Verdict(ctx, p.snapshot(i))
			return flip.Fits(v), err
		})
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, j.Asked)
		if last != planted-1 {
			t.Errorf("history %d: it fitted last at %d, and was to fit until %d", seed, last, planted-1)
			continue
		}
		step, err := flip.NewStep(p.snapshot(last), p.snapshot(last+1))
		if err != nil {
			t.Fatal(err)
		}
		c, err := j.Culprits(ctx, step, explain.Allocatable, explain.Unsatisfiable, nil, 100)
		if err != nil || len(c.Changes) != 1 || !c.Undoing || names(c.Changes)[0]+suffix(culprit) != culprit {
			t.Errorf("history %d: culprits %v, %v, want %s", seed, names(c.Changes), err, culprit)
			continue
		}
		if most = max(most, j.Asked); j.Asked > mostAsked {
			t.Errorf("history %d: asked %d times", seed, j.Asked)
		}
		found++
	}
	t.Logf("found %d of %d, with at most %d verdicts", found, histories, most)
}

func suffix(culprit string) string {
	if culprit[len(culprit)-1] == ')' {
		return " (selector)"
	}
	return ""
}

func names(changes []flip.Change) []string {
	var out []string
	for _, c := range changes {
		if c.Change == nil {
			out = append(out, "release")
			continue
		}
		out = append(out, c.Kind.Name+" "+c.Object().GetName())
	}
	return out
}

// TestPlantedInLog: the same of a log that was recorded.
func TestPlantedInLog(t *testing.T) {
	for seed := range uint64(effort.Of(10, 1)) {
		p, planted, culprit := random(1000+seed, effort.Of(10_000, 2000))
		r := history.NewRecorder(history.Bounds{}, time.Time{})
		var data []byte
		var s *inspect.Snapshot
		moments := 0
		for i := range p {
			if s == nil {
				s = inspect.New(p[i], config(i))
			} else {
				s = s.Next(p[i], config(i))
			}
			if err := r.Take(s); err != nil {
				t.Fatal(err)
			}
			if i%50 == 0 || i == len(p)-1 {
				blocks, err := r.Flush(s.Time())
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range blocks {
					data, moments = append(data, b.Data...), moments+int(b.Moments)
				}
			}
		}
		l, err := history.Open(bytes.NewReader(data), int64(len(data)), "log", manifest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		end, err := l.Snapshot(ctx, l.Moments()-1)
		if err != nil {
			t.Fatal(err)
		}
		j := flip.NewJudge(end, subject)
		last, err := flip.Last(ctx, l.Moments(), func(ctx context.Context, i int) (bool, error) {
			s, err := l.Snapshot(ctx, i)
			if err != nil {
				return false, err
			}
			v, err := j.Verdict(ctx, s)
			return flip.Fits(v), err
		})
		if err != nil {
			t.Fatal(err)
		}
		when, err := l.Time(ctx, last+1)
		if err != nil || !when.Equal(config(planted).Time) {
			t.Errorf("log %d: the change is at %s, %v, want %s by %s", seed, when, err, config(planted).Time, culprit)
		}
		if j.Asked > 19 {
			t.Errorf("log %d: asked %d times", seed, j.Asked)
		}
	}
}

// TestLast: whatever the history, what is found is a moment that fits before one that does not, and if there
// is one among those that are looked at, one is found.
func TestLast(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // repeatable
	for range 20_000 {
		fits := make([]bool, 1+r.IntN(300))
		for state, i := r.IntN(2) == 0, 0; i < len(fits)-1; i++ {
			if r.IntN(40) == 0 {
				state = !state
			}
			fits[i] = state
		}
		asked := 0
		last, err := flip.Last(ctx, len(fits), func(_ context.Context, i int) (bool, error) { asked++; return fits[i], nil })
		if err != nil {
			t.Fatal(err)
		}
		if last >= 0 && (!fits[last] || fits[last+1]) {
			t.Fatalf("%v: %d is no flip", fits, last)
		}
		if last < 0 && fits[0] {
			t.Fatalf("%v: the first fits, and none was found", fits)
		}
		if most := 2 + bits.Len(uint(len(fits)))*4/3 + 1; asked > most {
			t.Fatalf("asked %d times of %d", asked, len(fits))
		}
		asked = 0
		more := 1 + r.IntN(100)
		later, all, err := flip.Later(ctx, len(fits), last, more, func(_ context.Context, i int) (bool, error) { asked++; return fits[i], nil })
		if err != nil || later < last || later >= 0 && (!fits[later] || fits[later+1]) || asked > more+bits.Len(uint(len(fits))) {
			t.Fatalf("%v: after %d comes %d, %v; asked %d times of %d", fits, last, later, err, asked, more)
		}
		if want := len(fits)-2-last <= more; all != want || all && slices.Contains(fits[later+1:], true) {
			t.Fatalf("%v: %d is the last, all is %t, want %t", fits, later, all, want)
		}
	}
	for _, n := range []int{10_000, 10_001} {
		for planted := range n - 1 {
			asked := 1 // the end
			last, _ := flip.Last(ctx, n, func(_ context.Context, i int) (bool, error) { asked++; return i <= planted, nil })
			if last != planted || asked > 20 {
				t.Fatalf("planted %d: found %d, asked %d times", planted, last, asked)
			}
		}
	}
}

// TestCulprits: among hundreds of objects that changed at once, those are found that flip the verdict.
func TestCulprits(t *testing.T) {
	for name, test := range map[string]struct {
		kills   []edit
		want    []string
		undoing bool
	}{
		"one":         {[]edit{take(1), take(2), killers["ResourceSlice slice-n0"]}, []string{"ResourceClaim holder-1", "ResourceClaim holder-2", "ResourceSlice slice-n0"}, true},
		"class":       {[]edit{killers["DeviceClass gpu"]}, []string{"DeviceClass gpu"}, true},
		"together":    {[]edit{take(0), take(1), take(2)}, []string{"ResourceClaim holder-0", "ResourceClaim holder-1", "ResourceClaim holder-2"}, true},
		"two reasons": {[]edit{killers["DeviceTaintRule bad"], killers["DeviceClass gpu"]}, []string{"DeviceClass gpu"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 3)) //nolint:gosec // repeatable
			o := *cluster()
			before := past{o}.snapshot(0)
			for i := range 400 {
				if e := noise(r, 3*i+1); i%6 != 2 {
					e(&o)
				}
			}
			for i := range wanted {
				free(i)(&o)
			}
			for i := range 300 {
				o.Claims = append(o.Claims, claim(fmt.Sprintf("new-%d", i), ""))
			}
			for _, kill := range test.kills {
				kill(&o)
			}
			after := past{o}.snapshot(0)
			step, err := flip.NewStep(before, after)
			if err != nil {
				t.Fatal(err)
			}
			j := flip.NewJudge(after, subject)
			c, err := j.Culprits(ctx, step, explain.Allocatable, explain.Unsatisfiable, nil, 200)
			if err != nil {
				t.Fatal(err)
			}
			got := names(c.Changes)
			if slices.Sort(got); !slices.Equal(got, test.want) || c.Undoing != test.undoing {
				t.Errorf("of %d changes, %v, undoing %v; want %v", len(step.Changes), got, c.Undoing, test.want)
			}
			if most := 4 + 12*len(test.want); j.Asked > most {
				t.Errorf("asked %d times", j.Asked)
			}
			again, err := j.Culprits(ctx, step, explain.Allocatable, explain.Unsatisfiable, []flip.Culprits{c}, 20)
			if err != nil || !slices.Equal(again.Changes, c.Changes) {
				t.Errorf("what is known is not taken: %v, %v", names(again.Changes), err)
			}
			tooMany := flip.Culprits{Changes: append(slices.Clone(step.Changes[len(step.Changes)-1:]), c.Changes...)}
			again, err = j.Culprits(ctx, step, explain.Allocatable, explain.Unsatisfiable, []flip.Culprits{tooMany}, 200)
			if got := names(again.Changes); err != nil || len(got) != len(test.want) {
				t.Errorf("of what is known not all is needed, and it is taken: %v, %v", got, err)
			}
		})
	}
}

// TestRelease: what is no object is a culprit too.
func TestRelease(t *testing.T) {
	o := *cluster()
	before := past{o}.snapshot(0)
	c := config(0)
	c.Health = map[inspect.Resource]inspect.Health{inspect.Claims: {State: inspect.Broken, Message: "m"}}
	step, err := flip.NewStep(before, inspect.New(*cluster(), c))
	if err != nil {
		t.Fatal(err)
	}
	if got := names(step.Changes); !slices.Equal(got, []string{"release"}) {
		t.Errorf("it was %v", got)
	}
}

// TestNotRead: what is missing where it could not be read is not told to be gone, nor new.
func TestNotRead(t *testing.T) {
	full := past{*cluster()}.snapshot(0)
	claims := len(full.Objects().Claims)
	for _, test := range []struct {
		health inspect.Health
		told   bool
	}{
		{inspect.Health{State: inspect.Synced}, true},
		{inspect.Health{State: inspect.Forbidden, Message: "m"}, false},
		{inspect.Health{State: inspect.Narrowed, Namespaces: []string{"elsewhere"}}, false},
		{inspect.Health{State: inspect.Narrowed, Namespaces: []string{full.Objects().Claims[0].Namespace}}, true},
	} {
		c, o := config(0), *cluster()
		c.Health = map[inspect.Resource]inspect.Health{inspect.Claims: test.health}
		o.Claims = nil
		less := inspect.New(o, c)
		for _, back := range []bool{false, true} {
			before, after := full, less
			if back {
				before, after = less, full
			}
			d, err := flip.Compare(ctx, before, after)
			if err != nil {
				t.Fatal(err)
			}
			told := 0
			for _, f := range slices.Concat(d.Gone, d.Made) {
				if f.Subject.Kind == "ResourceClaim" {
					told++
				}
			}
			counted := slices.ContainsFunc(d.Counts, func(n flip.Count) bool { return n.Kind.Resource == inspect.Claims })
			if (told == claims) != test.told || (told == 0) == test.told || counted != test.told {
				t.Errorf("%+v, back %t: %d of %d claims, counted %t", test.health, back, told, claims, counted)
			}
		}
	}
}

// TestBoundWithoutDevices: a pod that is on a node has not what it asks for while its claims have no devices.
func TestBoundWithoutDevices(t *testing.T) {
	o := *cluster()
	pod := o.Pods[0].DeepCopy()
	pod.Name, pod.Spec.ResourceClaims = "bound", []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new(holder(0))}}
	o.Pods = append(o.Pods, pod)
	before := past{o}.snapshot(0)
	take(0)(&o)
	d, err := flip.Compare(ctx, before, past{o}.snapshot(0))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(d.Flips, func(f flip.Flip) bool { return f.Subject.Name == "bound" })
	if i < 0 || d.Flips[i].Before == explain.Allocated || d.Flips[i].After != explain.Allocated || len(d.Flips[i].By.Changes) != 1 {
		t.Errorf("got %+v", d.Flips)
	}
}

// TestBeforeItWasMade: of a subject that was not made yet it is asked whether it would have fitted.
func TestBeforeItWasMade(t *testing.T) {
	o := *cluster()
	full := past{o}.snapshot(0)
	bare := full.With(func(o *inspect.Objects) {
		o.Claims = slices.DeleteFunc(o.Claims, func(c *resourcev1.ResourceClaim) bool { return c.Name == subject.Name })
	})
	j := flip.NewJudge(full, subject)
	if v, err := j.Verdict(ctx, bare); err != nil || v != explain.Allocatable || j.Exists(bare) {
		t.Errorf("it is %s, %v", v, err)
	}
}
