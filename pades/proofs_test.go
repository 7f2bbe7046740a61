package pades_test

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// EN 319 142-1 6.3: which level a signature has by the stores that the document had, and where the proofs stand in
// them, as EU DSS finds it.
func TestLevelByStores(t *testing.T) {
	t.Parallel()
	w := newStoreWorld(t)
	authority := w.honest
	authority.signer.Certificate = verifyAny(t, w.one, w.honest.ca)[0].Timestamps[0].Authority
	w.proofs["stamped"] = responseAbout(t, authority, time.Now())
	const objects = "\n~\n$issuing\n~\n$root\n~\n$good\n~\n$list\n~\n$stamped"
	whole := []byte("<< /Type /DSS /Certs [900 0 R 901 0 R] /OCSPs [902 0 R 904 0 R] /CRLs [903 0 R] >>" + objects)
	contents, err := hex.DecodeString(string(contentsOf.FindSubmatch(w.one)[1]))
	if err != nil {
		t.Fatal(err)
	}
	inVRI := []byte("<< /VRI << /" + fmt.Sprintf("%X", sha1.Sum(contents)) + " << /Cert [900 0 R 901 0 R] /OCSP [902 0 R 904 0 R] /CRL [903 0 R] >> >> >>" + objects)
	empty := []byte("<< /Type /DSS >>")
	stored := w.attach(t, w.one, whole)
	// The form is a direct object, so that the catalog is written anew with each signature.
	form := pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [] >>"})
	twice := signFor(t, w.attach(t, signFor(t, form, w.honest, ades.T), whole), w.honest, ades.T)
	named := regexp.MustCompile(`/DSS\s*<<`).FindAllIndex(twice, -1)
	if len(named) != 2 {
		t.Fatalf("%d catalogs with a store", len(named))
	}
	leftOut := bytes.Clone(twice)
	copy(leftOut[named[1][0]:], "/DSX") // in the revision of the second signature
	archived := signFor(t, pdftest.Build(pdftest.Options{}), w.honest, ades.LTA)
	archived = extend(t, archived, ades.LTA, w.honest.ca.Sources(nil))
	var paths, names []string
	var indications [][]string
	folder := t.TempDir()
	for name, test := range map[string]struct {
		b    []byte
		want []string
	}{
		"a store":                              {stored, []string{"LT"}},
		"proofs in a VRI dictionary alone":     {w.attach(t, w.one, inVRI), []string{"LT"}},
		"a store that was replaced":            {w.attach(t, signFor(t, stored, w.honest, ades.T), empty), []string{"LT", "T"}},
		"a store that was left out":            {w.attach(t, signFor(t, stored, w.honest, ades.T), []byte("null")), []string{"T", "T"}},
		"left out with the second signature":   {leftOut, []string{"T", "T"}},
		"replaced, and nobody signed it":       {w.attach(t, stored, empty), []string{"T"}},
		"a store from before the signature":    {signFor(t, w.attach(t, pdftest.Build(pdftest.Options{}), whole), w.honest, ades.T), []string{"T"}},
		"a document timestamp":                 {archived, []string{"LTA"}},
		"a document timestamp of another type": {bytes.Replace(archived, []byte("/Type /DocTimeStamp"), []byte("/Type /Sig         "), 1), []string{"LT"}},
	} {
		var got, want, indication []string
		for i, s := range verifyAny(t, test.b, w.honest.ca) {
			indication = append(indication, string(s.Indication))
			got = append(got, s.Format)
			want = append(want, "PAdES-BASELINE-"+test.want[min(i, len(test.want)-1)])
		}
		if diff := cmp.Diff(want, got); diff != "" || len(got) != len(test.want) {
			t.Errorf("%s: %s", name, diff)
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.pdf", len(paths)))
		writeFile(t, path, test.b)
		paths, names = append(paths, path), append(names, fmt.Sprintf("%s: %v", name, want))
		indications = append(indications, indication)
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{w.honest.ca.Root()}}, paths...) {
		var theirs, indication []string
		for _, s := range r.Signatures {
			indication = append(indication, s.Indication)
			theirs = append(theirs, s.Format)
		}
		if want := names[i][len(names[i])-len(fmt.Sprint(theirs)):]; want != fmt.Sprint(theirs) {
			t.Errorf("%s, and EU DSS has %v", names[i], theirs)
		}
		// EU DSS reads no store that was there before the first signature, and nothing about it since.
		if diff := cmp.Diff(indication, indications[i]); diff != "" && !strings.HasPrefix(names[i], "a store from before") {
			t.Errorf("%s: the indications of EU DSS and here: %s", names[i], diff)
		}
	}
}

// ISO 32000-2 12.8.5: what is of another type is no timestamp of the document.
func TestTimestampOfAnotherType(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	b := extend(t, signFor(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), ades.LTA), ades.LTA, ca.Sources(nil))
	b = bytes.Replace(b, []byte("/Type /DocTimeStamp"), []byte("/Type /Sig         "), 1)
	stamps := verifyAny(t, b, ca)[0].Timestamps
	if last := stamps[len(stamps)-1]; last.Trusted || len(last.Problems) != 1 || last.Problems[0] != "The timestamp of the document is not of type DocTimeStamp." {
		t.Errorf("%+v", last)
	}
}

// What is said of somebody who has signed a moment before is asked again for the next signature: what was there
// before it makes no level LT.
func TestEvidenceOfEachSignature(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	b := pdftest.Build(pdftest.Options{})
	for range 3 {
		b = signFor(t, b, p, ades.LT)
		b = extend(t, b, ades.LT, ca.Sources(nil))
	}
	for _, s := range verify(t, b, ca) {
		if s.Format != "PAdES-BASELINE-LT" {
			t.Errorf("%s: %s", s.Name, s.Format)
		}
	}
	if revisions, err := (pades.Extender{Sources: ca.Sources(nil)}).Extend(t.Context(), document(b), ades.LT); err != nil || len(revisions) > 0 {
		t.Errorf("%d revisions for what is there, %v", len(revisions), err)
	}
}
