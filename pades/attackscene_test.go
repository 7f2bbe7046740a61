package pades_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// scene is where attacks are made: an authority that is trusted, who signed, and what was signed.
type scene struct {
	*testing.T
	ca       *sandboxca.Authority
	signer   person
	attacker person // whose certificate is of an authority that nobody trusts
	made     *sync.Map
}

func newScene(t *testing.T) *scene {
	ca := newAuthority(t)
	return &scene{t, ca, newPerson(t, ca, p256(t)), newPerson(t, newAuthority(t), p256(t)), new(sync.Map)}
}

// in is the scene for one attack.
func (s *scene) in(t *testing.T) *scene {
	one := *s
	one.T = t
	return &one
}

// Objects of the contract, beside those of every document of pdftest.
const (
	contractInformation = 100 + iota
	contractOverlay     // a form that the page draws
	contractFont
	contractAmount    // a field of text
	contractAmountBox // what is seen of it
	contractNote
	contractMetadata
	contractSecret   // nothing leads to it: another content of the page, which the signer did not see
	contractImpostor // nothing leads to it: another catalog, with pages of its own
)

// contract is a document of two pages with a form, a drawing, a note and what nobody sees.
func contractOptions() pdftest.Options {
	return pdftest.Options{
		Pages:   2,
		Trailer: "/Info 100 0 R",
		Catalog: "/AcroForm << /Fields [103 0 R] /DA (/F 0 Tf) /DR << /Font << /F 102 0 R >> >> >> /Metadata 106 0 R",
		Page:    "/Resources << /XObject << /Total 101 0 R >> /Font << /F 102 0 R >> >> /Annots [103 0 R 105 0 R]",
		Objects: []string{
			"<< /Title (Contract) >>",
			stream("/Type /XObject /Subtype /Form /BBox [0 0 100 20]", "0 0 100 20 re f"),
			"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
			"<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /V (250000) /DA (/F 12 Tf) /Rect [100 100 200 120] /F 4 /P 10 0 R /AP << /N 104 0 R >> >>",
			stream("/Type /XObject /Subtype /Form /BBox [0 0 100 20] /Resources << /Font << /F 102 0 R >> >>", "BT /F 12 Tf (250000) Tj ET"),
			"<< /Type /Annot /Subtype /Text /Rect [300 300 320 320] /Contents (As agreed) /F 4 /P 10 0 R >>",
			xmp("Contract", 1),
			stream("", "\n3 0 obj\n"+stream("", drawing)+"\nendobj\n"),
			"<< /Type /Catalog /Pages 109 0 R >>",
			"<< /Type /Pages /Kids [110 0 R] /Count 1 /MediaBox [0 0 595 842] >>",
			"<< /Type /Page /Parent 109 0 R /Contents 101 0 R >>",
		},
	}
}

// once makes a document that several attacks start from.
func (s *scene) once(name string, make func() []byte) []byte {
	s.Helper()
	if b, ok := s.made.Load(name); ok {
		return bytes.Clone(b.([]byte))
	}
	b := make()
	s.made.Store(name, b)
	return bytes.Clone(b)
}

// signed is the contract, signed.
func (s *scene) signed() []byte {
	return s.once("signed", func() []byte {
		return sign(s, pdftest.Build(contractOptions()), s.signer, pades.Options{Reason: "Read and agreed"})
	})
}

// shown is the contract with a signature that is seen.
func (s *scene) shown() []byte {
	return s.once("shown", func() []byte {
		return sign(s, pdftest.Build(contractOptions()), s.signer, pades.Options{Visible: at(1, 100, 200)})
	})
}

// twice is the contract with two signatures.
func (s *scene) twice() []byte {
	return s.once("twice", func() []byte {
		return sign(s, s.signed(), newPerson(s, s.ca, p256(s)), pades.Options{})
	})
}

// streams is a document whose objects are in object streams, signed.
func (s *scene) streams() []byte {
	return s.once("streams", func() []byte {
		return sign(s, pdftest.Build(pdftest.Options{Kind: pdftest.Stream, Pages: 2}), s.signer, pades.Options{})
	})
}

// certified is the contract with a certification that permits so much.
func (s *scene) certified(p pades.Permission) []byte {
	return s.once(fmt.Sprint("certified ", p), func() []byte {
		return sign(s, pdftest.Build(contractOptions()), s.signer, pades.Options{Certify: p})
	})
}

// locked is the contract with a signature that locks the field Amount.
func (s *scene) locked() []byte {
	return s.once("locked", func() []byte {
		o := contractOptions()
		o.Catalog = strings.Replace(o.Catalog, "[103 0 R]", "[103 0 R 111 0 R]", 1)
		o.Objects = append(o.Objects, "<< /FT /Sig /T (Agreed) /Lock << /Type /SigFieldLock /Action /Include /Fields [(Amount)] >> >>")
		return sign(s, pdftest.Build(o), s.signer, pades.Options{Field: "Agreed"})
	})
}

// archived is the contract at a level.
func (s *scene) archived(level ades.Level) []byte {
	return s.once(level.String(), func() []byte { return signLevel(s, pdftest.Build(contractOptions()), s.signer, level) })
}

// checkVictims makes sure that all of them pass before they are attacked.
func (s *scene) checkVictims(t *testing.T) {
	s = s.in(t)
	for name, b := range map[string][]byte{
		"signed": s.signed(), "shown": s.shown(), "twice": s.twice(), "streams": s.streams(), "locked": s.locked(),
		"P 1": s.certified(pades.NoChanges), "P 2": s.certified(pades.FormFilling), "P 3": s.certified(pades.Annotations),
		"LT": s.archived(ades.LT), "LTA": s.archived(ades.LTA), "forged by nobody": forgery{}.made(s), "form": s.form(), "all locked": s.lockedForm("/Action /All"), "two contents": s.twoContents(),
	} {
		report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: s.ca.Roots()})
		if err != nil || !report.Passed() {
			t.Errorf("%s does not pass: %v, %s", name, err, spoken(report))
		}
	}
	proven := verify(t, withResponse(ownResponse)(s), s.ca)[0]
	if proven.Indication != ades.TotalPassed || proven.Format != "PAdES-BASELINE-LT" {
		t.Errorf("with the right response: %s %s %s %v", proven.Format, proven.Indication, proven.SubIndication, proven.Problems)
	}
}

// spoken is a report in short.
func spoken(report *ades.Report) string {
	if report == nil {
		return "no report"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "passed %t", report.Passed())
	for _, s := range report.Signatures {
		fmt.Fprintf(&b, "\n%s: %s %s %s %s, intact %t, extended %t %v", s.Name, s.Format, s.Indication, s.SubIndication, s.Coverage, s.Intact, s.Extended, s.Problems)
		for _, c := range s.Changes {
			fmt.Fprintf(&b, "\n\trevision %d: %s of %s %s, permitted %t", c.Revision, c.Kind, c.Object, c.Where, c.Permitted)
		}
		for _, stamp := range s.Timestamps {
			fmt.Fprintf(&b, "\n\t%s %v, trusted %t %v", stamp.Type, stamp.Time, stamp.Trusted, stamp.Problems)
		}
	}
	return b.String()
}
