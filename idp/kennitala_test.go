package idp_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"

	"github.com/innsigli/innsigli/idp"
)

func TestNamedKennitala(t *testing.T) {
	for written, want := range map[string]string{
		"0101302989": "0101302989", "010130-2989": "0101302989", "PNOIS-0101302989": "0101302989",
		"PNOIS-010130-2989": "0101302989", "PNODK-0101302989": "PNODK0101302989", "": "",
	} {
		if got := idp.NamedKennitala(written); got != want {
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
