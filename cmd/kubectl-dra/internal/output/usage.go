package output

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-dra/kubectl-dra/explain"
	"github.com/kubectl-dra/kubectl-dra/explain/admission"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/inspect/usage"
)

// Usage is an item of a UsageList: what a namespace, class, workload, driver, ClusterQueue or cohort holds
// and waits for. Of the names those are set that it is about.
type Usage struct {
	Listed
	Namespace string `json:"namespace,omitempty"`
	Class     string `json:"class,omitempty"`
	Workload  string `json:"workload,omitempty"` // Kind/name
	Driver    string `json:"driver,omitempty"`
	Model     string `json:"model,omitempty"`
	Queue     string `json:"queue,omitempty"` // a ClusterQueue
	Cohort    string `json:"cohort,omitempty"`
	// Quotas are those of the queue or cohort that devices count for.
	Quotas []explain.Quota `json:"quotas,omitempty"`
	UsageAmount
	// Drivers are the devices by driver.
	Drivers map[string]int `json:"drivers"`
	// Counters are what the partitions take.
	Counters []CounterTaken `json:"counters,omitempty"`
	Claims   UsageClaims    `json:"claims"`
	// Wanted is how many devices the refused claims ask for, at least.
	Wanted int `json:"wanted"`
	// RefusedSince and IdleSince are RFC 3339, the earliest that is known.
	RefusedSince string `json:"refusedSince,omitempty"`
	IdleSince    string `json:"idleSince,omitempty"`

	refusedFor, idleFor string
	key                 usage.Key
}

// UsageAmount counts devices that are held. Each is whole, shared or a partition.
type UsageAmount struct {
	Devices    int `json:"devices"`
	Whole      int `json:"whole"`
	Shared     int `json:"shared"`
	Partitions int `json:"partitions"`
	// Shares adds up which parts of the shared ones are held.
	Shares float64 `json:"shares"`
	// Joint are held by others too, Idle by idle claims only.
	Joint int `json:"joint"`
	Idle  int `json:"idle"`
	// Gone are no longer published, each counted once. They are not among the devices.
	Gone int `json:"gone"`
}

// CounterTaken is how much is taken of a counter of a driver.
type CounterTaken struct {
	Driver  string `json:"driver"`
	Counter string `json:"counter"`
	Taken   string `json:"taken"`
}

// UsageClaims counts claims. Those that are none of these hold devices for somebody.
type UsageClaims struct {
	Total   int `json:"total"`
	Refused int `json:"refused"`
	Idle    int `json:"idle"`
	Waiting int `json:"waiting"`
}

// UsageTotal is what a UsageList is about, each device and claim once, and all devices of the cluster beside
// it.
type UsageTotal struct {
	UsageAmount
	Claims  UsageClaims         `json:"claims"`
	Wanted  int                 `json:"wanted"`
	Cluster inspect.DeviceCount `json:"cluster"`
	// Partial says what could not be read, and so may be missing from all numbers.
	Partial []string `json:"partial,omitempty"`
	// Message says the same in one line.
	Message string `json:"message"`
}

// UsageOf lists the rows of a report.
func UsageOf(s *inspect.Snapshot, r *usage.Report) *List {
	table := usageTable
	table.Namespaced = r.By == usage.Workload
	list := NewList("UsageList", "usage", table)
	for i := range r.Rows {
		list.Items = append(list.Items, wireUsage(s, r.By, &r.Rows[i]))
	}
	list.By = string(r.By)
	list.sumUp = func(l *List) {
		kept := map[usage.Key]bool{}
		for _, item := range l.Items {
			kept[item.(*Usage).key] = true
		}
		r.Keep(func(row *usage.Row) bool { return kept[row.Key] })
		l.Usage = usageTotal(s, r)
	}
	list.Usage = usageTotal(s, r)
	return list
}

