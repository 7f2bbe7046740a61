package audkenni

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/idptest"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// What version 1 has stored of each phase is read without loss. That it also goes on is in
// TestConformance.
func TestStoredStatesStayReadable(t *testing.T) {
	for folder, isCMS := range map[string]bool{"testdata/state-1": false, "testdata/state-1-cms": true} {
		for _, old := range idptest.Golden(t, folder, func() []idptest.Stored { return phases(t, isCMS) }) {
			t.Run(folder+"/"+old.Name, func(t *testing.T) {
				c, err := resume(old.State)
				if err != nil {
					t.Fatal(err)
				}
				again, err := c.state()
				if err != nil {
					t.Fatal(err)
				}
				idptest.SameState(t, old.State, again)
			})
		}
	}
}

// phases are conversations of each, with what was answered and without, of somebody whose
// certificate does not expire.
func phases(t *testing.T, isCMS bool) (all []idptest.Stored) {
	t.Helper()
	certificate := certtest.Issue(t, x509.Certificate{
		Subject:   pkix.Name{SerialNumber: "PNOIS-0101302989", CommonName: "Jóna Prófdóttir"},
		NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}, openidtest.RSAKey(), nil, nil)
	p := unreachable(t, Options{SIM: SIMOptions{CMS: isCMS}})
	moments := []struct {
		method idp.Method
		phase  phase
	}{{idp.App, choosing}, {idp.App, ready}, {idp.App, signing}, {idp.SIM, learning}, {idp.SIM, ready}, {idp.SIM, signing}}
	if isCMS {
		moments = moments[4:]
	}
	for _, at := range moments {
		c := &conversation{key: "conversation", expires: time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC)}
		c.public = public{
			Person: idp.Person{Account: "account", Method: at.method, Kennitala: "0101302989", Phone: "+354 555 0101"}, Document: "Samningur um leigu.pdf",
			Phase: at.phase, CMS: isCMS, Interval: 5 * time.Second,
		}
		c.secret = secret{AuthReqID: "1c266114-a1be-4252-8ad1-04986c5b9ac1", Notification: "Y29udmVyc2F0aW9u.random"}
		s := idptest.Stored{Name: strings.ToLower(string(at.method) + "-" + string(at.phase)), Person: c.Person}
		if !isCMS && (at.phase == ready || at.phase == signing) {
			c.Certificate, s.Certificate = certificate.Raw, certificate.Raw
		}
		if at.phase == signing {
			digest := p.Traits(at.method).Algorithm.Digest([]byte("Samningur um leigu"))
			c.Digest, s.Signs = digest.Sum, []ades.Digest{digest}
			c.Code = VerificationCode(digest.Sum)
		}
		if at.method == idp.SIM {
			c.Code, c.Renewals = "0042", 1
		} else if at.phase != choosing {
			c.Device = "DEVICE-1"
		}
		s.Code = c.Code
		all = append(all, keep(t, s, c))
		if at.phase != ready {
			s.Name += "-answered"
			c.Tokens = &ciba.Tokens{Access: "access", ID: "header.claims.signature", Received: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			all = append(all, keep(t, s, c))
		}
	}
	return all
}

func keep(t *testing.T, s idptest.Stored, c *conversation) idptest.Stored {
	t.Helper()
	var err error
	if s.State, err = c.state(); err != nil {
		t.Fatal(err)
	}
	return s
}
