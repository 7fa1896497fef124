package objects

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-dra/kubectl-dra/explain/styled"
	"github.com/kubectl-dra/kubectl-dra/explain/words"
	"github.com/kubectl-dra/kubectl-dra/inspect"
	"github.com/kubectl-dra/kubectl-dra/tui/listing"
	"github.com/kubectl-dra/kubectl-dra/tui/screen"
)

// plainNumber is a column of numbers that are neither good nor bad.
func plainNumber[T any](title string, of func(row *T) int) listing.Column[T] {
	return number(title, styled.Plain, of)
}

// counts are the columns that count devices.
func counts[T any](of func(row *T) *inspect.DeviceCount) []listing.Column[T] {
	return []listing.Column[T]{
		plainNumber("DEVICES", func(row *T) int { return of(row).Total }),
		ranked(1, number("USED", styled.Used, func(row *T) int { return of(row).Used })),
		number("FREE", styled.Good, func(row *T) int { return of(row).Free }),
		ranked(4, unusable(of)),
	}
}

// unusable is the column of the devices that nobody uses and nobody can get, and of those that are used
// though they are gone.
func unusable[T any](of func(row *T) *inspect.DeviceCount) listing.Column[T] {
	c := text("UNUSABLE", func(row *T) string { return words.Unusable(*of(row)) })
	amount := func(row *T) int { return of(row).Unusable() + of(row).Gone }
	c.Compare = func(a, b *T) int { return amount(a) - amount(b) }
	c.Amount = func(row *T) (float64, bool) { return float64(amount(row)), true }
	return c
}

// rule is a DeviceTaintRule and what it hits.
type rule struct {
	ref           screen.Ref
	taint         string
	selects       string
	devices, held int
	age           screen.Age
}

// NewRules makes the list of DeviceTaintRules.
func NewRules(about About) screen.Screen {
	return newList(about, listing.Config[rule]{
		Noun: "rules", Resources: []inspect.Resource{inspect.TaintRules}, Build: buildRules,
		Ref: func(r *rule) screen.Ref { return r.ref },
		Columns: []listing.Column[rule]{
			name("NAME", func(r *rule) string { return r.ref.Name }),
			text("TAINT", func(r *rule) string { return r.taint }),
			ranked(2, text("SELECTS", func(r *rule) string { return r.selects })),
			number("DEVICES", styled.Warn, func(r *rule) int { return r.devices }),
			number("HELD", styled.Warn, func(r *rule) int { return r.held }),
			ranked(1, age(func(r *rule) screen.Age { return r.age })),
		},
	})
}

