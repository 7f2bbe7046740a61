package main

import (
	"bytes"

	"github.com/innsigli/innsigli/portal/page"
)

// longestLogo is more than a page takes, and is what of a file is read.
const longestLogo = 64 << 10

// readPage reads the [page] of a configuration: whose name and looks the signing page has.
func readPage(t section, files configFiles) page.Operator {
	o := page.Operator{Name: t.text("name"), Colour: t.text("colour"), Contact: t.text("contact")}
	if path := t.text("logo"); path != "" {
		content, err := files.read(path, longestLogo)
		if err != nil {
			t.fault("logo", "%v", withName(err, path))
		} else {
			o.Logo = content
		}
	}
	name, logo, colour, contact := o.Check()
	for _, judged := range []struct {
		key string
		err error
	}{{"name", name}, {"logo", logo}, {"colour", colour}, {"contact", contact}} {
		if judged.err != nil {
			t.fault(judged.key, "%v", judged.err)
		}
	}
	t.end()
	return o
}

// sameOperator says whether two look the same.
func sameOperator(a, b page.Operator) bool {
	return a.Name == b.Name && a.Colour == b.Colour && a.Contact == b.Contact && bytes.Equal(a.Logo, b.Logo)
}
