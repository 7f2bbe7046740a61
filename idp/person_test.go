package idp_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"github.com/innsigli/innsigli/idp"
)

func TestKennitalaFromIdentifier(t *testing.T) {
	for written, want := range map[string]string{
		"0101302989": "0101302989", "010130-2989": "0101302989", "PNOIS-0101302989": "0101302989",
		"PNOIS-010130-2989": "0101302989", "PNODK-0101302989": "PNODK0101302989", "": "",
	} {
		if got := idp.KennitalaFromIdentifier(written); got != want {
			t.Errorf("%q is %q, not %q", written, got, want)
		}
		if got := idp.Kennitala(&x509.Certificate{Subject: pkix.Name{SerialNumber: written}}); got != want {
			t.Errorf("in a certificate %q is %q, not %q", written, got, want)
		}
	}
}

func TestShownKennitala(t *testing.T) {
	for serial, want := range map[string]string{
		"0101302989": "0101302989", "PNOIS-010130-2989": "0101302989",
		"": "", "PNODK-0101302989": "", "PASIS-A1234567": "", "A010130298": "", "010130298": "", "01013029890": "", "٠١٠١٣": "",
	} {
		if got := idp.ShownKennitala(&x509.Certificate{Subject: pkix.Name{SerialNumber: serial}}); got != want {
			t.Errorf("of %q it is %q, not %q", serial, got, want)
		}
	}
}

// TestLocalPhone checks the spellings of Icelandic numbers, and numbers that are not Icelandic.
func TestLocalPhone(t *testing.T) {
	for phone, want := range map[string]string{
		"6990001":            "6990001",
		"699 0001":           "6990001",
		"699-0001":           "6990001",
		"699\u00a00001":      "6990001",
		"+354 699 0001":      "6990001",
		"00354-699-0001":     "6990001",
		"3546990":            "3546990",
		"354 699 0001":       "", // without + or 00 it is no country code: a local number may begin with 354
		"+354 00354 6990001": "",
		"+45 20 12 34 56":    "",
		"+354 69":            "",
		"699000x":            "",
		"٦٩٩٠٠٠١":            "",
		"":                   "",
	} {
		if got, ok := idp.LocalPhone(phone); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %q, %v, want %q", phone, got, ok, want)
		}
	}
}