func buildRules(ctx context.Context, w *screen.World) ([]rule, error) {
	rules := w.Snapshot.Objects().TaintRules
	rows := make([]rule, 0, len(rules))
	for _, r := range rules {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		row := rule{
			ref:   screen.Ref{Kind: screen.TaintRule, Name: r.Name},
			taint: words.FormatTaint(&r.Spec.Taint), selects: screen.RuleSelects(w.Snapshot, r), age: w.Age(r.CreationTimestamp.Time),
		}
		for i := range w.Devices() {
			if d := &w.Devices()[i]; w.Snapshot.RuleTaints(r, d.ID) {
				row.devices++
				if d.Held() {
					row.held++
				}
			}
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// driver is a driver and its pools.
type driver struct {
	ref                  screen.Ref
	counts               inspect.DeviceCount
	pools, broken, nodes int
}

// NewDrivers makes the list of drivers that publish devices.
func NewDrivers(about About) screen.Screen {
	columns := []listing.Column[driver]{name("NAME", func(d *driver) string { return d.ref.Name })}
	columns = append(columns, counts(func(d *driver) *inspect.DeviceCount { return &d.counts })...)
	columns = append(columns,
		ranked(3, plainNumber("POOLS", func(d *driver) int { return d.pools })),
		ranked(2, number("BROKEN", styled.Bad, func(d *driver) int { return d.broken })),
		ranked(5, plainNumber("NODES", func(d *driver) int { return d.nodes })))
	return newList(about, listing.Config[driver]{
		Noun: "drivers", Resources: []inspect.Resource{inspect.Slices}, Build: buildDrivers,
		Ref: func(d *driver) screen.Ref { return d.ref }, Columns: columns,
	})
}

func buildDrivers(_ context.Context, w *screen.World) ([]driver, error) {
	inventory := w.Inventory()
	rows := make([]driver, 0, len(inventory.Drivers))
	at := map[string]int{}
	for i := range inventory.Drivers {
		d := &inventory.Drivers[i]
		at[d.Driver] = len(rows)
		rows = append(rows, driver{ref: screen.Ref{Kind: screen.Driver, Name: d.Driver}, counts: d.Devices})
	}
	nodes := map[string]map[inspect.NodeName]bool{}
	for _, stock := range inventory.Stocks {
		p := &stock.Pool
		row := &rows[at[p.ID.Driver]]
		if row.pools++; p.Error != "" {
			row.broken++
		}
		if nodes[p.ID.Driver] == nil {
			nodes[p.ID.Driver] = map[inspect.NodeName]bool{}
		}
		if p.Node != "" {
			nodes[p.ID.Driver][p.Node] = true
		}
	}
	for i := range rows {
		rows[i].nodes = len(nodes[rows[i].ref.Name])
	}
	return rows, nil
}

// pool is a pool and what is wrong with it.
type pool struct {
	status *inspect.PoolStatus
	ref    screen.Ref
}

// driverColumn shows the driver in short, as other views do; filters know its whole name.
var driverColumn = func() listing.Column[pool] {
	c := text("DRIVER", func(p *pool) string { return p.status.ID.Driver })
	c.Min, c.Max, c.Text = 6, 24, func(p *pool) string { return p.status.ID.Driver }
	c.Cell = func(p *pool) styled.Line { return styled.Text(styled.Dim, screen.ShortDriver(p.status.ID.Driver)) }
	return c
}()

// NewPools makes the list of pools, those first that are broken.
func NewPools(about About) screen.Screen {
	columns := []listing.Column[pool]{
		driverColumn, // two drivers have a pool of the same name, that of the node
		narrow(name("POOL", func(p *pool) string { return p.status.ID.Pool })),
		spare(text("NODE", func(p *pool) string { return string(p.status.Node) })),
		spare(plainNumber("GENERATION", func(p *pool) int { return int(p.status.Generation) })),
		ranked(1, text("SLICES", func(p *pool) string { return fmt.Sprintf("%d/%d", p.status.Slices, p.status.SlicesWanted) })),
	}
	columns = append(columns, counts(func(p *pool) *inspect.DeviceCount { return &p.status.Devices })...)
	trouble := ranked(3, text("TROUBLE", func(p *pool) string { return p.status.Error }))
	trouble.Min, trouble.Max = 20, 100
	trouble.Cell = func(p *pool) styled.Line { return styled.Text(styled.Bad, inspect.Sanitize(p.status.Error)) }
	return newList(about, listing.Config[pool]{
		Noun: "pools", Resources: []inspect.Resource{inspect.Slices}, Build: buildPools, Columns: append(columns, trouble),
		Ref: func(p *pool) screen.Ref { return p.ref },
		Groupings: []listing.Grouping[pool]{
			{Name: "driver", Of: func(p *pool) string { return inspect.Sanitize(p.status.ID.Driver) }},
			{Name: "node", Of: func(p *pool) string { return inspect.Sanitize(string(p.status.Node)) }},
		},
	})
}

func buildPools(_ context.Context, w *screen.World) ([]pool, error) {
	rows := words.Each(w.Inventory().Stocks, func(s *inspect.Stock) pool { return pool{&s.Pool, screen.PoolRef(s.Pool.ID)} })
	slices.SortStableFunc(rows, func(a, b pool) int {
		return cmp.Or(words.Btoi(a.status.Error == "")-words.Btoi(b.status.Error == ""),
			strings.Compare(a.status.ID.Driver, b.status.ID.Driver), words.CompareNames(a.status.ID.Pool, b.status.ID.Pool))
	})
	return rows, nil
}
