// Command benchtable turns the output of "go test -bench" into Markdown tables, one for each benchmark
// function, with a column for each figure that it reports. It reads standard input.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

func main() {
	if err := convert(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "benchtable:", err)
		os.Exit(1)
	}
}

// result is one line of output: a case of a benchmark with its figures by unit.
type result struct {
	function, name string
	figures        map[string]string
}

func convert(r io.Reader, w io.Writer) error {
	var results []result
	var functions []string
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		one, ok := parse(lines.Text())
		if !ok {
			continue
		}
		results = append(results, one)
		if !slices.Contains(functions, one.function) {
			functions = append(functions, one.function)
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	if len(results) == 0 {
		return fmt.Errorf("no results of benchmarks found")
	}
	for _, f := range functions {
		of := slices.DeleteFunc(slices.Clone(results), func(r result) bool { return r.function != f })
		if _, err := io.WriteString(w, table(f, of)); err != nil {
			return err
		}
	}
	return nil
}

// parse reads a line such as "BenchmarkX/case-2  10  123 ns/op  4 times-faster".
func parse(line string) (result, bool) {
	fields := strings.Fields(line)
	if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
		return result{}, false
	}
	path := strings.TrimPrefix(fields[0], "Benchmark")
	if dash := strings.LastIndexByte(path, '-'); dash > 0 { // the number of processors
		path = path[:dash]
	}
	function, name, _ := strings.Cut(path, "/")
	r := result{function: function, name: strings.ReplaceAll(name, "_", " "), figures: map[string]string{}}
	for i := 2; i+1 < len(fields); i += 2 {
		r.figures[fields[i+1]] = fields[i]
	}
	return r, true
}

func table(function string, results []result) string {
	var units []string
	for _, r := range results {
		for unit := range r.figures {
			if unit != "ns/op" && !slices.Contains(units, unit) {
				units = append(units, unit)
			}
		}
	}
	slices.SortFunc(units, func(a, b string) int { return cmp.Compare(a, b) })
	var b strings.Builder
	fmt.Fprintf(&b, "\n## %s\n\n| case |", function)
	for _, unit := range units {
		fmt.Fprintf(&b, " %s |", unit)
	}
	b.WriteString("\n|---|" + strings.Repeat("---:|", len(units)) + "\n")
	for _, r := range results {
		fmt.Fprintf(&b, "| %s |", r.name)
		for _, unit := range units {
			fmt.Fprintf(&b, " %s |", r.figures[unit])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
