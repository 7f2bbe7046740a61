package audkenni

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// requestAppCertificate has the person choose the device to sign with, whose certificate is the answer. The request has
// neither a text nor a digest (Auðkenni, page 1060044845).
func (p *Provider) requestAppCertificate(ctx context.Context, c *conversation) (idp.Event, error) {
	return p.request(ctx, c, choosing, newRequest(c.Person.Kennitala, p.options.App.CertificateACR, "", nil))
}

// appCertificate handles the answer to requestAppCertificate.
func (p *Provider) appCertificate(c *conversation, a answer) (idp.Event, error) {
	if a.certificate == nil {
		return noCertificate, nil
	}
	c.Device = a.device
	c.setCertificate(a.certificate)
	return c.needDigest()
}

// requestAppSignature asks the person to sign with the app.
func (p *Provider) requestAppSignature(ctx context.Context, c *conversation, sum []byte) (idp.Event, error) {
	app, hint := p.options.App, c.Person.Kennitala
	if app.SignHint == HintDocument {
		hint = cmp.Or(c.Device, hint)
	}
	r := newRequest(hint, app.SignACR, truncate(c.Document, maxText), sum)
	if app.ChoiceClaim != "" && c.Device != "" {
		r.Extra[app.ChoiceClaim] = c.Device
	}
	if app.CodeChoice {
		r.Extra["vchoice"] = "true"
	}
	if app.Confirm {
		r.Extra["confirmation_message"] = "true"
	}
	if app.LongText != "" {
		r.Extra["binding_message_long"] = fill(app.LongText, "", c.Document, maxLongText)
	}
	c.Digest, c.Code = sum, VerificationCode(sum)
	return p.request(ctx, c, signing, r)
}

// appSignature handles the answer to requestAppSignature. The answer of a device other than the chosen one has another
// certificate, for which the digest was not prepared.
func (p *Provider) appSignature(c *conversation, a answer) (idp.Event, error) {
	switch {
	case a.certificate == nil:
		return noCertificate, nil
	case a.value == nil:
		return noSignature, nil
	case !bytes.Equal(a.certificate.Raw, c.Certificate):
		return otherCertificate, nil
	}
	return idp.Signed{Values: [][]byte{a.value}}, nil
}

// beginSIM begins a conversation with the SIM. It sends a request only if the certificate is needed and not known.
func (p *Provider) beginSIM(ctx context.Context, c *conversation, known *x509.Certificate) (idp.Event, error) {
	code, err := drawCode()
	if err != nil {
		return nil, err
	}
	c.Code, c.CMS = code, p.options.SIM.CMS
	switch {
	case c.CMS:
		return c.needDigest()
	case known != nil && validAt(known, time.Now()) && checkCertificate(known, c.Person) == nil:
		c.setCertificate(known)
		return c.needDigest()
	case p.options.SIM.NoLearning:
		return unknownCertificate, nil
	}
	return p.requestSIMCertificate(ctx, c)
}

func validAt(cert *x509.Certificate, now time.Time) bool {
	return !now.Before(cert.NotBefore) && !now.After(cert.NotAfter)
}

// requestSIMCertificate asks the person to sign random bytes with the SIM, because the answer has the certificate.
func (p *Provider) requestSIMCertificate(ctx context.Context, c *conversation) (idp.Event, error) {
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return nil, err
	}
	sum := p.Traits(idp.SIM).Algorithm.Digest(random).Sum
	return p.requestSIM(ctx, c, learning, p.options.SIM.ACR, p.options.SIM.LearnText, sum)
}

// requestSIMSignature asks the person to sign with the SIM.
func (p *Provider) requestSIMSignature(ctx context.Context, c *conversation, sum []byte) (idp.Event, error) {
	acr := p.options.SIM.ACR
	if c.CMS {
		acr = p.options.SIM.CMSACR
	}
	return p.requestSIM(ctx, c, signing, acr, p.options.SIM.Text, sum)
}

func (p *Provider) requestSIM(ctx context.Context, c *conversation, next phase, acr, text string, sum []byte) (idp.Event, error) {
	c.Digest = sum
	text = fill(text, c.Code, c.Document, p.options.SIM.TextLimit)
	return p.request(ctx, c, next, newRequest(p.options.SIM.Hint.value(c.Person), acr, text, sum))
}

// simCertificate handles the answer to requestSIMCertificate. The signature proves that the certificate is the SIM's.
func (p *Provider) simCertificate(c *conversation, a answer) (idp.Event, error) {
	if f := p.checkPossession(c, a); f != nil {
		return f, nil
	}
	c.setCertificate(a.certificate)
	return c.needDigest()
}

// maxRenewals is the number of times that the certificate may change within one conversation.
const maxRenewals = 2

// simSignature handles the answer to requestSIMSignature. If the answer has another certificate than the known one, for
// which the digest was prepared, the person has to sign again.
func (p *Provider) simSignature(c *conversation, a answer) (idp.Event, error) {
	switch {
	case c.CMS && a.value == nil:
		return noSignature, nil
	case c.CMS:
		return idp.Signed{Values: [][]byte{a.value}}, nil
	}
	if f := p.checkPossession(c, a); f != nil {
		return f, nil
	}
	if bytes.Equal(a.certificate.Raw, c.Certificate) {
		return idp.Signed{Values: [][]byte{a.value}}, nil
	}
	if c.Renewals++; c.Renewals > maxRenewals {
		return otherCertificate, nil
	}
	c.setCertificate(a.certificate)
	return c.needDigest()
}

// checkPossession returns the failure for an answer whose signature does not prove possession of the certificate's key,
// or nil.
func (p *Provider) checkPossession(c *conversation, a answer) idp.Event {
	switch {
	case a.certificate == nil:
		return noCertificate
	case a.value == nil:
		return noSignature
	}
	algorithm := ades.Algorithm{Hash: p.options.SIM.Hash, Scheme: ades.PKCS1v15}
	if algorithm.Verify(a.certificate.PublicKey, c.Digest, a.value) != nil {
		return badSignature
	}
	return nil
}
