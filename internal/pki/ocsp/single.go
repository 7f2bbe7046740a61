package ocsp

import (
	"crypto/x509"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// The choices of CertStatus, which are implicit (RFC 6960 4.2.1).
var (
	tagGood    = cbasn1.Tag(0).ContextSpecific()
	tagRevoked = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagUnknown = cbasn1.Tag(2).ContextSpecific()
)

// For finds the answer about a certificate, the newest if there are several.
func (r *Response) For(cert, issuer *x509.Certificate) (*Single, bool) {
	var found *Single
	for i := range r.Singles {
		s := &r.Singles[i]
		if s.ID.Serial.Cmp(cert.SerialNumber) == 0 && s.ID.IssuedBy(issuer) &&
			(found == nil || s.ThisUpdate.After(found.ThisUpdate)) {
			found = s
		}
	}
	return found, found != nil
}

func readSingle(s *cryptobyte.String) (Single, bool) {
	var sequence cryptobyte.String
	var single Single
	var ok bool
	if !s.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return Single{}, false
	}
	if single.ID, ok = readCertID(&sequence); !ok {
		return Single{}, false
	}
	if !single.readStatus(&sequence) || !readTime(&sequence, &single.ThisUpdate) ||
		!readOptionalTime(&sequence, tagContext0, &single.NextUpdate) {
		return Single{}, false
	}
	// Some responders repeat the nonce here, critical.
	extensions, err := readExplicitExtensions(&sequence, tagContext1, oidArchiveCutoff, oidNonce)
	if err != nil || !sequence.Empty() {
		return Single{}, false
	}
	cutoff, present := valueOf(extensions, oidArchiveCutoff)
	return single, !present || readTime(&cutoff, &single.ArchiveCutoff) && cutoff.Empty()
}

func (single *Single) readStatus(s *cryptobyte.String) bool {
	var contents cryptobyte.String
	var tag cbasn1.Tag
	if !s.ReadAnyASN1(&contents, &tag) {
		return false
	}
	switch tag {
	case tagGood:
		single.Status = Good
		return contents.Empty()
	case tagUnknown:
		single.Status = Unknown
		return contents.Empty()
	case tagRevoked:
		single.Status = Revoked
		return single.readRevoked(contents)
	}
	return false
}

// readRevoked reads a RevokedInfo.
func (single *Single) readRevoked(s cryptobyte.String) bool {
	var explicit cryptobyte.String
	var present bool
	return readTime(&s, &single.RevokedAt) && s.ReadOptionalASN1(&explicit, &present, tagContext0) && s.Empty() &&
		(!present || explicit.ReadASN1Enum(&single.Reason) && explicit.Empty())
}

func (single *Single) append(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		single.ID.append(b)
		single.appendStatus(b)
		b.AddASN1GeneralizedTime(single.ThisUpdate.UTC())
		if !single.NextUpdate.IsZero() {
			b.AddASN1(tagContext0, generalizedTime(single.NextUpdate))
		}
		if !single.ArchiveCutoff.IsZero() {
			var value cryptobyte.Builder
			value.AddASN1GeneralizedTime(single.ArchiveCutoff.UTC())
			der, err := value.Bytes()
			if err != nil {
				b.SetError(err)
				return
			}
			appendExtension(b, tagContext1, oidArchiveCutoff, der)
		}
	})
}

func (single *Single) appendStatus(b *cryptobyte.Builder) {
	switch single.Status {
	case Good:
		b.AddASN1(tagGood, func(*cryptobyte.Builder) {})
	case Revoked:
		b.AddASN1(tagRevoked, func(b *cryptobyte.Builder) {
			b.AddASN1GeneralizedTime(single.RevokedAt.UTC())
			if single.Reason != 0 { // "unspecified" is left out (RFC 5280 5.3.1)
				b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddASN1Enum(int64(single.Reason)) })
			}
		})
	default:
		b.AddASN1(tagUnknown, func(*cryptobyte.Builder) {})
	}
}

func generalizedTime(t time.Time) cryptobyte.BuilderContinuation {
	return func(b *cryptobyte.Builder) { b.AddASN1GeneralizedTime(t.UTC()) }
}
