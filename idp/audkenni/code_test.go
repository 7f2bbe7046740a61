package audkenni_test

import (
	"crypto"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/idp/audkenni"
)

// TestVerificationCode checks the digests of Auðkenni's pages 5579735042, which also has the code, and 1059586091.
func TestVerificationCode(t *testing.T) {
	for _, test := range []struct{ digest, code string }{
		{"n/kRNhXaZ2jFKv8KlQX7ydgedXUmVy8b2O4xNq2ZxHteG7wOvCa0Kg3rY1JLOrOBXYQm+z2FRVwIv47w8gUb5g==", "4141"},
		{"PGTLf+dyKYSA/GKQ2rZqEQepf/rYHLggJrctYkLGbSw=", "2147"},
	} {
		sum, err := base64.StdEncoding.DecodeString(test.digest)
		if err != nil {
			t.Fatal(err)
		}
		if got := audkenni.VerificationCode(sum); got != test.code {
			t.Errorf("the code of %s is %s, not %s", test.digest, test.code, got)
		}
	}
}

// TestVerificationCodeHasLeadingZeros checks codes below 1000. They were computed with Python's hashlib.
func TestVerificationCodeHasLeadingZeros(t *testing.T) {
	for _, test := range []struct {
		hash    crypto.Hash
		message string
		code    string
	}{
		{crypto.SHA256, "Innsigli 17", "0860"},
		{crypto.SHA256, "Innsigli 520", "0099"},
		{crypto.SHA256, "Innsigli 5522", "0003"},
		{crypto.SHA256, "Innsigli 23112", "0000"},
		{crypto.SHA512, "Innsigli 4", "0466"},
		{crypto.SHA512, "Innsigli 451", "0070"},
		{crypto.SHA512, "Innsigli 59", "0004"},
		{crypto.SHA512, "Innsigli 2628", "0000"},
	} {
		t.Run(fmt.Sprint(test.hash, " of ", test.message), func(t *testing.T) {
			h := test.hash.New()
			h.Write([]byte(test.message))
			if got := audkenni.VerificationCode(h.Sum(nil)); got != test.code {
				t.Errorf("want %s, got %s", test.code, got)
			}
		})
	}
}
