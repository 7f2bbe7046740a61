package audkenni

import (
	"bytes"
	"cmp"
	"context"

	"github.com/innsigli/innsigli/idp"
)

// choose asks the app for the certificate to sign with. There is no text and no digest
// (Auðkenni, page 1060044845).
func (p *Provider) choose(ctx context.Context, c *conversation) (idp.Event, error) {
	return p.ask(ctx, c, choosing, question(c.Person.Kennitala, p.options.App.CertificateACR, "", nil))
}

// chosen is the answer to choose.
func (p *Provider) chosen(c *conversation, a answer) (idp.Event, error) {
	if a.certificate == nil {
		return noCertificate, nil
	}
	c.Device = a.device
	c.learnt(a.certificate)
	return c.needDigest()
}

// signByApp asks the app to sign.
func (p *Provider) signByApp(ctx context.Context, c *conversation, sum []byte) (idp.Event, error) {
	app, hint := p.options.App, c.Person.Kennitala
	if app.SignHint == HintDocument {
		hint = cmp.Or(c.Device, hint)
	}
	q := question(hint, app.SignACR, cut(c.Document, longest), sum)
	if app.ChoiceClaim != "" && c.Device != "" {
		q.Extra[app.ChoiceClaim] = c.Device
	}
	if app.CodeChoice {
		q.Extra["vchoice"] = "true"
	}
	if app.Confirm {
		q.Extra["confirmation_message"] = "true"
	}
	if app.LongText != "" {
		q.Extra["binding_message_long"] = fill(app.LongText, "", c.Document, longestLong)
	}
	c.Digest, c.Code = sum, VerificationCode(sum)
	return p.ask(ctx, c, signing, q)
}

// signedByApp is the answer to signByApp. Another device than the one chosen has another
// certificate, for which the digest is not made.
func (p *Provider) signedByApp(c *conversation, a answer) (idp.Event, error) {
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
