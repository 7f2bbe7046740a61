package page

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"
)

// logo returns a grey PNG.
func logo(t *testing.T, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Check accepts valid settings, and reports each invalid one.
func TestOperatorCheck(t *testing.T) {
	t.Parallel()
	small := logo(t, 320, 80)
	for name, one := range map[string]struct {
		operator Operator
		want     string // of the one error; empty: there is none
	}{
		"nothing set":             {Operator{}, ""},
		"all set":                 {Operator{"Þjónusta ehf.", small, "#0a5c36", "mailto:help@sign.example"}, ""},
		"a page for help":         {Operator{Contact: "https://sign.example/help?from=page"}, ""},
		"the largest logo":        {Operator{Logo: logo(t, 1024, 1024)}, ""},
		"the longest name":        {Operator{Name: strings.Repeat("ð", 64)}, ""},
		"a longer name":           {Operator{Name: strings.Repeat("ð", 65)}, "more than 64 characters"},
		"two lines of name":       {Operator{Name: "a\nb"}, "invisible characters"},
		"a name turned around":    {Operator{Name: "a\u202eb"}, "invisible characters"},
		"a name of spaces":        {Operator{Name: "  "}, "white space"},
		"a name that is no text":  {Operator{Name: "a\xff"}, "not UTF-8"},
		"a colour too light":      {Operator{Colour: "#777777"}, "contrast of 4.47 with white"},
		"a colour by name":        {Operator{Colour: "teal"}, `"teal" must be written like "#1d4f91"`},
		"a short colour":          {Operator{Colour: "#07c"}, "must be written like"},
		"a colour that is style":  {Operator{Colour: "#000;}*"}, "must be written like"},
		"no picture":              {Operator{Logo: []byte("<svg/>")}, "must be a PNG"},
		"an empty file":           {Operator{Logo: []byte{}}, "must be a PNG"},
		"half a picture":          {Operator{Logo: small[:len(small)-20]}, "the operator's logo: "},
		"a wide logo":             {Operator{Logo: logo(t, 1025, 10)}, "1025 x 10 pixels"},
		"a large logo":            {Operator{Logo: append(small[:len(small):len(small)], make([]byte, 32<<10)...)}, "bytes, more than 32768"},
		"help by http":            {Operator{Contact: "http://sign.example"}, "must be a mailto: or https: URL"},
		"help by script":          {Operator{Contact: "javascript:alert(1)"}, "must be a mailto: or https: URL"},
		"help without address":    {Operator{Contact: "mailto:"}, "must have an address"},
		"help of a named address": {Operator{Contact: "mailto:Help%20%3Ca@b.is%3E"}, "must have an address"},
		"help with a password":    {Operator{Contact: "https://a:b@sign.example"}, "must be a mailto: or https: URL"},
		"help that is no URL":     {Operator{Contact: "https://[::1"}, "must be a URL"},
		"long help":               {Operator{Contact: "https://sign.example/" + strings.Repeat("a", 512)}, "longer than 512 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			a, b, c, d := one.operator.Check()
			var found []string
			for _, err := range []error{a, b, c, d} {
				if err != nil {
					found = append(found, err.Error())
				}
			}
			switch {
			case one.want == "" && len(found) > 0:
				t.Error(found)
			case one.want != "" && (len(found) != 1 || !strings.Contains(found[0], one.want)):
				t.Errorf("%q, want one with %q", found, one.want)
			}
		})
	}
}

// A picture whose header claims a huge size is refused without being decoded.
func TestLogoBomb(t *testing.T) {
	t.Parallel()
	bomb := logo(t, 1, 1)
	copy(bomb[16:], []byte{0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff}) // IHDR, whose checksum is now wrong
	if _, err, _, _ := (Operator{Logo: bomb}).Check(); err == nil {
		t.Error("accepted")
	}
}
