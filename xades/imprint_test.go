package xades

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"errors"
	"fmt"
	"hash"
	"maps"
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

// plainHash is a hash that cannot be copied, and refusingHash one that refuses it (hash.Cloner).
type (
	plainHash    struct{ hash.Hash }
	refusingHash struct{ hash.Hash }
)

func (refusingHash) Clone() (hash.Cloner, error) { return nil, errors.ErrUnsupported }

func init() {
	crypto.RegisterHash(crypto.MD4, func() hash.Hash { return plainHash{crypto.SHA256.New()} })
	crypto.RegisterHash(crypto.RIPEMD160, func() hash.Hash { return refusingHash{crypto.SHA256.New()} })
}

// TestImprintsWithoutCopies computes the imprints of archive timestamps with hashes that cannot be copied,
// as those of GOFIPS140=v1.0.0.
func TestImprintsWithoutCopies(t *testing.T) {
	t.Parallel()
	key := certtest.NewKey(t, elliptic.P256())
	doc := Document{ReaderAt: strings.NewReader("<a></a>"), Size: int64(len("<a></a>"))}
	r, err := Sign(t.Context(), doc, key, catest.IssueSigner(t, catest.New(t), key, time.Now()), Options{}, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	src, err := readSource(t.Context(), doc.With(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := readSignatures(t.Context(), src.doc)
	if err != nil {
		t.Fatal(err)
	}
	for _, added := range []string{"", "one", "two"} {
		want, err := all[0].archiveTimestampImprint(t.Context(), exclusive, crypto.SHA256, none, []byte(added))
		for _, h := range []crypto.Hash{crypto.MD4, crypto.RIPEMD160} {
			got, err2 := all[0].archiveTimestampImprint(t.Context(), exclusive, h, none, []byte(added))
			if err != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Errorf("%v, %q: got %x, %v, want %x, %v", h, added, got, err2, want, err)
			}
		}
	}
}
