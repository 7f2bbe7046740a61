package dsig

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// FuzzRead reads signed documents with bytes replaced, and documents of nothing. What verifies says what was
// signed and covers what was signed, and everything else fails for a reason that has a name.
func FuzzRead(f *testing.F) {
	k := newECDSASigner(f)
	documents := packings(f, k)
	var signed []string
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		f.Add(uint8(len(signed)), uint16(0), []byte{})
		f.Add(uint8(len(signed)), uint16(200), []byte("<ds:Object/>"))
		signed = append(signed, k.sign(f, documents[name]))
	}
	for _, document := range []string{
		`<Signature xmlns="` + Namespace + `"/>`,
		`<a><!-- <ds:Signature> --><?ds:Signature?></a>`,
		documents["enveloping"], // not signed
	} {
		f.Add(uint8(len(signed)), uint16(0), []byte(document))
	}
	promised := promises(f, signed)
	f.Fuzz(func(t *testing.T, which uint8, at uint16, with []byte) {
		document := with
		if n := int(which) % (len(signed) + 1); n < len(signed) {
			document = []byte(signed[n]) // each process has its own
			copy(document[min(int(at), len(document)):], with)
		}
		d, err := xmldoc.Parse(document)
		if err != nil {
			return
		}
		for _, n := range Find(d) {
			s, err := Read(d, n)
			if err != nil {
				named(t, err)
				continue
			}
			if len(s.References) == 0 || len(s.References) > maxReferences || len(s.Certificates) > maxCertificates {
				t.Errorf("%d references, %d certificates", len(s.References), len(s.Certificates))
			}
			if check(t, s) && !promised[promise(t, s)] {
				t.Errorf("what nobody signed verifies: %s", document)
			}
		}
	})
}

// promises are what the signatures are over, references and value alike.
func promises(t testing.TB, signed []string) map[string]bool {
	t.Helper()
	all := make(map[string]bool)
	for _, document := range signed {
		for _, s := range signatures(t, document) {
			all[promise(t, s)] = true
		}
	}
	return all
}

func promise(t testing.TB, s *Signature) string {
	t.Helper()
	var text bytes.Buffer
	if err := s.Canonicalize(&text, s.Canonicalization, xmldoc.Subset{Apex: s.SignedInfo}); err != nil {
		t.Error(err)
	}
	for _, r := range s.References {
		if err := s.Process(&text, r, xmldoc.Canonicalization{Method: xmldoc.C14N10}); err != nil {
			t.Error(err)
		}
	}
	return text.String()
}

// check says whether a signature verifies. What is known of its references does not depend on that.
func check(t *testing.T, s *Signature) bool {
	good := len(s.Certificates) > 0
	for _, r := range s.References {
		target, err := s.Target(r)
		if err != nil {
			named(t, err)
		}
		covered, err := s.Covers(r)
		if err != nil {
			named(t, err)
		} else if covered.Apex != target {
			t.Error("a reference covers something else than it leads to")
		}
		if err := s.VerifyReference(t.Context(), r); err != nil {
			named(t, err)
			good = false
		}
	}
	if !good {
		return false
	}
	err := s.VerifyValue(s.Certificates[0])
	if err != nil {
		named(t, err)
	}
	return err == nil
}

func named(t *testing.T, err error) {
	t.Helper()
	for _, sentinel := range []error{ErrFormat, ErrReference, ErrTransform, ErrDigest, ErrLimit, ades.ErrAlgorithm, ades.ErrValue, xmldoc.ErrNamespace} {
		if errors.Is(err, sentinel) {
			return
		}
	}
	t.Errorf("an error without a name: %v", err)
}
