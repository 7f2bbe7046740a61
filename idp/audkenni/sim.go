package audkenni

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/x509"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// beginBySIM begins without asking anybody, if it can.
func (p *Provider) beginBySIM(ctx context.Context, c *conversation, known *x509.Certificate) (idp.Event, error) {
	code, err := drawCode()
	if err != nil {
		return nil, err
	}
	c.Code, c.CMS = code, p.options.SIM.CMS
	switch {
	case c.CMS:
		return c.needDigest()
	case known != nil && validAt(known, time.Now()) && checkCertificate(known, c.Person) == nil:
		c.learnt(known)
		return c.needDigest()
	case p.options.SIM.NoLearning:
		return notLearnt, nil
	}
	return p.learn(ctx, c)
}

func validAt(cert *x509.Certificate, now time.Time) bool {
	return !now.Before(cert.NotBefore) && !now.After(cert.NotAfter)
}

// learn asks the SIM to sign random bytes, because the answer has the certificate.
func (p *Provider) learn(ctx context.Context, c *conversation) (idp.Event, error) {
	nothing := make([]byte, 32)
	if _, err := rand.Read(nothing); err != nil {
		return nil, err
	}
	sum := p.Traits(idp.SIM).Algorithm.Digest(nothing).Sum
	return p.askSIM(ctx, c, learning, p.options.SIM.ACR, p.options.SIM.LearnText, sum)
}

// signBySIM asks the SIM to sign.
func (p *Provider) signBySIM(ctx context.Context, c *conversation, sum []byte) (idp.Event, error) {
	acr := p.options.SIM.ACR
	if c.CMS {
		acr = p.options.SIM.CMSACR
	}
	return p.askSIM(ctx, c, signing, acr, p.options.SIM.Text, sum)
}

func (p *Provider) askSIM(ctx context.Context, c *conversation, next phase, acr, text string, sum []byte) (idp.Event, error) {
	c.Digest = sum
	text = fill(text, c.Code, c.Document, p.options.SIM.TextLimit)
	return p.ask(ctx, c, next, question(p.options.SIM.Hint.of(c.Person), acr, text, sum))
}

// learntBySIM is the answer to learn. That the certificate is the SIM's is not for
// Auðkenni to say: the signature shows it.
func (p *Provider) learntBySIM(c *conversation, a answer) (idp.Event, error) {
	if f := p.proved(c, a); f != nil {
		return f, nil
	}
	c.learnt(a.certificate)
	return c.needDigest()
}

// renewals is how often a certificate may turn out to be another within one conversation.
const renewals = 2

// signedBySIM is the answer to signBySIM. It may come with another certificate than the one
// that was known; the digest is for the old one, so the person has to sign again.
func (p *Provider) signedBySIM(c *conversation, a answer) (idp.Event, error) {
	switch {
	case c.CMS && a.value == nil:
		return noSignature, nil
	case c.CMS:
		return idp.Signed{Values: [][]byte{a.value}}, nil
	}
	if f := p.proved(c, a); f != nil {
		return f, nil
	}
	if bytes.Equal(a.certificate.Raw, c.Certificate) {
		return idp.Signed{Values: [][]byte{a.value}}, nil
	}
	if c.Renewals++; c.Renewals > renewals {
		return otherCertificate, nil
	}
	c.learnt(a.certificate)
	return c.needDigest()
}

// proved says what keeps an answer from showing that its certificate is the SIM's.
func (p *Provider) proved(c *conversation, a answer) idp.Event {
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
