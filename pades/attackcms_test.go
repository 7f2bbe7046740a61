package pades_test

import (
	"bytes"
	"encoding/asn1"
	"errors"
	"fmt"
	"testing"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// signedMessage are the parts of a SignedData that a forger changes (RFC 5652 5.1).
type signedMessage struct {
	version, digests, content, certificates []byte
	signers                                 []byte // in their SET
}

// resealed is the signer's CMS with another part.
func resealed(change func(*signedMessage)) func(*scene) []byte {
	return func(s *scene) []byte {
		return forgery{seal: func(s *scene, covered []byte) []byte {
			m, err := openMessage(honest(s, covered))
			if err != nil {
				s.Fatal(err)
			}
			change(m)
			return m.closed(s)
		}}.made(s)
	}
}

var (
	oidSignedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidData       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	explicit0     = cbasn1.Tag(0).ContextSpecific().Constructed()
)

func openMessage(der []byte) (*signedMessage, error) {
	in := cryptobyte.String(der)
	var outer, wrapped, fields, signers, part cryptobyte.String
	var kind asn1.ObjectIdentifier
	if !in.ReadASN1(&outer, cbasn1.SEQUENCE) || !outer.ReadASN1ObjectIdentifier(&kind) || !outer.ReadASN1(&wrapped, explicit0) ||
		!wrapped.ReadASN1(&fields, cbasn1.SEQUENCE) {
		return nil, errors.New("no CMS")
	}
	m := new(signedMessage)
	for _, to := range []*[]byte{&m.version, &m.digests, &m.content, &m.certificates} {
		var tag cbasn1.Tag
		if !fields.ReadAnyASN1Element(&part, &tag) {
			return nil, errors.New("no SignedData")
		}
		*to = part
	}
	if !fields.ReadASN1(&signers, cbasn1.SET) {
		return nil, errors.New("no SignerInfos")
	}
	m.signers = signers
	return m, nil
}

func (m *signedMessage) closed(s *scene) []byte {
	s.Helper()
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidSignedData)
		b.AddASN1(explicit0, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				for _, part := range [][]byte{m.version, m.digests, m.content, m.certificates} {
					b.AddBytes(part)
				}
				b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(m.signers) })
			})
		})
	})
	der, err := b.Bytes()
	if err != nil {
		s.Fatal(err)
	}
	return der
}

// carrying is an EncapsulatedContentInfo with content of its own.
func carrying(content string) []byte {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidData)
		b.AddASN1(explicit0, func(b *cryptobyte.Builder) { b.AddASN1OctetString([]byte(content)) })
	})
	return b.BytesOrPanic()
}

// withoutAttributes makes of the signature over the attributes one over what has their encoding.
func (m *signedMessage) withoutAttributes() {
	in := cryptobyte.String(m.signers)
	var signer cryptobyte.String
	if !in.ReadASN1(&signer, cbasn1.SEQUENCE) {
		return
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		for !signer.Empty() {
			var part cryptobyte.String
			var tag cbasn1.Tag
			if !signer.ReadAnyASN1Element(&part, &tag) {
				return
			}
			if tag != explicit0 {
				b.AddBytes(part)
			}
		}
	})
	m.signers = b.BytesOrPanic()
}

// EN 319 102-1 5.2.3.4, EN 319 142-1 6.3: the signer's certificate is the one in the CMS. Where that is altered, the true
// one in the document security store does not take its place; nor does the true issuer's.
func TestSignerOfTheStore(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	b := signLevel(t, pdftest.Build(pdftest.Options{}), p, ades.LT)
	signer, issuer := p.signer.Certificate.Raw, p.signer.Chain[0].Raw
	for name, test := range map[string]struct {
		der  []byte
		at   int
		want ades.SubIndication
	}{
		"its serial number":                      {signer, bytes.Index(signer, p.signer.Certificate.SerialNumber.Bytes()), ades.NoSigningCertificateFound},
		"its version, so that it cannot be read": {signer, 12, ades.NoSigningCertificateFound},
		"its value":                              {signer, len(signer) - 1, ades.NoSigningCertificateFound},
		"the value of its issuer":                {issuer, len(issuer) - 1, ades.NoCertificateChainFound},
	} {
		altered := bytes.Clone(test.der)
		altered[test.at] ^= 1
		changed := bytes.Replace(b, fmt.Appendf(nil, "%x", test.der), fmt.Appendf(nil, "%x", altered), 1)
		if bytes.Equal(changed, b) || !bytes.Contains(changed, test.der) {
			t.Fatalf("%s: the document does not have the certificate in the CMS and in the store", name)
		}
		for _, s := range verifyAny(t, changed, ca) {
			if s.Indication != ades.Indeterminate || s.SubIndication != test.want {
				t.Errorf("%s: %s %s, want %s: %q", name, s.Indication, s.SubIndication, test.want, s.Problems)
			}
		}
	}
}
