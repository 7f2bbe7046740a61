package idp

import (
	"crypto/x509"
	"strings"
)

// Method is the way in which a provider reaches the person (spec 3.2).
type Method string

const (
	App Method = "IdpApp" // the provider's app
	SIM Method = "IdpSim" // the electronic ID on the phone's SIM card
)

// Person is the person who is asked to sign.
type Person struct {
	Account   string `json:"account"` // the account on whose behalf the person is asked
	Method    Method `json:"method"`
	Kennitala string `json:"kennitala"`       // without hyphens
	Phone     string `json:"phone,omitempty"` // as the client wrote it; for SIM
}

// NormalizeKennitala removes hyphens, which people write and systems do not (spec 3.2).
func NormalizeKennitala(s string) string { return strings.ReplaceAll(s, "-", "") }

// KennitalaFromIdentifier returns the kennitala of an identifier that is a kennitala with or without a hyphen,
// or a semantics identifier of EN 319 412-1 5.1.3 ("PNOIS-").
func KennitalaFromIdentifier(s string) string {
	return NormalizeKennitala(strings.TrimPrefix(s, "PNOIS-"))
}

// Kennitala returns the kennitala in a certificate: the serialNumber of its subject.
func Kennitala(cert *x509.Certificate) string {
	return KennitalaFromIdentifier(cert.Subject.SerialNumber)
}

// ShownKennitala returns the ten digits of the kennitala that a stamp shows for a certificate. It returns "" for a
// certificate without a kennitala: a serialNumber may also be that of a passport, or an identifier of another
// country (EN 319 412-1 5.1.3).
func ShownKennitala(cert *x509.Certificate) string {
	if k := Kennitala(cert); len(k) == 10 && strings.Trim(k, "0123456789") == "" {
		return k
	}
	return ""
}

// phoneSeparators removes what people write between the digits of a phone number, no-break spaces included.
var phoneSeparators = strings.NewReplacer(" ", "", "\u00a0", "", "-", "")

// LocalPhone returns the seven digits of an Icelandic phone number, with or without the country code. ok reports
// whether it is one.
func LocalPhone(phone string) (digits string, ok bool) {
	digits = phoneSeparators.Replace(phone)
	for _, countryCode := range []string{"+354", "00354"} {
		if local, found := strings.CutPrefix(digits, countryCode); found {
			digits = local
			break
		}
	}
	notDigit := func(r rune) bool { return r < '0' || r > '9' }
	return digits, len(digits) == 7 && !strings.ContainsFunc(digits, notDigit)
}
