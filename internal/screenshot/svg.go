package screenshot

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Picture is what a terminal shows.
type Picture struct {
	// Title is written into the frame of the window.
	Title string
	// Width and Height are the number of columns and lines.
	Width, Height int
	// Light: the terminal has a light background.
	Light bool
	// Text is lines with SGR sequences; what is outside of the window is left out.
	Text string
}

// Sizes in pixels: of a cell, of the letters in it, of their baseline, and of the frame around all cells.
const (
	cellWidth, cellHeight = 9, 19
	fontSize, baseline    = 15, 14
	padding, bar          = 12, 34
)

// palette is what a terminal with a background has for colours that a program does not choose itself.
type palette struct {
	background, foreground, bar, border, title color.RGBA
	// basic are the first sixteen colours.
	basic [16]color.RGBA
}

var dark = palette{
	background: rgb(0x0d1117), foreground: rgb(0xe6edf3), bar: rgb(0x161b22), border: rgb(0x30363d), title: rgb(0x8b949e),
	basic: [16]color.RGBA{
		rgb(0x484f58), rgb(0xff7b72), rgb(0x57d38c), rgb(0xe3b341), rgb(0x79c0ff), rgb(0xd2a8ff), rgb(0x39c5cf), rgb(0xb1bac4),
		rgb(0x8b949e), rgb(0xffa198), rgb(0x7ee2a8), rgb(0xf0c75e), rgb(0xa5d6ff), rgb(0xe2c5ff), rgb(0x56d4dd), rgb(0xffffff),
	},
}

var light = palette{
	background: rgb(0xffffff), foreground: rgb(0x1f2328), bar: rgb(0xf6f8fa), border: rgb(0xd0d7de), title: rgb(0x656d76),
	basic: [16]color.RGBA{
		rgb(0x24292f), rgb(0xcf222e), rgb(0x1a7f37), rgb(0x9a6700), rgb(0x0969da), rgb(0x6639ba), rgb(0x1b7c83), rgb(0x6e7781),
		rgb(0x57606a), rgb(0xa40e26), rgb(0x116329), rgb(0x633c01), rgb(0x218bff), rgb(0x8250df), rgb(0x3192aa), rgb(0x8c959f),
	},
}

func rgb(v uint32) color.RGBA {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8 & 0xff), B: uint8(v & 0xff), A: 0xff} //nolint:gosec // three bytes
}

// SVG draws the picture.
func (p Picture) SVG() []byte {
	screen := p.screen()
	d := &drawing{palette: dark}
	if p.Light {
		d.palette = light
	}
	for y := range p.Height {
		d.line(y, runsOf(screen.Line(y)))
	}
	return d.window(p, 0)
}

// screen lays the text out on cells.
func (p Picture) screen() uv.ScreenBuffer {
	screen := uv.NewScreenBuffer(p.Width, p.Height)
	screen.Method = ansi.GraphemeWidth
	uv.NewStyledString(p.Text).Draw(screen, screen.Bounds())
	return screen
}

// drawing is the inside of a window. All of it is in pixels from the top left cell.
type drawing struct {
	palette palette
	// classes are the looks that text has, in the order in which they came; what is written of a look is its
	// number.
	classes []string
	// animations are style sheet rules that move what was drawn.
	animations string
	body       bytes.Buffer
}

