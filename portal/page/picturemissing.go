package page

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
)

// show answers with a picture of the words, which browsers show whatever the status is: people would
// see a broken one otherwise.
func (m missing) show(w http.ResponseWriter, lang string) error {
	var out bytes.Buffer
	fmt.Fprint(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 595 842" width="595" height="842">`+
		`<rect width="595" height="842" fill="#fff"/>`+
		`<g font-family="sans-serif" font-size="22" text-anchor="middle" fill="#1f2933">`)
	for i, key := range []string{m.words, m.words + ".advice"} {
		fmt.Fprintf(&out, `<text x="297" y="%d">`, 380+40*i)
		if err := xml.EscapeText(&out, []byte(words.text(lang, key))); err != nil {
			return err
		}
		fmt.Fprint(&out, `</text>`)
	}
	fmt.Fprint(&out, `</g></svg>`)
	w.Header().Set("Content-Type", "image/svg+xml")
	w.Header().Set("Content-Language", lang)
	w.Header().Add("Vary", "Accept-Language, Cookie")
	w.WriteHeader(m.status)
	out.WriteTo(w) // what fails here, fails for clients that are gone
	return nil
}
