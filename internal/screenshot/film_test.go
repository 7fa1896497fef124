package screenshot

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// scenes are four frames: what is typed grows, a line comes and goes, and another stays.
func scenes() Film {
	return Film{Title: "t", Width: 30, Height: 3, Still: 2, Frames: []Frame{
		{Text: "stays\n$ a", Lasts: 500 * time.Millisecond},
		{Text: "stays\n$ ab", Lasts: 500 * time.Millisecond, Key: "b", Caption: "pressed"},
		{Text: "stays\n\x1b[31manswer\x1b[0m\nmore", Lasts: 2 * time.Second, Caption: "seen"},
		{Text: "stays\n$ a", Lasts: time.Second},
	}}
}

var (
	group     = regexp.MustCompile(`<g class="f (f\d+)"( visibility="hidden")?>`)
	rule      = regexp.MustCompile(`@keyframes (f\d+)\{(.*)\}`)
	keyframe  = regexp.MustCompile(`([\d.]+)%\{visibility:(\w+)\}`)
	textInSVG = regexp.MustCompile(`<text [^>]*>([^<]*)</text>`)
)

// shown is the text of a film at a share of its length in per cent, or of its still frame if that is
// negative.
func shown(t *testing.T, svg string, percent float64) []string {
	t.Helper()
	visible := map[string]bool{}
	for _, r := range rule.FindAllStringSubmatch(svg, -1) {
		for _, k := range keyframe.FindAllStringSubmatch(r[2], -1) {
			if at, err := strconv.ParseFloat(k[1], 64); err != nil {
				t.Fatal(err)
			} else if at <= percent {
				visible[r[1]] = k[2] == "visible"
			}
		}
	}
	var texts []string
	_, inside, _ := strings.Cut(svg, "<g transform")
	for line := range strings.SplitSeq(inside, "\n") {
		if g := group.FindStringSubmatch(line); g != nil && (percent < 0 && g[2] != "" || percent >= 0 && !visible[g[1]]) {
			continue
		}
		for _, m := range textInSVG.FindAllStringSubmatch(line, -1) {
			texts = append(texts, m[1])
		}
	}
	return texts
}

func TestFilmShowsEachFrameInItsTime(t *testing.T) {
	svg := string(scenes().SVG())
	parse(t, []byte(svg))
	for percent, want := range map[float64][]string{
		0: {"stays", "$ a"}, 12: {"stays", "$ a"}, 12.5: {"stays", "$ ab", "b", "pressed"}, 24: {"stays", "$ ab", "b", "pressed"},
		25: {"stays", "answer", "more", "seen"}, 74: {"stays", "answer", "more", "seen"}, 75: {"stays", "$ a"}, 99: {"stays", "$ a"},
		-1: {"stays", "answer", "more", "seen"}, // what does not move shows the still frame
	} {
		if got := shown(t, svg, percent); !slices.Equal(got, want) {
			t.Errorf("at %v%%: %q, want %q", percent, got, want)
		}
	}
	if !strings.Contains(svg, "animation:4.00s step-end infinite") {
		t.Error("the film does not last as long as its frames")
	}
}

// TestFilmIsAnImage: what is in the file works where images are shown without scripts, and for those who want
// no motion.
func TestFilmIsAnImage(t *testing.T) {
	svg := string(scenes().SVG())
	for _, forbidden := range []string{"<script", "href", "url(", "@import", "<animate"} {
		if strings.Contains(svg, forbidden) {
			t.Errorf("the film has %s", forbidden)
		}
	}
	before, inside, found := strings.Cut(svg, "@media (prefers-reduced-motion:no-preference){")
	if !found || strings.Contains(before, "animation") || !strings.Contains(inside, "@keyframes f0") {
		t.Error("the film moves also for those who want no motion")
	}
	if n := strings.Count(svg, ">stays<"); n != 1 {
		t.Errorf("what stays the same is drawn %d times", n)
	}
}
