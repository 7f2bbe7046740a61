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

// Operator describes the operator of the service to participants. The zero value is Innsigli's own looks.
type Operator struct {
	Name    string // empty: DefaultName
	Logo    []byte // PNG; nil: the name is shown instead
	Colour  string // "#rrggbb", readable on white; empty: DefaultColour
	Contact string // a mailto: or https: URL for help; empty: none
}

// The name and colour of an [Operator] that sets none.
const (
	DefaultName   = "Innsigli"
	DefaultColour = "#1d4f91"
)

// Check validates each setting and returns one error for each.
func (o Operator) Check() (name, logo, colour, contact error) {
	return checkOperatorName(o.Name), checkLogo(o.Logo), checkColour(o.Colour), checkContact(o.Contact)
}

// Limits of an operator's settings. The logo is part of every first visit and has to be small.
const (
	maxOperatorName  = 64 // characters
	maxLogo          = 32 << 10
	maxLogoSide      = 1024 // pixels
	maxContactLength = 512
)

// checkOperatorName accepts a name that fits a heading and the sender of a mail: one line of visible text.
func checkOperatorName(name string) error {
	invisible := func(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) }
	switch {
	case !utf8.ValidString(name):
		return errors.New("the operator's name is not UTF-8")
	case strings.ContainsFunc(name, invisible):
		return errors.New("the operator's name has invisible characters")
	case name != strings.TrimSpace(name):
		return errors.New("the operator's name begins or ends with white space")
	case utf8.RuneCountInString(name) > maxOperatorName:
		return fmt.Errorf("the operator's name has more than %d characters", maxOperatorName)
	}
	return nil
}

// checkLogo decodes the picture, so that a damaged one is an error at the start.
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

// logoSize returns the size of a PNG in pixels.
func logoSize(logo []byte) (image.Point, error) {
	c, err := png.DecodeConfig(bytes.NewReader(logo))
	if err != nil {
		return image.Point{}, fmt.Errorf("the operator's logo must be a PNG: %w", err)
	}
	return image.Pt(c.Width, c.Height), nil
}

// checkColour accepts a colour on which white text is readable.
func checkColour(s string) error {
	if s == "" {
		return nil
	}
	c, ok := parseColour(s)
	if !ok {
		return fmt.Errorf("the operator's colour %q must be written like %q", s, defaultColour)
	}
	if ratio := contrast(c, white); ratio < minContrast {
		return fmt.Errorf("the operator's colour %s has a contrast of %.2f with white; white text on it needs %.1f: choose a darker colour",
			s, math.Floor(ratio*100)/100, minContrast)
	}
	return nil
}

// checkContact accepts an https: URL of a page, or a mailto: URL of one address.
func checkContact(contact string) error {
	if contact == "" {
		return nil
	}
	if len(contact) > maxContactLength {
		return fmt.Errorf("the operator's contact is longer than %d bytes", maxContactLength)
	}
	u, err := url.Parse(contact)
	if err != nil {
		return fmt.Errorf("the operator's contact must be a URL: %w", err)
	}
	switch {
	case u.Scheme == "https" && u.Hostname() != "" && u.User == nil:
		return nil
	case u.Scheme == "mailto":
		if address, err := url.PathUnescape(u.Opaque); err == nil && isMailAddress(address) {
			return nil
		}
		return errors.New("the operator's contact must have an address after mailto, such as mailto:help@sign.example")
	}
	return errors.New("the operator's contact must be a mailto: or https: URL")
}

// isMailAddress reports whether s is a mail address without a display name.
func isMailAddress(s string) bool {
	a, err := mail.ParseAddress(s)
	return err == nil && a.Name == "" && a.Address == s
}
