package stamp

import (
	"fmt"
	"time"
)

// Text is what the standard stamp says (spec 3.3). What is empty is left out.
//
// Text is shown in Unicode's form NFC, with single spaces and without invisible characters.
// What is too long for its place ends in "…". A character that the font lacks, which has Latin,
// Greek and Cyrillic, is shown as a box; programs that copy the text find the character.
type Text struct {
	Name      string    // from the certificate
	Kennitala string    // shown behind "Kt.", as ddmmyy-nnnn when it has 10 digits
	Time      time.Time // of signing; shown in Icelandic time, which is UTC: "22.11.2026 kl. 14:32:07"
	Reason    string
}

// Standard draws the standard stamp, a page of [StandardSize] without a background. The same
// text makes the same bytes. It is made of nothing that PDF/A-1 to PDF/A-4 (ISO 19005) or
// PDF/UA (ISO 14289) forbid.
func Standard(t Text) ([]byte, error) {
	faces, err := readFaces()
	if err != nil {
		return nil, fmt.Errorf("stamp: %w", err)
	}
	return faces.draw(faces.layOut(t))
}
