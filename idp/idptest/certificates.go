package idptest

import (
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

var certificates = []rule{
	{name: "NeedDigest comes again if Sign was not called", test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Approves)
		first := must[idp.NeedDigest](c)
		c.event = idp.Waiting{} // the caller crashed before Sign, and polls
		again := must[idp.NeedDigest](c)
		if !again.Certificate.Equal(first.Certificate) {
			t.Error("NeedDigest comes again with the same certificate")
		}
		must[idp.Signed](c)
	}},

	{name: "a caller that crashed goes on with the State it stored last", test: func(t testing.TB, b Backend, m idp.Method) {
		const most = 3 // answers after which nothing was stored
		c := begin(t, b, m, Approves)
		c.step()
		stored, unstored, crashed := c.stored, 0, false
		for !c.over() {
			next := c.next()
			c.make(next)
			need := is[idp.NeedDigest](c.event)
			if next.name != "Poll" || !need && !is[idp.Waiting](c.event) {
				stored, unstored, crashed = c.stored, 0, false
				continue
			}
			if unstored++; crashed || !need && unstored < most {
				continue
			}
			crashed, c.stored = true, stored
			if need {
				c.event = idp.Waiting{}
			}
		}
		if !is[idp.Signed](c.event) {
			t.Errorf("a caller that crashed goes on with the State it stored last, but the answers are %q and %+v", c.results, c.event)
		}
	}},

	{name: "Begin uses a known certificate", when: remembers, test: func(t testing.TB, b Backend, m idp.Method) {
		first := begin(t, b, m, Approves)
		must[idp.Signed](first)
		c := beginWith(t, b, first.person)
		c.known = first.need.Certificate
		c.step()
		if need, ok := c.event.(idp.NeedDigest); !ok || !need.Certificate.Equal(c.known) {
			t.Errorf("Begin answers NeedDigest with the certificate that is known, but %T", c.event)
		}
		must[idp.Signed](c)
		if !c.need.Certificate.Equal(c.known) {
			t.Error("the certificate that is known is the one that is signed with")
		}
	}},

	{name: "a renewed certificate is detected", needs: []Need{Renews}, when: remembers, test: func(t testing.TB, b Backend, m idp.Method) {
		first := begin(t, b, m, Approves)
		must[idp.Signed](first)
		b.Renew(t, first.person)
		c := beginWith(t, b, first.person)
		c.known = first.need.Certificate
		must[idp.Signed](c) // under the certificate of the last NeedDigest
		if c.need.Certificate.Equal(c.known) {
			t.Error("NeedDigest comes again with the other certificate")
		}
	}},

	{name: "an expired certificate is not used", test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Approves)
		c.known = expired(t, c.person.Kennitala)
		for !c.over() {
			c.step() // accept checks that the certificate of NeedDigest is valid
		}
		if !is[idp.Signed](c.event) {
			t.Errorf("the person is asked as if none were known, but %+v", c.event)
		}
	}},

	{name: "a certificate renewed during the conversation does not sign for the earlier one", needs: []Need{Renews}, test: func(t testing.TB, b Backend, m idp.Method) {
		c := begin(t, b, m, Approves)
		must[idp.NeedDigest](c)
		b.Renew(t, c.person)
		if until[idp.Signed](c); is[idp.Failed](c.event) {
			failsWith(t, c, idp.CertificateValidationError)
		}
	}},
}

// remembers reports whether callers store certificates of the method.
func remembers(b Backend, m idp.Method) bool { return b.Provider.Traits(m).Remember }

// expired returns a certificate that has expired and is otherwise correct.
func expired(t testing.TB, kennitala string) *x509.Certificate {
	t.Helper()
	return certtest.Issue(t, x509.Certificate{
		Subject:   pkix.Name{CommonName: "Expired", SerialNumber: kennitala},
		NotBefore: time.Now().AddDate(-2, 0, 0),
		NotAfter:  time.Now().AddDate(-1, 0, 0),
		KeyUsage:  x509.KeyUsageContentCommitment,
	}, certtest.NewKey(t, elliptic.P256()), nil, nil)
}
