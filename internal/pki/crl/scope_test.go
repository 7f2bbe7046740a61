package crl

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pki/der"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestScope checks which certificates a list with an extension covers: that of a user, which names the distribution
// point, and that of an authority, which names none (RFC 5280 5.2 and 6.3.3 b).
func TestScope(t *testing.T) {
	const uri = "http://example.is/crl" // 21 bytes
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	user := certtest.New(t, "user", ca, func(c *x509.Certificate) { c.CRLDistributionPoints = []string{uri} })
	authority := certtest.New(t, "subordinate CA", ca, certtest.Authority)
	point := func(contents string) der.Extension { // an IssuingDistributionPoint, its contents in hexadecimal
		value, err := hex.DecodeString(fmt.Sprintf("30%02x", len(contents)/2) + contents)
		testenv.NoError(t, err)
		return der.Extension{ID: oidDistributionPoint, Critical: true, Value: value}
	}
	named := "a019a0178615" + hex.EncodeToString([]byte(uri))
	longNumber := append([]byte{2, maxNumber}, bytes.Repeat([]byte{1}, maxNumber)...)
	for _, test := range []struct {
		name            string
		extension       der.Extension
		user, authority error // of Parse or Find
	}{
		{"all certificates", point(""), nil, nil},
		{"users' certificates", point("8101ff"), nil, ErrScope},
		{"authorities' certificates", point("8201ff"), ErrScope, nil},
		{"both flags false", point("810100820100"), nil, nil},
		{"some reasons only", point("83020640"), ErrScope, ErrScope},
		{"indirect list", point("8401ff"), ErrScope, ErrScope},
		{"attribute certificates", point("8501ff"), ErrScope, ErrScope},
		{"distribution point of the user", point(named), nil, ErrScope},
		{"another distribution point", point(strings.Replace(named, "6578", "6579", 1)), ErrScope, ErrScope},
		{"distribution point relative to the issuer", point("a002a100"), ErrScope, ErrScope},
		{"flags out of order", point("8201ff8101ff"), ErrFormat, ErrFormat},
		{"flag of two bytes", point("8102ffff"), ErrFormat, ErrFormat},
		{"as many URIs as allowed", point("a022a020" + strings.Repeat("8600", maxURIs)), ErrScope, ErrScope},
		{"more URIs than allowed", point("a024a022" + strings.Repeat("8600", maxURIs+1)), ErrFormat, ErrFormat},
		{"delta list", der.Extension{ID: oidDelta, Critical: true, Value: []byte{2, 1, 1}}, ErrScope, ErrScope},
		{"unknown critical extension", der.Extension{ID: oid(1, 2, 3), Critical: true}, ErrScope, ErrScope},
		{"unknown extension, not critical", der.Extension{ID: oid(1, 2, 3)}, nil, nil},
		{"expiredCertsOnCRL", der.Extension{ID: oidExpiredOnList, Value: []byte("\x18\x0f20200101000000Z")}, nil, nil},
		{"expiredCertsOnCRL without a time", der.Extension{ID: oidExpiredOnList, Value: []byte{5, 0}}, ErrFormat, ErrFormat},
		{"CRL number that is NULL", der.Extension{ID: oidNumber, Value: []byte{5, 0}}, ErrFormat, ErrFormat},
		{"CRL number longer than allowed", der.Extension{ID: oidNumber, Value: longNumber}, ErrFormat, ErrFormat},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := Parse(assemble(t, ca, 1, nil, test.extension))
			for cert, want := range map[*x509.Certificate]error{user.Cert: test.user, authority.Cert: test.authority} {
				got := err
				if got == nil {
					_, got = l.Find(cert)
				}
				if !errors.Is(got, want) {
					t.Errorf("%s: got %v, want %v", cert.Subject, got, want)
				}
			}
		})
	}
}