// QueueUsageOf lists the rows of a report by queue or cohort, with their quota.
func QueueUsageOf(s *inspect.Snapshot, u *admission.Usage) *List {
	list := UsageOf(s, u.Report)
	if u.Quotas == nil {
		return list
	}
	columns := slices.Clone(usageTable.Columns[:1])
	for _, c := range quotaColumns {
		columns = append(columns, c.Column)
	}
	list.Table.Columns = append(columns, usageTable.Columns[1:]...)
	list.Table.Row = func(item Item) []string {
		row, of := usageTable.Row(item), item.(*Usage)
		cells := row[:1:1]
		for _, c := range quotaColumns {
			text := quotaText(of.Quotas, c.of)
			if len(of.Quotas) == 0 && of.key.Name != "" && len(u.Partial) > 0 {
				text = "<unknown>"
			}
			cells = append(cells, text)
		}
		return append(cells, row[1:]...)
	}
	for _, item := range list.Items {
		of := item.(*Usage)
		of.Quotas = u.Quotas[of.key.Name]
	}
	sumUp := list.sumUp
	list.sumUp = func(l *List) {
		sumUp(l)
		l.Usage.Partial = append(l.Usage.Partial, u.Partial...)
	}
	list.Usage.Partial = append(list.Usage.Partial, u.Partial...)
	return list
}

func usageTotal(s *inspect.Snapshot, r *usage.Report) *UsageTotal {
	return &UsageTotal{
		UsageAmount: usageAmount(&r.Total.Amount), Wanted: r.Total.Wanted, Cluster: r.Cluster,
		Claims: usageClaims(&r.Total, r.Counted), Message: totalText(r, len(unseenHolders(s)) > 0), Partial: usagePartial(s, r),
	}
}

// usagePartial says what could not be read of what usage is counted from.
func usagePartial(s *inspect.Snapshot, r *usage.Report) []string {
	var out []string
	for _, resource := range []inspect.Resource{inspect.Claims, inspect.Slices} {
		if h := s.Health(resource); h.Partial() {
			out = append(out, cmp.Or(h.Message, string(resource)+" were not read completely"))
		}
	}
	if r.Unseen {
		out = append(out, cmp.Or(s.Health(inspect.Pods).Message, "pods were not read")+": more claims may be refused or idle, and their workloads are not known")
	}
	return out
}

func wireUsage(s *inspect.Snapshot, by usage.By, r *usage.Row) *Usage {
	u := &Usage{
		UsageAmount: usageAmount(&r.Amount), Drivers: map[string]int{}, Claims: usageClaims(r, len(r.Claims)), Wanted: r.Wanted,
		RefusedSince: Timestamp(metav1.NewTime(r.RefusedSince)), IdleSince: Timestamp(metav1.NewTime(r.IdleSince)),
		refusedFor: sinceText(r.Refused, r.RefusedSince, s.Time()), idleFor: sinceText(r.Idle, r.IdleSince, s.Time()), key: r.Key,
	}
	u.name(by, r)
	for _, d := range r.Drivers {
		u.Drivers[d.Driver] = d.Devices
	}
	for i := range r.Counters {
		c := &r.Counters[i]
		u.Counters = append(u.Counters, CounterTaken{c.Driver, c.Counter, c.Taken.String()})
	}
	return u
}

// name sets what the item is about and how it is called.
func (u *Usage) name(by usage.By, r *usage.Row) {
	switch by {
	case usage.Class:
		u.Class = r.Name
		u.Metadata.Name = cmp.Or(r.Name, "<unknown>")
	case usage.Workload:
		u.Namespace, u.Workload = r.Namespace, r.Kind+"/"+r.Name
		u.Metadata = Meta{Namespace: r.Namespace, Name: u.Workload, Aliases: []string{r.Name}}
	case usage.Driver:
		u.Driver, u.Model = r.Name, r.Model
		u.Metadata.Name = cmp.Or(r.Name, "<not-allocated>")
		if r.Model != "" {
			u.Metadata = Meta{Name: r.Name + "/" + r.Model, Aliases: []string{r.Name, r.Model}}
		}
	case usage.Queue:
		u.Queue = r.Name
		u.Metadata.Name = OrNone(r.Name)
	case usage.Cohort:
		u.Cohort = r.Name
		u.Metadata.Name = OrNone(r.Name)
	case usage.Namespace:
		u.Namespace = r.Namespace
		u.Metadata.Name = r.Namespace
	}
}

