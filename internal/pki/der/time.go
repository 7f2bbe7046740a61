package der

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// ReadTime takes a GeneralizedTime from the front of s: in UTC, with seconds, and perhaps with a fraction of a second
// after a point; [ErrFormat]. RFC 3161 2.4.2 allows the fraction. RFC 5280 4.1.2.5.2 does not, for what X.509 and OCSP
// say, but some responders write one, and other readers accept it.
func ReadTime(s *cryptobyte.String, tag cbasn1.Tag) (time.Time, error) {
	var text cryptobyte.String
	if !s.ReadASN1(&text, tag) || strings.ContainsRune(string(text), ',') {
		return time.Time{}, fmt.Errorf("%w: time", ErrFormat)
	}
	t, err := time.Parse("20060102150405Z", string(text)) // which accepts a fraction too
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: time %q", ErrFormat, text)
	}
	return t, nil
}
