package listing

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/tui/widget"
)

// disk is a row for tests.
type disk struct {
	name, size string
	bytes      float64 // 0 is unknown
}

var disks = []disk{{"fast-1", "2Ti", 2 << 40}, {"fast-10", "100Gi", 100 << 30}, {"slow", "unknown", 0}, {"f-a-s-t", "1k", 1000}}

func diskConfig() *Config[disk] {
	return &Config[disk]{Noun: "disks", Columns: []Column[disk]{
		{Column: widget.Column{Title: "NAME"}, Cell: func(d *disk) styled.Line { return styled.Text(styled.Name, d.name) }},
		{
			Column: widget.Column{Title: "SIZE"}, Cell: func(d *disk) styled.Line { return styled.Text(styled.Plain, d.size) },
			Amount: func(d *disk) (float64, bool) { return d.bytes, d.bytes > 0 },
		},
	}}
}

func TestFilters(t *testing.T) {
	tests := map[string]string{
		"":                     "fast-1 fast-10 slow f-a-s-t",
		"FAST":                 "fast-1 fast-10", // as it was typed, where anything has it so
		"fs1":                  "fast-1 fast-10", // with characters left out, where nothing has
		"!fast":                "slow f-a-s-t",
		"!fs1":                 "fast-1 fast-10 slow f-a-s-t", // what is only like it is not meant
		"name=fast-1":          "fast-1 fast-10",
		"name=fast !name=10":   "fast-1",
		"size>=100Gi":          "fast-1 fast-10",
		"size>100Gi":           "fast-1",
		"size<=1k":             "f-a-s-t",
		"size<2Ti":             "fast-10 f-a-s-t",
		"!size<2Ti":            "fast-1 slow", // what is not known is not smaller
		"size>=1e3":            "fast-1 fast-10 f-a-s-t",
		"size=unk":             "slow",
		"size>large name=slow": "", // no number, and no text of a row either
		"name>5":               "", // the column has no numbers
		"zzz":                  "",
	}
	for filter, want := range tests {
		a := arrange(diskConfig(), disks, order{filter: filter, sort: -1, grouping: -1})
		var got []string
		for _, item := range a.items {
			got = append(got, disks[item.row].name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q shows %q, want %q", filter, got, want)
		}
	}
}

// A filter hides rows, but what a heading says of its group stays true.
func TestHeadingsUnderAFilter(t *testing.T) {
	config := diskConfig()
	config.Groupings = []Grouping[disk]{
		{Name: "first letter", Of: func(d *disk) string { return d.name[:1] }, Heading: func(_ string, rows []*disk) styled.Line {
			sum := 0.0
			for _, d := range rows {
				sum += d.bytes
			}
			return styled.Text(styled.Plain, fmt.Sprint(sum))
		}},
		{Name: "unknown", Of: func(d *disk) string { return strconv.FormatBool(d.bytes == 0) }},
	}
	for _, test := range []struct {
		filter   string
		grouping int
		want     string
	}{
		{"", 0, "2.306397438952e+12|0"},
		{"fast-10", 0, "2.306397438952e+12  (1 shown)"},
		{"slow", 0, "0"},
		{"name=fast", 1, "false  3  (2 shown)"},
	} {
		a := arrange(config, disks, order{filter: test.filter, sort: 0, desc: true, grouping: test.grouping})
		var got []string
		for _, head := range a.heads {
			got = append(got, head.String())
		}
		if strings.Join(got, "|") != test.want {
			t.Errorf("%q: headings %q, want %q", test.filter, got, test.want)
		}
	}
}

// A filter that lets nothing pass because it was not understood says so.
func TestFiltersThatWereNotUnderstood(t *testing.T) {
	for filter, want := range map[string]string{
		"zzz": "", "name=zzz": "", "size>3Ti": "",
		"price=1": `no column is called "price"; columns are name, size`, "fast !price>1 zzz": `no column is called "price"; columns are name, size`,
		"siez=1k": `no column is called "siez" (did you mean size?); columns are name, size`,
		"f=s":     `no column is called "f"; columns are name, size`, // although f-a-s-t is like it
		"name>5":  "name has no numbers", "size>large": `"large" is no number`, "size>=": `"" is no number`,
	} {
		a := arrange(diskConfig(), disks, order{filter: filter, sort: -1, grouping: -1})
		if a.shown != 0 || a.hint != want {
			t.Errorf("%q shows %d rows and says %q, want %q", filter, a.shown, a.hint, want)
		}
	}
}

// Where a word that was not understood hides nothing, that is said as well.
func TestFilterThatHidesNothing(t *testing.T) {
	l := New(*diskConfig())
	l.now, l.built = arrange(diskConfig(), disks, order{filter: "!nme=slow", sort: -1, grouping: -1}), true
	if got := l.State().Arrangement; l.now.shown != len(disks) || got != `no column is called "nme" (did you mean name?); columns are name, size` {
		t.Errorf("%d rows, %q", l.now.shown, got)
	}
	config := diskConfig()
	config.Extra = func(d *disk) string { return "speed=high" }
	for _, filter := range []string{"speed=high", "speed=low"} { // what rows are searched for besides columns
		if a := arrange(config, disks, order{filter: filter, sort: -1, grouping: -1}); a.hint != "" {
			t.Errorf("%q: %s", filter, a.hint)
		}
	}
}
