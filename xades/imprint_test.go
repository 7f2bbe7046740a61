package xades

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// imprints states of each timestamp of a file whether its imprint is the one that this package
// computes.
func imprints(t *testing.T, path string) []string {
	t.Helper()
	d, err := xmldoc.Parse(testenv.ReadFile(t, path))
	if err != nil {
		return nil
	}
	all, err := readSignatures(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for i := range all {
		for _, stamps := range [][]encapsulatedTimestamp{all[i].signatureTimestamps, all[i].archiveTimestamps} {
			for _, stamp := range stamps {
				found = append(found, all[i].imprint(t, stamp))
			}
		}
	}
	return found
}

func (s *signature) imprint(t *testing.T, stamp encapsulatedTimestamp) string {
	name := stamp.property.Name().Local
	if stamp.token == nil {
		return name + " unreadable"
	}
	sum, err := s.timestampImprint(t.Context(), stamp, stamp.token.Hash)
	switch {
	case err != nil:
		return fmt.Sprintf("%s: %v", name, err)
	case bytes.Equal(sum, stamp.token.Sum):
		return name + " equal"
	}
	return name + " differs"
}

// otherImprints are the samples with a timestamp whose imprint differs: it was copied from another
// signature, is over a certificate that was changed, or over a file outside of the document.
var otherImprints = map[string][]string{
	"xades-t-copied-sigtst.xml":    {"SignatureTimeStamp differs"},
	"xades-lta-corrupted-cert.xml": {"SignatureTimeStamp equal", "ArchiveTimeStamp differs"},
	"dss1688.xml": {
		"SignatureTimeStamp equal", "ArchiveTimeStamp: reading what a timestamp covers: xmldsig: reference: no URI",
	},
	"xades-detached-with-object-type-ref.xml": {
		"SignatureTimeStamp equal", "ArchiveTimeStamp: reading what a timestamp covers: xmldsig: reference: outside the document",
	},
}

// The imprints of foreign timestamps are those that this package computes (EN 319 132-1 5.3,
// 5.5.2.2), except otherImprints.
func TestImprints(t *testing.T) {
	t.Parallel()
	stamped := make(map[string][]string)
	for _, path := range samples(t) {
		got := imprints(t, path)
		if len(got) == 0 {
			continue
		}
		name := filepath.Base(path)
		stamped[path] = got
		want := otherImprints[name]
		if want == nil {
			want = equalImprints(got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if len(stamped) < 40 {
		t.Errorf("%d samples with timestamps", len(stamped))
	}
	if !testenv.Full() {
		maps.DeleteFunc(stamped, func(path string, _ []string) bool { return !slices.Contains(forDSS, filepath.Base(path)) })
	}
	compareWithDSS(t, stamped)
}

// forDSS are the samples that EU DSS validates unless INNSIGLI_FULL=1.
var forDSS = []string{
	"data2sign-signed-xades-enveloped-baseline-cts-lta.xml", "doubleSignedTest.xml", "xades-lta-valid.xml",
	"xades-t-copied-sigtst.xml", "xades-lta-corrupted-cert.xml", "Signature-X-LT-5b5edd31-344d-4d66-8e95-79f9acaab566.xml",
}

// dssAlone are timestamps that EU DSS validates and this package does not: that of a
// counter-signature, and one by the rules of XAdES 1.3.2.
var dssAlone = map[string]map[string]int{
	"X-B-LT-with-counter-sig-X-E-ERS.xml": {"SignatureTimeStamp equal": 1},
	"xades-enveloped-arcTst132.xml":       {"ArchiveTimeStamp equal": 1},
}

func samples(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no samples: %v", err)
	}
	return files
}

func equalImprints(stamps []string) []string {
	var want []string
	for _, s := range stamps {
		name, _, _ := strings.Cut(s, " ")
		want = append(want, name+" equal")
	}
	return want
}

// compareWithDSS compares the timestamps that are right here with those that are intact to EU DSS.
func compareWithDSS(t *testing.T, stamped map[string][]string) {
	t.Helper()
	paths := slices.Sorted(maps.Keys(stamped))
	for i, r := range validators.DSS(t, validators.DSSOptions{}, paths...) {
		got, want := make(map[string]int), make(map[string]int)
		maps.Copy(got, dssAlone[filepath.Base(paths[i])])
		for _, s := range r.Timestamps {
			if name := dssNames[s.Type]; name != "" && s.Intact {
				want[name+" equal"]++
			}
		}
		for _, s := range stamped[paths[i]] {
			if strings.HasSuffix(s, " equal") {
				got[s]++
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: EU DSS finds intact (-want +got):\n%s", filepath.Base(paths[i]), diff)
		}
	}
}

var dssNames = map[string]string{"SIGNATURE_TIMESTAMP": "SignatureTimeStamp", "ARCHIVE_TIMESTAMP": "ArchiveTimeStamp"}

// TestImprintsContinue reads a signature with a signature timestamp and two archive timestamps, and
// checks that the imprint of the second archive timestamp continues from the first, and is the one
// that is computed alone.
func TestImprintsContinue(t *testing.T) {
	t.Parallel()
	ca, key := catest.New(t), certtest.NewKey(t, elliptic.P256())
	doc := Document{ReaderAt: strings.NewReader("<a></a>"), Size: int64(len("<a></a>"))}
	r, err := Sign(t.Context(), doc, key, catest.IssueSigner(t, ca, key, time.Now()), Options{Level: ades.LTA}, ca.Sources(nil))
	if err != nil {
		t.Fatal(err)
	}
	renewal, err := Extender{ca.Sources(nil)}.Renew(t.Context(), doc.With(r))
	if err != nil {
		t.Fatal(err)
	}
	src, err := readSource(t.Context(), doc.With(r).With(renewal[0]), nil)
	if err != nil {
		t.Fatal(err)
	}
	read := func() *signature {
		all, err := readSignatures(t.Context(), src.doc)
		if err != nil || len(all[0].signatureTimestamps) != 1 || len(all[0].archiveTimestamps) != 2 {
			t.Fatalf("got %+v, %v", all, err)
		}
		return &all[0]
	}
	s := read()
	stamps := slices.Concat(s.signatureTimestamps, s.archiveTimestamps)
	for _, h := range []crypto.Hash{crypto.SHA1, crypto.SHA256, crypto.SHA384, crypto.SHA512, crypto.SHA3_256, crypto.SHA3_384, crypto.SHA3_512} {
		for i, stamp := range stamps {
			got, err := s.timestampImprint(t.Context(), stamp, h)
			want, err2 := read().timestampImprint(t.Context(), stamp, h)
			if err != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("timestamp %d with %v: got %x, %v, alone %x, %v", i, h, got, err, want, err2)
			}
			if h == stamp.token.Hash && !bytes.Equal(got, stamp.token.Sum) {
				t.Errorf("timestamp %d: got %x, the token has %x", i, got, stamp.token.Sum)
			}
		}
		_, taken, err := s.resumeHash(t.Context(), imprintForm{stamps[2].c14n, h}, math.MaxInt)
		if want := len(s.unsignedBefore(stamps[2].property)); err != nil || taken != want {
			t.Errorf("%v: continues after %d properties, %v, want %d", h, taken, err, want)
		}
	}
}
