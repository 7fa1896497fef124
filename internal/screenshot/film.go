package screenshot

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Film is what a terminal shows one after the other, again and again. Whoever wants no motion, and whatever
// cannot show any, sees one frame of it.
type Film struct {
	// Title is written into the frame of the window.
	Title string
	// Width and Height are the number of columns and lines.
	Width, Height int
	// Light: the terminal has a light background.
	Light bool
	// Frames are what is seen, in order; there is at least one.
	Frames []Frame
	// Still is the index of the frame that stands for the whole where nothing moves.
	Still int
}

// Frame is a moment of a Film.
type Frame struct {
	// Text is lines with SGR sequences, as in a Picture.
	Text string
	// Key is what was pressed to get here, drawn as a key below the window's text; Caption says what is seen.
	Key, Caption string
	// Lasts is how long the frame is seen. Frames that last no time are left out.
	Lasts time.Duration
}

// strip is the height of the line with keys and captions.
const strip = 36

// sprite is something that is drawn once and seen in some frames.
type sprite struct {
	drawn string
	// seen has one letter for each frame: 1 where the sprite is seen.
	seen []byte
}

// SVG draws the film. A line that stays the same in several frames is drawn once, so that a film is not much
// larger than what differs in it. Motion is made of CSS alone, because what runs scripts is not shown as an
// image.
func (f Film) SVG() []byte {
	d := &drawing{palette: dark}
	if f.Light {
		d.palette = light
	}
	sprites := f.sprites(d)
	d.body.Reset()
	times := f.times()
	var rules bytes.Buffer
	names := map[string]string{}
	for _, s := range sprites {
		seen := string(s.seen)
		if !strings.Contains(seen, "0") {
			d.body.WriteString(s.drawn)
			continue
		}
		if names[seen] == "" {
			names[seen] = "f" + strconv.Itoa(len(names))
			fmt.Fprintf(&rules, ".%s{animation-name:%s}%s\n", names[seen], names[seen], keyframes(names[seen], seen, times))
		}
		hidden := ""
		if seen[f.Still] == '0' {
			hidden = ` visibility="hidden"`
		}
		fmt.Fprintf(&d.body, `<g class="f %s"%s>%s</g>`+"\n", names[seen], hidden, strings.TrimSuffix(s.drawn, "\n"))
	}
	f.progress(d)
	d.animations = fmt.Sprintf("@media (prefers-reduced-motion:no-preference){\n.f{animation:%.2fs step-end infinite}\n"+
		".p{animation:p %.2fs linear infinite}@keyframes p{from{transform:scaleX(0)}}\n%s}", f.length().Seconds(), f.length().Seconds(), rules.String())
	return d.window(Picture{Title: f.Title, Width: f.Width, Height: f.Height, Light: f.Light}, strip)
}

// sprites draws all lines and captions, each look of a line once, from top to bottom.
func (f Film) sprites(d *drawing) []sprite {
	var all []sprite
	for y := range f.Height {
		known := map[string]int{}
		for i, frame := range f.Frames {
			d.body.Reset()
			d.line(y, runsOf(Picture{Width: f.Width, Height: f.Height, Text: frame.Text}.screen().Line(y)))
			all = see(all, known, d.body.String(), i, len(f.Frames))
		}
	}
	known := map[string]int{}
	for i, frame := range f.Frames {
		d.body.Reset()
		d.caption(frame, f.Height)
		all = see(all, known, d.body.String(), i, len(f.Frames))
	}
	return all
}

// see notes that something is seen in a frame. What draws nothing is no sprite.
func see(all []sprite, known map[string]int, drawn string, frame, frames int) []sprite {
	if strings.TrimSpace(drawn) == "" {
		return all
	}
	at, ok := known[drawn]
	if !ok {
		at = len(all)
		known[drawn] = at
		all = append(all, sprite{drawn, bytes.Repeat([]byte{'0'}, frames)})
	}
	all[at].seen[frame] = '1'
	return all
}

// caption writes a key and what it does below the last line.
func (d *drawing) caption(f Frame, lines int) {
	x, y := 0, lines*cellHeight+baseline+10
	if f.Key != "" {
		width := len([]rune(f.Key))*cellWidth + 14
		fmt.Fprintf(&d.body, `<rect x=".5" y="%d.5" width="%d" height="22" rx="5" fill="%s" stroke="%s"/>`, y-17, width, hex(d.palette.bar), hex(d.palette.title))
		fmt.Fprintf(&d.body, `<text x="7" y="%d" textLength="%d" font-weight="bold">%s</text>`, y, width-14, escape(f.Key))
		x = width + 10
	}
	if f.Caption != "" {
		fmt.Fprintf(&d.body, `<text x="%d" y="%d" style="font-family:system-ui,-apple-system,&quot;Segoe UI&quot;,&quot;DejaVu Sans&quot;,sans-serif;fill:%s">%s</text>`, x, y, hex(d.palette.title), escape(f.Caption))
	}
	d.body.WriteByte('\n')
}

// progress is a rule above the captions that grows until the film begins again.
func (f Film) progress(d *drawing) {
	y, width := f.Height*cellHeight+2, f.Width*cellWidth
	fmt.Fprintf(&d.body, `<path d="M0 %dh%dv1H0z" fill="%s"/>`, y, width, hex(d.palette.border))
	fmt.Fprintf(&d.body, `<path class="p" d="M0 %dh%dv1H0z" fill="%s"/>`+"\n", y, width, hex(d.palette.title))
}

// length is how long it takes until the film begins again.
func (f Film) length() time.Duration {
	var sum time.Duration
	for _, frame := range f.Frames {
		sum += frame.Lasts
	}
	return sum
}

// times are the moments at which frames begin, as shares of the whole in per cent.
func (f Film) times() []string {
	var times []string
	var at time.Duration
	for _, frame := range f.Frames {
		times = append(times, strconv.FormatFloat(100*float64(at)/float64(f.length()), 'f', 2, 64)+"%")
		at += frame.Lasts
	}
	return times
}

// keyframes shows and hides what is seen in some frames only.
func keyframes(name, seen string, times []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "@keyframes %s{", name)
	for i := range seen {
		if i > 0 && seen[i] == seen[i-1] {
			continue
		}
		state := "hidden"
		if seen[i] == '1' {
			state = "visible"
		}
		fmt.Fprintf(&b, "%s{visibility:%s}", times[i], state)
	}
	b.WriteString("}")
	return b.String()
}
