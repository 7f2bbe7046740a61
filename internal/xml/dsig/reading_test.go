package dsig

import (
	"context"
	"errors"
	"testing"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

func parse(t testing.TB, document string) *xmldoc.Document {
	t.Helper()
	d, err := xmldoc.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func signatures(t testing.TB, document string) (all []*Signature) {
	t.Helper()
	d := parse(t, document)
	for _, n := range Find(d) {
		s, err := Read(d, n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// verify reads and verifies all signatures with the first certificate of each.
func verify(ctx context.Context, document string) error {
	d, err := xmldoc.Parse([]byte(document))
	if err != nil {
		return err
	}
	reader := NewReader(ctx, d)
	found := Find(d)
	if len(found) == 0 {
		return errors.New("no signature")
	}
	for _, n := range found {
		s, err := reader.Read(n)
		if err != nil {
			return err
		}
		if err := verifySignature(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

func verifySignature(ctx context.Context, s *Signature) error {
	for _, r := range s.References {
		if err := s.VerifyReference(ctx, r); err != nil {
			return err
		}
	}
	if len(s.Certificates) == 0 {
		return errors.New("no certificate")
	}
	return s.VerifyValue(s.Certificates[0])
}
