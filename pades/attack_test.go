package pades_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
)

// attack makes a signature vouch for what its signer never saw.
type attack struct {
	family string // as the literature calls it
	name   string
	craft  func(*scene) []byte
	want   noticing
}

// Families of attacks: "1 Trillion Dollar Refund" (Mladenov et al., CCS 2019), "Shadow Attacks"
// (Mainka et al., NDSS 2021), "Breaking the Specification: PDF Certification" (Rohlmann et al.,
// IEEE S&P 2021).
const (
	universal    = "universal signature forgery"
	incremental  = "incremental saving"
	wrapping     = "signature wrapping"
	shadow       = "shadow"
	certifying   = "certification"
	structural   = "structure"
	signedDataOf = "CMS"
	proofs       = "proof"
	purposes     = "purpose of the certificate"
)

// noticing says whether a report tells its reader of the attack.
type noticing func(report *ades.Report) bool

// unreadable: there is no report, as nobody can read the document. All others have to be read.
var unreadable noticing

// notPassed: the signature itself is none that passes.
func notPassed(report *ades.Report) bool {
	return !slices.ContainsFunc(report.Signatures, func(s ades.SignatureReport) bool { return s.Passed() })
}

// failed is notPassed for a reason.
func failed(sub ades.SubIndication) noticing {
	return func(report *ades.Report) bool {
		return notPassed(report) && slices.ContainsFunc(report.Signatures, func(s ades.SignatureReport) bool { return s.SubIndication == sub })
	}
}

// unsigned: what is shown has no signature that passes as one of the document as a whole.
func unsigned(report *ades.Report) bool { return !report.Passed() }

// changed: the signature is intact, and the report lists what it does not permit.
func changed(kind ades.ChangeKind) noticing {
	return func(report *ades.Report) bool {
		return slices.ContainsFunc(report.Signatures, func(s ades.SignatureReport) bool {
			return s.Intact && !s.Passed() && slices.ContainsFunc(s.Forbidden(), func(c ades.Change) bool { return c.Kind == kind })
		})
	}
}

// listed: what the signature permits is listed, and nobody has signed it.
func listed(kind ades.ChangeKind) noticing {
	return func(report *ades.Report) bool {
		return !report.Passed() && slices.ContainsFunc(report.Signatures, func(s ades.SignatureReport) bool {
			return s.Intact && slices.ContainsFunc(s.Changes, func(c ades.Change) bool { return c.Kind == kind })
		})
	}
}

// attacks are all of them.
func attacks() []attack {
	return slices.Concat(forgedInPlace, forgedWhole, forgedMessages, wrapped, saved, hiddenLater, certifiedLater, misled, restructured, falselyProven, addedFields, falselyFilledIn, doubledKeys, otherPurposes)
}

// Each of the attacks is refused or reported, and none is on a document that would not have passed.
func TestAttacks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.checkVictims(t)
	for _, a := range attacks() {
		t.Run(a.family+"/"+a.name, func(t *testing.T) {
			b := a.craft(s.in(t))
			report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: s.ca.Roots()})
			refused := errors.Is(err, ades.ErrUnreadable) || errors.Is(err, pades.ErrEncrypted)
			switch {
			case err != nil && !refused, refused != (a.want == nil):
				t.Errorf("%s, %v", spoken(report), err)
			case !refused && !a.want(report):
				t.Errorf("not noticed: %s", spoken(report))
			}
		})
	}
}
