package xades

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// signedDocument is a document with the signatures that are to be extended.
type signedDocument struct {
	*source
	signatures  []documentSignature
	allEnclosed bool // there are signatures, and all of them are enclosed
}

// documentSignature is a signature with its signature timestamps that verify.
type documentSignature struct {
	*signature
	verified        []encapsulatedTimestamp
	done            bool   // it has level LTA already
	addedProperties string // markup of the properties that it gets
}

// selection chooses the signatures to extend.
type selection func([]signature) []signature

func everySignature(all []signature) []signature { return all }

// lastSignature selects the last signature. A new signature is added after the existing ones, or
// around them.
func lastSignature(all []signature) []signature { return all[max(len(all)-1, 0):] }

// readSignedDocument reads the signatures that which selects. It refuses the document if a selected
// signature cannot be read, because then it is unknown what that signature lacks. Enclosed
// signatures are left out: adding properties would change what other signatures sign.
func readSignedDocument(ctx context.Context, src *source, which selection) (*signedDocument, error) {
	all, err := readSignatures(ctx, src.doc)
	if err != nil {
		return nil, err
	}
	open := slices.DeleteFunc(slices.Clone(all), func(s signature) bool { return s.enclosed })
	c := &signedDocument{source: src, allEnclosed: len(all) > 0 && len(open) == 0}
	selected := which(open)
	for i := range selected {
		s := &selected[i]
		if err := s.checkExtensible(); err != nil {
			return nil, err
		}
		tokens, err := s.verifiedTimestamps(ctx)
		if err != nil {
			return nil, err
		}
		c.signatures = append(c.signatures, documentSignature{signature: s, verified: tokens})
	}
	return c, nil
}

func broken(s *signature, err error) error {
	return fmt.Errorf("%w: %.100q: %w", ades.ErrBroken, s.name(), err)
}

// checkExtensible checks that the signature can be read, has a place for unsigned properties, and
// has a signer and archive timestamps to get validation data for.
func (s *signature) checkExtensible() error {
	switch {
	case s.fault != nil:
		return broken(s, s.fault)
	case s.irregularity != nil:
		return broken(s, s.irregularity)
	case s.properties == none:
		return fmt.Errorf("%w: the signature %q has no qualifying properties for validation data", ades.ErrForbidden, s.ID)
	case !s.signerNamed:
		return broken(s, errors.New("SigningCertificate names no certificate of the document"))
	}
	for _, t := range s.archiveTimestamps {
		if t.token == nil {
			return broken(s, errors.New("an archive timestamp cannot be read"))
		}
	}
	return nil
}

// verifiedTimestamps returns the signature timestamps that verify. The others are no POE of the
// signature.
func (s *signature) verifiedTimestamps(ctx context.Context) ([]encapsulatedTimestamp, error) {
	var all []encapsulatedTimestamp
	for _, t := range s.signatureTimestamps {
		ok, err := s.timestampVerifies(ctx, t)
		if err != nil {
			return nil, err
		}
		if ok {
			all = append(all, t)
		}
	}
	return all, nil
}

// verify verifies the signatures and the archive timestamps, because a timestamp over an invalid
// signature would seem to confirm it.
func (c *signedDocument) verify(ctx context.Context) error {
	for _, s := range c.signatures {
		err := s.verify(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, xmldsig.ErrLimit):
			return readError(err)
		case err != nil:
			return broken(s.signature, err)
		}
	}
	return nil
}

func (s *signature) verify(ctx context.Context) error {
	if err := s.VerifyValue(s.signer); err != nil {
		return err
	}
	for _, r := range s.References {
		if err := s.VerifyReference(ctx, r); err != nil {
			return err
		}
	}
	for _, t := range s.archiveTimestamps {
		if err := s.verifyTimestamp(ctx, t); err != nil {
			return fmt.Errorf("archive timestamp: %w", err)
		}
	}
	return nil
}

// targets returns the certificates to get validation data for: the signer's, and those of the
// timestamp authorities.
func (s documentSignature) targets() []validation.Target {
	all := []validation.Target{{Certificate: s.signer, BestSignatureTime: s.bestSignatureTime()}}
	for _, t := range s.allTimestamps() {
		all = append(all, s.authorityTarget(t))
	}
	return all
}

// authorityTarget returns the authority of a timestamp as a target. The next archive timestamp is a
// POE of the timestamp, so the authority is validated at the time of that one (EN 319 102-1 5.6.3).
func (s documentSignature) authorityTarget(t encapsulatedTimestamp) validation.Target {
	times := validation.Times{SigningTime: t.token.Time}
	isPOE := func(a encapsulatedTimestamp) bool { return t.property != none && t.property.Precedes(a.property) }
	if i := slices.IndexFunc(s.archiveTimestamps, isPOE); i >= 0 {
		times.ValidationTime = s.archiveTimestamps[i].token.Time
	}
	return validation.Target{Certificate: t.token.Certificate, Timestamp: true, Times: times}
}

// bestSignatureTime returns the time of the oldest timestamp over the signature: the signature
// existed then. It is zero if there is none.
func (s documentSignature) bestSignatureTime() (oldest time.Time) {
	for _, t := range s.allTimestamps() {
		if oldest.IsZero() || t.token.Time.Before(oldest) {
			oldest = t.token.Time
		}
	}
	return oldest
}

func (s documentSignature) allTimestamps() []encapsulatedTimestamp {
	return slices.Concat(s.verified, s.archiveTimestamps)
}

// hasLevelLTA reports whether the last archive timestamp is over all validation data for the
// signature and the timestamps before. The validation data for the last one itself is added by the
// next renewal.
func (s documentSignature) hasLevelLTA(known *validation.Known) bool {
	if len(s.archiveTimestamps) == 0 {
		return false
	}
	earlier := s.beforeLastArchive()
	lacking, _ := earlier.validationData.ShareLimit(known).Lacking(known.With(s.knownCertificates...), earlier.targets()...)
	return len(lacking) == 0 && len(earlier.verified) > 0
}

// beforeLastArchive returns the signature as it was before its last archive timestamp, with the
// validation data of then.
func (s documentSignature) beforeLastArchive() documentSignature {
	last := s.archiveTimestamps[len(s.archiveTimestamps)-1]
	earlier := *s.signature
	earlier.archiveTimestamps = slices.DeleteFunc(slices.Clone(s.archiveTimestamps), func(t encapsulatedTimestamp) bool { return t.property == last.property })
	earlier.validationData = s.dataBefore(last.property)
	over := func(t encapsulatedTimestamp) bool { return !t.property.Precedes(last.property) }
	return documentSignature{signature: &earlier, verified: slices.DeleteFunc(slices.Clone(s.verified), over)}
}

// objectsChange reports whether another signature that gets properties is in an Object that the
// archive timestamp of s is over. If that Object is also signed, the other signature is enclosed
// and gets none.
func (c *signedDocument) objectsChange(s *documentSignature) bool {
	for _, object := range s.otherObjects() {
		for _, o := range c.signatures {
			if o.signature != s.signature && !o.done && object.Contains(o.unsignedParent()) {
				return true
			}
		}
	}
	return false
}
