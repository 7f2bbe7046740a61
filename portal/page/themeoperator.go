package page

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"net/mail"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of what an operator may set. The logo is a part of every first page, which is to be small.
const (
	maxOperatorName = 64 // code points
	maxLogo         = 32 << 10
	maxLogoSide     = 1024 // pixels
	maxContact      = 512
)

func checkOperator(o Operator) (name, logo, colour, contact error) {
	return checkName(o.Name), checkLogo(o.Logo), checkColour(o.Colour), checkContact(o.Contact)
}

// checkName takes what can stand in a line: in a heading, and in the sender of a mail.
func checkName(name string) error {
	invisible := func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
	switch {
	case !utf8.ValidString(name):
		return errors.New("the operator's name is not UTF-8")
	case strings.ContainsFunc(name, invisible):
		return errors.New("the operator's name has characters that cannot be seen")
	case name != strings.TrimSpace(name):
		return errors.New("the operator's name begins or ends with white space")
	case utf8.RuneCountInString(name) > maxOperatorName:
		return fmt.Errorf("the operator's name has more than %d characters", maxOperatorName)
	}
	return nil
}

// checkLogo decodes the picture: one that is damaged would be found out by those who sign.
func checkLogo(logo []byte) error {
	if logo == nil {
		return nil
	}
	if len(logo) > maxLogo {
		return fmt.Errorf("the operator's logo has %d bytes, more than %d", len(logo), maxLogo)
	}
	size, err := logoSize(logo)
	if err != nil {
		return err
	}
	if size.X > maxLogoSide || size.Y > maxLogoSide {
		return fmt.Errorf("the operator's logo has %d x %d pixels, more than %d on a side", size.X, size.Y, maxLogoSide)
	}
	if _, err := png.Decode(bytes.NewReader(logo)); err != nil {
		return fmt.Errorf("the operator's logo: %w", err)
	}
	return nil
}

func logoSize(logo []byte) (image.Point, error) {
	c, err := png.DecodeConfig(bytes.NewReader(logo))
	if err != nil {
		return image.Point{}, fmt.Errorf("the operator's logo is no PNG: %w", err)
	}
	return image.Pt(c.Width, c.Height), nil
}

// checkColour takes what white words can be read on.
func checkColour(s string) error {
	if s == "" {
		return nil
	}
	c, ok := parseColour(s)
	if !ok {
		return fmt.Errorf("the operator's colour %q is not written like %q", s, own)
	}
	if ratio := contrast(c, white); ratio < readable {
		return fmt.Errorf("the operator's colour %s has a contrast of %.2f with white, less than the %.1f that it takes to read it",
			s, math.Floor(ratio*100)/100, readable)
	}
	return nil
}

// checkContact takes a page or an address.
func checkContact(contact string) error {
	if contact == "" {
		return nil
	}
	if len(contact) > maxContact {
		return fmt.Errorf("the operator's contact is longer than %d bytes", maxContact)
	}
	u, err := url.Parse(contact)
	if err != nil {
		return fmt.Errorf("the operator's contact is no URL: %w", err)
	}
	switch {
	case u.Scheme == "https" && u.Hostname() != "" && u.User == nil:
		return nil
	case u.Scheme == "mailto":
		if address, err := url.PathUnescape(u.Opaque); err == nil && isAddress(address) {
			return nil
		}
		return errors.New("the operator's contact has no address behind mailto")
	}
	return errors.New("the operator's contact is neither a mailto: nor an https: URL")
}

// isAddress: an address alone, without a name.
func isAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s
}