func usageAmount(a *usage.Amount) UsageAmount {
	return UsageAmount{
		Devices: a.Devices, Whole: a.Whole, Shared: a.Shared, Partitions: a.Partitions, Shares: math.Round(a.Shares*100) / 100,
		Joint: a.Joint, Idle: a.Idle, Gone: a.Gone,
	}
}

func usageClaims(r *usage.Row, total int) UsageClaims {
	return UsageClaims{Total: total, Refused: r.Refused, Idle: r.IdleClaims, Waiting: r.Waiting}
}

// sinceText is for how long some claims have been something: "" if there are none.
func sinceText(claims int, since, now time.Time) string {
	if claims == 0 {
		return ""
	}
	return cmp.Or(words.Age(since, now), "<unknown>")
}

// totalText is the total in one line. atMost says that claims are not seen which may hold devices.
func totalText(r *usage.Report, atMost bool) string {
	text := fmt.Sprintf("%s held, %d of them idle%s; %s refused", words.Count(r.Total.Devices, "device"), r.Total.Idle, words.GoneToo(r.Total.Gone),
		words.Count(r.Total.Refused, "claim"))
	if r.Total.Wanted > 0 {
		text += fmt.Sprintf(", waiting for %s", words.Count(r.Total.Wanted, "device"))
	}
	if r.Unseen {
		text += "; more may be idle or refused, for not all pods were read"
	}
	bound := ""
	if atMost && r.Cluster.Free > 0 {
		bound = "≤"
	}
	return text + fmt.Sprintf("; in the cluster %d are used, %s%s", r.Cluster.Used, bound, words.FreeOf(r.Cluster))
}

// driversText also says how many devices are held that no driver publishes any more.
func (u *Usage) driversText() string {
	switch text := countsByDriver(u.Drivers); {
	case u.Gone == 0:
		return text
	case len(u.Drivers) == 0:
		return fmt.Sprintf("%d gone", u.Gone)
	default:
		return fmt.Sprintf("%s, %d gone", text, u.Gone)
	}
}

var usageTable = Table{
	Columns: []Column{
		{Header: "NAME"}, {Header: "DEVICES"}, {Header: "IDLE"}, {Header: "IDLE-FOR", Rank: 2}, {Header: "REFUSED"}, {Header: "WANTED", Rank: 3}, {Header: "REFUSED-FOR", Rank: 4},
		{Header: "DRIVERS", Cut: CutText, Least: 20, Rank: 1},
		{Header: "WHOLE", Wide: true}, {Header: "SHARED", Wide: true}, {Header: "SHARES", Wide: true}, {Header: "PARTITIONS", Wide: true}, {Header: "COUNTERS", Wide: true},
		{Header: "JOINT", Wide: true}, {Header: "GONE", Wide: true}, {Header: "CLAIMS", Wide: true},
	},
	Row: func(item Item) []string {
		u := item.(*Usage)
		counters := words.Each(u.Counters, func(c CounterTaken) string { return c.Counter + " " + c.Taken })
		return []string{
			u.Metadata.Name, strconv.Itoa(u.Devices), strconv.Itoa(u.Idle), OrNone(u.idleFor), strconv.Itoa(u.Claims.Refused), strconv.Itoa(u.Wanted), OrNone(u.refusedFor),
			u.driversText(), strconv.Itoa(u.Whole), strconv.Itoa(u.Shared), strconv.FormatFloat(u.Shares, 'f', -1, 64), strconv.Itoa(u.Partitions), OrNone(strings.Join(counters, ", ")),
			strconv.Itoa(u.Joint), strconv.Itoa(u.Gone), strconv.Itoa(u.Claims.Total),
		}
	},
}
