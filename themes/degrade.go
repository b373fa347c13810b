package themes

import (
	"math"
	"reflect"
	"strconv"
)

// in256 is the palette in the nearest of the 240 fixed colours of a 256-colour terminal. The usual mapping looks at each channel's step
// and turns a bluish grey into teal; here nearness is what the eye sees (OKLab), and of greys it keeps the lightness.
func (p Palette) in256() Palette {
	roles := reflect.ValueOf(&p.Roles).Elem()
	for i := range roles.NumField() {
		c := roles.Field(i)
		c.SetString(string(Color(c.String()).in256()))
	}
	return p
}

func (c Color) in256() Color {
	if !hexColor.MatchString(string(c)) {
		return c
	}
	rgb, err := strconv.ParseUint(string(c[1:]), 16, 32)
	if err != nil {
		return c
	}
	want := labOf(uint32(rgb))
	best, least := 16, math.Inf(1)
	for i := 16; i < 256; i++ {
		if d := want.distance(labOf(fixed(i))); d < least {
			best, least = i, d
		}
	}
	return Color("ansi:" + strconv.Itoa(best))
}

// fixed is the colour 0xrrggbb of an index from 16 on: a cube of six steps, then 24 greys. Terminals let users change the first 16 only.
func fixed(index int) uint32 {
	if index >= 232 {
		grey := uint32(8 + 10*(index-232))
		return grey<<16 | grey<<8 | grey
	}
	step := func(n int) uint32 {
		if n == 0 {
			return 0
		}
		return uint32(55 + 40*n)
	}
	n := index - 16
	return step(n/36)<<16 | step(n/6%6)<<8 | step(n%6)
}

// lab is a colour in OKLab: lightness, and the two axes of its hue.
type lab struct{ l, a, b float64 }

func labOf(rgb uint32) lab {
	linear := func(shift uint) float64 {
		v := float64(rgb>>shift&0xff) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	r, g, b := linear(16), linear(8), linear(0)
	long := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	medium := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	short := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{
		0.2104542553*long + 0.7936177850*medium - 0.0040720468*short,
		1.9779984951*long - 2.4285922050*medium + 0.4505937099*short,
		0.0259040371*long + 0.7827717662*medium - 0.8086757660*short,
	}
}

func (x lab) distance(y lab) float64 {
	return (x.l-y.l)*(x.l-y.l) + (x.a-y.a)*(x.a-y.a) + (x.b-y.b)*(x.b-y.b)
}
