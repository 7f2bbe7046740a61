package pades_test

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
)

// FuzzDSS puts a document security store of anybody's making behind signatures. Nothing in
// it makes one better than what it proves, and whatever is in it stays there when the
// document is extended.
func FuzzDSS(f *testing.F) {
	w := newStoreWorld(f)
	for _, store := range storeSeeds() {
		f.Add([]byte(store))
	}
	f.Fuzz(func(t *testing.T, store []byte) {
		if len(store) > 1<<16 {
			t.Skip("nothing new in more of it")
		}
		w.judge(t, w.attach(t, w.three, store))
		b := w.attach(t, w.one, store)
		for _, s := range []ades.Sources{{Roots: w.honest.ca.Roots()}, w.sources()} {
			w.extend(t, b, s)
		}
	})
}

// judge verifies what all three have signed.
func (w *storeWorld) judge(t *testing.T, b []byte) {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: w.honest.ca.Roots()})
	if err != nil {
		if !refused(err) {
			t.Errorf("error of no kind: %v", err)
		}
		return
	}
	if len(report.Signatures) != 3 {
		t.Fatalf("%d signatures", len(report.Signatures))
	}
	proven := stored(b, "OCSPs", w.proofs["good"]) && stored(b, "CRLs", w.proofs["list"])
	if s := report.Signatures[0]; !proven && (s.Indication == ades.TotalPassed || s.Format != "PAdES-BASELINE-T" || !s.BestTime.IsZero()) {
		t.Errorf("without a proof: %s %s, of %v", s.Format, s.Indication, s.BestTime)
	}
	if s := report.Signatures[1]; s.Indication == ades.TotalPassed {
		t.Errorf("revoked before: %s %s", s.Format, s.Indication)
	}
	s := report.Signatures[2]
	if s.Passed() || s.Format != "PAdES-BASELINE-T" || s.Chain != nil || !s.BestTime.IsZero() || s.Timestamps[0].Trusted {
		t.Errorf("of another root: %s %s %s, of %v", s.Format, s.Indication, s.SubIndication, s.BestTime)
	}
}

// extend extends to LT: an error that callers know, or level LT and the store as it was.
func (w *storeWorld) extend(t *testing.T, b []byte, s ades.Sources) {
	t.Helper()
	revisions, err := pades.Extender{Sources: s}.Extend(t.Context(), document(b), ades.LT)
	if err != nil {
		if !refused(err) && !errors.Is(err, ades.ErrNoRevocation) {
			t.Errorf("error of no kind: %v", err)
		}
		return
	}
	whole := bytes.Clone(b)
	for _, r := range revisions {
		whole = append(whole, r.Bytes...)
	}
	was, is := storeOf(b), storeOf(whole)
	for _, fault := range pdflint.Check(b, whole) {
		t.Errorf("%+v", fault)
	}
	for key, value := range was.dict {
		if !was.keptIn(is, key, value) {
			t.Errorf("/%s was %v, and is %v", key, value, is.dict[key])
		}
	}
	signature := verifyAny(t, whole, w.honest.ca)[0]
	if signature.Format != "PAdES-BASELINE-LT" || signature.Indication != ades.TotalPassed {
		t.Errorf("extended: %s %s %s %v", signature.Format, signature.Indication, signature.SubIndication, signature.Problems)
	}
}

// openStore is a document security store with the file that it is in.
type openStore struct {
	file    *pdf.File
	catalog pdf.Ref
	dict    pdf.Dict
}

// storeOf returns the store as far as there is one.
func storeOf(b []byte) openStore {
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return openStore{}
	}
	ref, catalog, err := file.Catalog()
	if err != nil {
		return openStore{}
	}
	dict, err := file.Dict(catalog["DSS"])
	if err != nil {
		return openStore{}
	}
	return openStore{file, ref, dict}
}

// keptIn: an array may have grown at its end, a dictionary by further keys. The catalog is that of the new store.
func (s openStore) keptIn(later openStore, key pdf.Name, value pdf.Object) bool {
	if value == pdf.Object(s.catalog) {
		return later.dict[key] == value
	}
	old, err := s.file.Resolve(value)
	if err != nil {
		return true // nobody can say what it was
	}
	now, err := later.file.Resolve(later.dict[key])
	switch old := old.(type) {
	case pdf.Array:
		array, ok := now.(pdf.Array)
		return ok && len(array) >= len(old) && reflect.DeepEqual(array[:len(old)], old)
	case pdf.Dict:
		dict, _ := now.(pdf.Dict)
		for key, value := range old {
			if !reflect.DeepEqual(dict[key], value) {
				return false
			}
		}
		return true
	}
	return err == nil && (old == nil || reflect.DeepEqual(now, old))
}

// stored says whether an array of the store has a stream with the proof in it.
func stored(b []byte, key pdf.Name, proof []byte) bool {
	s := storeOf(b)
	if s.dict == nil {
		return false
	}
	array, err := s.file.Array(s.dict[key])
	if err != nil {
		return false
	}
	for _, entry := range array {
		stream, err := s.file.StreamObject(entry)
		if err != nil || stream == nil {
			continue
		}
		if der, err := s.file.Stream(stream, 1<<20); err == nil && bytes.Contains(der, proof) {
			return true
		}
	}
	return false
}