// window puts a frame around what was drawn, which is higher than the lines of the picture by some pixels.
func (d *drawing) window(p Picture, higher int) []byte {
	width, height := p.Width*cellWidth+2*padding, p.Height*cellHeight+higher+bar+padding
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", escape(p.Title))
	b.WriteString("<style>text{font:" + fmt.Sprint(fontSize) + `px ui-monospace,SFMono-Regular,Menlo,"Cascadia Mono","DejaVu Sans Mono",Consolas,"Liberation Mono",monospace;fill:` + hex(d.palette.foreground) + "}")
	for i, look := range d.classes {
		fmt.Fprintf(&b, ".%s{%s}", className(i), look)
	}
	b.WriteString(d.animations + "</style>\n")
	fmt.Fprintf(&b, `<rect x=".5" y=".5" width="%d" height="%d" rx="9" fill="%s" stroke="%s"/>`+"\n", width-1, height-1, hex(d.palette.background), hex(d.palette.border))
	fmt.Fprintf(&b, `<path d="M1 %dV9.5a8.5 8.5 0 0 1 8.5-8.5h%da8.5 8.5 0 0 1 8.5 8.5V%dz" fill="%s"/>`+"\n", bar-8, width-19, bar-8, hex(d.palette.bar))
	for i, c := range []uint32{0xff5f57, 0xfebc2e, 0x28c840} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="13.5" r="5.5" fill="%s"/>`, 18+18*i, hex(rgb(c)))
	}
	fmt.Fprintf(&b, "\n"+`<text x="%d" y="18" text-anchor="middle" style="font-size:12px;fill:%s">%s</text>`+"\n", width/2, hex(d.palette.title), escape(p.Title))
	fmt.Fprintf(&b, `<g transform="translate(%d %d)">`+"\n", padding, bar)
	b.Write(d.body.Bytes())
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// line draws the backgrounds of a line, then what stands on them.
func (d *drawing) line(y int, runs []run) {
	for _, r := range runs {
		if background := d.colors(r.style).background; background != d.palette.background {
			fmt.Fprintf(&d.body, `<path d="M%d %dh%dv%dh-%dz" fill="%s"/>`, r.x*cellWidth, y*cellHeight, r.width*cellWidth, cellHeight, r.width*cellWidth, hex(background))
		}
	}
	for _, r := range runs {
		switch {
		case r.shape:
			d.shapes(y, r)
		case strings.TrimSpace(r.text) != "":
			d.words(y, r)
		}
	}
	d.body.WriteByte('\n')
}

// words writes text as wide as its cells, whatever the font.
func (d *drawing) words(y int, r run) {
	text := strings.TrimRight(r.text, " ")
	width := r.width - (len(r.text) - len(text))
	fmt.Fprintf(&d.body, `<text x="%d" y="%d"`, r.x*cellWidth, y*cellHeight+baseline)
	if width > 1 {
		fmt.Fprintf(&d.body, ` textLength="%d"`, width*cellWidth)
	}
	if look := d.look(r.style); look != "" {
		fmt.Fprintf(&d.body, ` class="%s"`, d.class(look))
	}
	fmt.Fprintf(&d.body, ">%s</text>", escape(text))
}

// shapes draws the same character side by side.
func (d *drawing) shapes(y int, r run) {
	var filled, stroked strings.Builder
	c, _ := utf8First(r.text)
	shapeTable[c].repeat(r.x*cellWidth, y*cellHeight, r.width, &filled, &stroked)
	foreground := hex(d.colors(r.style).foreground)
	if filled.Len() > 0 {
		fmt.Fprintf(&d.body, `<path d="%s" fill="%s"/>`, filled.String(), foreground)
	}
	if stroked.Len() > 0 {
		fmt.Fprintf(&d.body, `<path d="%s" fill="none" stroke="%s"/>`, stroked.String(), foreground)
	}
}

// class returns the name of a look.
func (d *drawing) class(look string) string {
	for i, known := range d.classes {
		if known == look {
			return className(i)
		}
	}
	d.classes = append(d.classes, look)
	return className(len(d.classes) - 1)
}

func className(i int) string { return fmt.Sprintf("s%d", i) }

// look is the style of text as CSS.
func (d *drawing) look(s uv.Style) string {
	var parts []string
	if c := d.colors(s).foreground; c != d.palette.foreground {
		parts = append(parts, "fill:"+hex(c))
	}
	if s.Attrs&uv.AttrBold != 0 {
		parts = append(parts, "font-weight:bold")
	}
	if s.Attrs&uv.AttrItalic != 0 {
		parts = append(parts, "font-style:italic")
	}
	if s.Underline != uv.UnderlineNone {
		parts = append(parts, "text-decoration:underline")
	}
	return strings.Join(parts, ";")
}

// pair is how a cell is coloured in the end.
type pair struct{ foreground, background color.RGBA }

func (d *drawing) colors(s uv.Style) pair {
	p := pair{d.color(s.Fg, d.palette.foreground), d.color(s.Bg, d.palette.background)}
	if s.Attrs&uv.AttrFaint != 0 {
		p.foreground = between(p.foreground, p.background)
	}
	if s.Attrs&uv.AttrReverse != 0 {
		p.foreground, p.background = p.background, p.foreground
	}
	return p
}

// color finds out what a colour is; nil is the default.
func (d *drawing) color(c color.Color, otherwise color.RGBA) color.RGBA {
	switch c := c.(type) {
	case nil:
		return otherwise
	case ansi.BasicColor:
		return d.palette.basic[int(c)%len(d.palette.basic)]
	}
	return color.RGBAModel.Convert(c).(color.RGBA)
}

// between is a colour that is nearer to the first.
func between(a, b color.RGBA) color.RGBA {
	mix := func(x, y uint8) uint8 { return uint8((3*int(x) + 2*int(y)) / 5) } //nolint:gosec // between two bytes
	return color.RGBA{R: mix(a.R, b.R), G: mix(a.G, b.G), B: mix(a.B, b.B), A: 0xff}
}

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a Builder takes everything
	return b.String()
}
