package main

import (
	"strings"
	"testing"
)

func TestConvert(t *testing.T) {
	const in = `goos: linux
BenchmarkFamilies/A_too_few_n=21-2   1   97.00 ours-us   19977 times-faster
BenchmarkFamilies/B-2                1   12 ours-us
PASS
`
	const want = `
## Families

| case | ours-us | times-faster |
|---|---:|---:|
| A too few n=21 | 97.00 | 19977 |
| B | 12 |  |
`
	var out strings.Builder
	if err := convert(strings.NewReader(in), &out); err != nil || out.String() != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, out.String(), want)
	}
	if err := convert(strings.NewReader("PASS\n"), &out); err == nil {
		t.Error("output without results is accepted")
	}
}
