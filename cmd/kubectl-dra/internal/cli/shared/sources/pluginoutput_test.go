package sources

import (
	"fmt"
	"testing"
)

func TestPluginOutputIsKeptForTheScreen(t *testing.T) {
	p := &pluginOutput{}
	for i := range 20 {
		_, _ = fmt.Fprintf(p, "line %d\x1b\n", i)
	}
	_, _ = p.Write([]byte("enter co\xc3"))
	_, _ = p.Write([]byte("\xb6de"))
	got := p.LastLines()
	if len(got) != maxPluginLines+1 || got[0] != `line 14\x1b` || got[maxPluginLines] != "enter coöde" {
		t.Errorf("%q", got)
	}
}
