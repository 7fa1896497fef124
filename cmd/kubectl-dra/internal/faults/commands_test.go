package faults

import (
	"slices"
	"time"
)

// requestTimeout is what every command is given as --request-timeout.
const requestTimeout = time.Second

// command is one command line of the table.
type command struct {
	name string
	args []string
	// follows: it goes on until it is told to end, after life.
	follows bool
	// screen: it draws on a terminal and is ended by a key, not by a signal.
	screen bool
	// writes: it may change the cluster.
	writes bool
	// cannotBe are exit codes that would be a false answer, whatever is wrong.
	cannotBe []int
	// requests is how many an undisturbed server gets at most.
	requests int
}

// life is how long commands that follow the cluster are let run.
const life = requestTimeout + 700*time.Millisecond

// archive is where snapshot writes to, in the directory of the run.
const archive = "cluster.json.gz"

// The claims that commands are about, with what the demo cluster says of them: ml/pretrain-2 cannot be
// allocated because others hold the devices, net/dns-edge gets a share of an uplink, dev/notebook-omar holds
// a GPU that nobody uses. The pods of node gpu-b-02 find no other one. Nine of the requests are for the kinds
// of Kueue, which the demo has, and one is for its configuration; top watches each of its kinds, too.
var commands = []command{
	{name: "explain", args: []string{"explain", "claim", "pretrain-2", "-n", "ml"}, cannotBe: []int{0}, requests: 20},
	{name: "get", args: []string{"get", "claims", "-A"}, requests: 20},
	{name: "get --watch", args: []string{"get", "claims", "-A", "--watch"}, follows: true, requests: 30},
	{name: "top", args: []string{"top", "claims"}, follows: true, screen: true, requests: 70},
	{name: "top --once", args: []string{"top", "--once"}, requests: 42},
	{name: "check", args: []string{"check"}, cannotBe: []int{0}, requests: 42},
	{name: "plan", args: []string{"plan", "drain", "gpu-b-02"}, cannotBe: []int{0}, requests: 42},
	{name: "snapshot", args: []string{"snapshot", "-o", archive, "--force"}, requests: 42},
	{name: "allocate --dry-run=server", args: []string{"allocate", "claim", "dns-edge", "-n", "net", "--dry-run=server"}, requests: 50},
	{name: "allocate --yes", args: []string{"allocate", "claim", "dns-edge", "-n", "net", "--yes", "--settle=100ms"}, writes: true, requests: 60},
	{name: "deallocate", args: []string{"deallocate", "claim", "notebook-omar", "-n", "dev", "--yes"}, writes: true, requests: 40},
}

func commandNamed(name string) command {
	return commands[slices.IndexFunc(commands, func(c command) bool { return c.name == name })]
}
