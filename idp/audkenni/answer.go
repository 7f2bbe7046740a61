package audkenni

import (
	"context"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"strings"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

// answer is what the claims of an answer have; nil and "" is what they lack.
type answer struct {
	certificate *x509.Certificate
	value       []byte
	device      string
}

// hear gets the claims of the answer that is there, and goes on with what they say.
func (p *Provider) hear(ctx context.Context, c *conversation) (idp.Event, error) {
	tokens := *c.Tokens
	tokens.AuthReqID = c.AuthReqID // which states of before the field lack
	claims, err := p.options.Client.Claims(ctx, tokens)
	if err != nil {
		if f := p.errors.refusal(err); f != nil {
			return failed(*f, err), nil
		}
		return nil, fault(err, c.Interval)
	}
	a, failure := p.read(claims, c.Person)
	switch {
	case failure != nil:
		return failure, nil
	case c.Phase == choosing:
		return p.chosen(c, a)
	case c.Phase == learning:
		return p.learntBySIM(c, a)
	case c.Person.Method == idp.App:
		return p.signedByApp(c, a)
	}
	return p.signedBySIM(c, a)
}

// read reads the claims, after it has checked that neither the ID token nor the userinfo names
// another person.
func (p *Provider) read(claims ciba.Claims, person idp.Person) (a answer, failure idp.Event) {
	for _, part := range []ciba.Claims{{ID: claims.ID}, {UserInfo: claims.UserInfo}} {
		if k := idp.NamedKennitala(claim(part, "nationalRegisterId")); k != "" && k != person.Kennitala {
			return a, otherPerson
		}
	}
	der, err := base64.StdEncoding.DecodeString(claim(claims, "certificate"))
	if err != nil {
		return a, badCertificate
	}
	if len(der) > 0 {
		if a.certificate, err = x509.ParseCertificate(der); err != nil {
			return a, badCertificate
		}
		if f := checkCertificate(a.certificate, person); f != nil {
			return a, f
		}
		if name := claim(claims, "name"); name != "" && name != a.certificate.Subject.CommonName && !p.options.AnyName {
			return a, otherName
		}
	}
	value, err := base64.StdEncoding.DecodeString(claim(claims, "signature"))
	if err != nil {
		return a, badSignature
	}
	if len(value) > 0 {
		a.value = value
	}
	a.device = claim(claims, "documentNr")
	return a, nil
}

// claim returns a claim's text. Auðkenni writes "na" for what there is none of.
func claim(claims ciba.Claims, name string) string {
	if text := strings.TrimSpace(claims.Text(name)); text != "na" {
		return text
	}
	return ""
}

// checkCertificate says why a certificate is none that the person signs with.
func checkCertificate(cert *x509.Certificate, person idp.Person) idp.Event {
	switch _, isRSA := cert.PublicKey.(*rsa.PublicKey); {
	case !isRSA: // values are of PKCS #1
		return badCertificate
	case idp.Kennitala(cert) != person.Kennitala:
		return otherPerson
	}
	return nil
}

// What is wrong with an answer, in our words: Auðkenni has none for it.
var (
	noCertificate    = own(idp.CertificateNotFound, "The identity provider gave no certificate.")
	notLearnt        = own(idp.CertificateNotFound, "The signer's certificate is not known.")
	badCertificate   = own(idp.CertificateValidationError, "The identity provider's certificate cannot be used.")
	otherCertificate = own(idp.CertificateValidationError, "The signer answered with another certificate.")
	otherPerson      = own(idp.CertificateValidationError, "The identity provider's answer is about another person.")
	otherName        = own(idp.CertificateValidationError, "The certificate has another name than the identity provider.")
	noSignature      = own(idp.SignatureVerificationError, "The identity provider gave no signature.")
	badSignature     = own(idp.SignatureVerificationError, "The identity provider's signature does not verify.")
)

func own(code idp.ErrorCode, description string) idp.Event {
	return idp.Failed{Failure: idp.Failure{Code: code, Description: description}}
}
