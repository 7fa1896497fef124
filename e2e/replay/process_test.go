package replay

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// nodesVariable makes this test binary the server of a cluster with so many nodes, and stuckVariable sets
// stuckEvery there. A process of its own for the server leaves the one that measures alone.
const nodesVariable, stuckVariable = "KUBECTL_DRA_REPLAY_NODES", "KUBECTL_DRA_REPLAY_STUCK"

func TestMain(m *testing.M) {
	if nodes, err := strconv.Atoi(os.Getenv(nodesVariable)); err == nil {
		if every, err := strconv.Atoi(os.Getenv(stuckVariable)); err == nil {
			stuckEvery = every
		}
		if err := play(nodes); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// play serves until standard input ends, and does there what it is told.
func play(nodes int) error {
	// A real server runs elsewhere: this one is to take as little as it can of what is measured.
	debug.SetGCPercent(400)
	_ = syscall.Setpriority(syscall.PRIO_PROCESS, 0, 10)
	s, err := New(nodes)
	if err != nil {
		return err
	}
	web := httptest.NewServer(http.HandlerFunc(s.ServeHTTP))
	defer web.CloseClientConnections()
	fmt.Println(web.URL)
	var stop func() (int, time.Duration)
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		order, argument, _ := strings.Cut(lines.Text(), " ")
		rate := 0.0
		switch order {
		case "storm":
			n, err := strconv.Atoi(argument)
			if err != nil {
				return err
			}
			stop = s.Storm(n)
		case "stop":
			n, elapsed := stop()
			rate = float64(n) / elapsed.Seconds()
		case "late":
			late := newClaim(0, perNode-1)
			late.Name, late.Namespace = "latecomer", "aa"
			if err := s.Create("resource.k8s.io/v1/resourceclaims", late); err != nil {
				return err
			}
		}
		fmt.Println(s.Listed().UnixNano(), rate)
	}
	return nil
}

// player is a server in a process of its own.
type player struct {
	url   string
	write func(string) error
	read  *bufio.Scanner
}

// told is the answer of a player.
type told struct {
	at   time.Time // see Listed
	rate float64   // of changes a second, after "stop"
}

// serve starts the server of a cluster with so many nodes.
func serve(tb testing.TB, nodes int) *player {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d", nodesVariable, nodes))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	p := &player{read: bufio.NewScanner(out), write: func(line string) error { _, err := fmt.Fprintln(in, line); return err }}
	if !p.read.Scan() {
		tb.Fatal("the server does not start")
	}
	p.url = p.read.Text()
	return p
}

// tell gives the server an order: storm, stop, late or listed.
func (p *player) tell(tb testing.TB, order string, argument int) told {
	tb.Helper()
	if err := p.write(fmt.Sprint(order, " ", argument)); err != nil {
		tb.Fatal(err)
	}
	var listed int64
	var answer told
	if !p.read.Scan() {
		tb.Fatalf("the server ended at %q", order)
	}
	if _, err := fmt.Sscan(p.read.Text(), &listed, &answer.rate); err != nil {
		tb.Fatalf("the server says %q: %v", p.read.Text(), err)
	}
	answer.at = time.Unix(0, listed)
	return answer
}
