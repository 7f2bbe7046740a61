package idptest

import (
	"time"
	"unicode/utf8"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/pki/cms"
)

const (
	// slack is the tolerance for the difference of clocks and the duration of a call.
	slack = 5 * time.Second
	// maxDescription is the maximum length of Failure.Description in bytes.
	maxDescription = 4096
)

// check checks the result of a call by the rules for all conversations.
func (c *conversation) check(of call, state idp.State, event idp.Event) {
	c.t.Helper()
	failed, over := event.(idp.Failed)
	if !over || state.Provider != "" { // without a State, Begin has failed
		c.checkState(of, state)
	}
	switch e := event.(type) {
	case idp.Waiting:
		if remaining := state.Expires.Sub(c.began) + slack; e.RetryAfter < 0 || e.RetryAfter > remaining {
			c.t.Errorf("RetryAfter lies in the conversation, but %s answers %v with %v left", of.name, e.RetryAfter, remaining)
		}
		c.checkCode(of, e.Code)
	case idp.NeedDigest:
		c.checkCertificate(e)
		if c.signs != nil && e.Certificate.Equal(c.need.Certificate) {
			c.t.Errorf("after Sign NeedDigest comes again for another certificate only, but %s answers the same", of.name)
		}
		if e.Code != "" || c.person.Method == idp.SIM { // that of the app may depend on the digest
			c.checkCode(of, e.Code)
		}
		c.need = e
	case idp.Signed:
		c.checkSigned(e)
	case idp.Failed:
		if d := failed.Description; len(d) > maxDescription || !utf8.ValidString(d) || !utf8.ValidString(failed.OAuth) {
			c.t.Errorf("a failure's words are short and UTF-8, but %q", d)
		}
		if failed.Code.Pending() {
			c.t.Errorf("%s is no end", failed.Code)
		}
	case idp.Continue:
	default:
		c.t.Fatalf("%s answers %T, which is no event", of.name, event)
	}
	if !over && c.person.Method == idp.SIM && !c.start && !c.codeAtStart {
		c.t.Errorf("the start call shows the SIM's code (spec 3.5), but by %q it is not known", c.results)
	}
}

// checkState checks that the State has Begin's key, expires, and has the provider and the version of the one before.
func (c *conversation) checkState(of call, state idp.State) {
	c.t.Helper()
	if state.Key != c.key {
		c.t.Errorf("the State of %s has the key %q, not Begin's", of.name, state.Key)
	}
	if state.Provider == "" || state.Expires.IsZero() {
		c.t.Errorf("the State of %s names no provider or does not expire: %q, %v", of.name, state.Provider, state.Expires)
	}
	if before := c.stored; before != nil {
		if earlier := c.state(); earlier.Provider != state.Provider || earlier.Version != state.Version && !c.outdated {
			c.t.Errorf("the State of %s is of %q version %d, the one before of %q version %d", of.name, state.Provider, state.Version, earlier.Provider, earlier.Version)
		}
	}
}

// checkCertificate checks that the certificate is the person's, valid, and fits the Traits.
func (c *conversation) checkCertificate(e idp.NeedDigest) {
	c.t.Helper()
	traits := c.traits()
	if traits.CMS {
		if e.Certificate != nil {
			c.t.Error("with Traits.CMS NeedDigest has no certificate")
		}
		return
	}
	if e.Certificate == nil {
		c.t.Fatal("NeedDigest has a certificate")
	}
	for _, further := range e.Chain {
		if further == nil {
			c.t.Error("the Chain of NeedDigest has a nil certificate")
		}
	}
	if got := idp.Kennitala(e.Certificate); got != idp.NormalizeKennitala(c.person.Kennitala) && !traits.ByPhone && !e.Certificate.Equal(c.known) {
		c.t.Errorf("the certificate names the person (spec 3.8), but it has another kennitala")
	}
	if now := time.Now(); now.Before(e.Certificate.NotBefore) || now.After(e.Certificate.NotAfter) {
		c.t.Error("the certificate is valid now")
	}
	if (traits.Algorithm.Hash != 0 || traits.Algorithm.Scheme != 0) && traits.Algorithm.Check(e.Certificate.PublicKey) != nil {
		c.t.Errorf("the certificate's key signs by Traits.Algorithm, but %v", traits.Algorithm.Check(e.Certificate.PublicKey))
	}
}

// checkSigned verifies each value over its digest.
func (c *conversation) checkSigned(e idp.Signed) {
	c.t.Helper()
	if c.code == "" {
		c.t.Errorf("a code was shown before the person signs, but the answers are %q", c.results)
	}
	if len(e.Values) != len(c.signs) || len(c.signs) == 0 {
		c.t.Fatalf("Signed has a value for each digest of Sign, but %d for %d", len(e.Values), len(c.signs))
	}
	for i, value := range e.Values {
		var err error
		if c.traits().CMS {
			err = c.verifyCMS(value, c.signs[i].Sum)
		} else {
			err = c.signs[i].Algorithm.Verify(c.need.Certificate.PublicKey, c.signs[i].Sum, value)
		}
		if err != nil {
			c.t.Errorf("value %d verifies over its digest under the certificate of the last NeedDigest, but: %v", i, err)
		}
	}
}

// verifyCMS verifies a detached CMS over the digest of its content.
func (c *conversation) verifyCMS(value, sum []byte) error {
	c.t.Helper()
	sd, err := cms.Parse(value)
	if err != nil {
		return err
	}
	signer, err := sd.Signer()
	if err != nil {
		return err
	}
	if !c.traits().ByPhone && idp.Kennitala(signer) != idp.NormalizeKennitala(c.person.Kennitala) {
		c.t.Errorf("the certificate in the CMS names the person (spec 3.8), but it has another kennitala")
	}
	return sd.Verify(sum)
}

// checkCode checks a verification code. The client shows the first code of a conversation until its end, and the person
// compares it with that on the phone (spec 3.5).
func (c *conversation) checkCode(of call, code string) {
	c.t.Helper()
	if code == "" && c.code == "" {
		return
	}
	if !fourDigits(code) {
		c.t.Errorf("a code is 4 digits (spec 3.5), but %s shows %q", of.name, code)
	}
	if c.code != "" && code != c.code {
		c.t.Errorf("a code stays once it was shown, but %s shows %q after %q", of.name, code, c.code)
	}
	c.code, c.codeAtStart = code, c.codeAtStart || c.start
	if c.backend.Code == nil || c.signs == nil {
		return
	}
	if want := c.backend.Code(c.person.Method, c.signs); want != "" && code != want {
		c.t.Errorf("the code of the digests is %q, but %s shows %q", want, of.name, code)
	}
}

func fourDigits(code string) bool {
	if len(code) != 4 {
		return false
	}
	for _, digit := range []byte(code) {
		if digit < '0' || digit > '9' {
			return false
		}
	}
	return true
}
