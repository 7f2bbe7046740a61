package pades_test

import (
	"bytes"
	"crypto/x509"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/internal/validators"
	"github.com/innsigli/innsigli/pades"
)

// verdict is what two validators are compared by.
type verdict struct{ Format, Indication, SubIndication string }

// Why EU DSS says something else about a file.
const (
	otherProfile = "a profile of EN 319 142-2, or none, that has no name here"
	noAnchor     = "EU DSS finds LT and LTA without a trust anchor where revocation data goes up to a self-signed certificate"
	unread       = "what cannot be read has no format here"
	algorithm    = "an algorithm that is not known here is no failure"
	encoding     = "a CMS whose encoding or digest is read otherwise"
	twoSigners   = "the signature of more than one signer is none of these formats"
)

// elsewhere are the signed files about which EU DSS says something else.
var elsewhere = map[string]string{
	"BadEncodedCMS.pdf": unread, "pdf-with-two-empty-sigs.pdf": unread, "hello_signed_INCSAVE_signed_EDITED.pdf": unread,
	"pades-spoofing-replaced-reason.pdf": unread, "pades_infinite_loop.pdf": unread, "pdf-byterange-overlap.pdf": unread,
	"pdf-removed-pages.pdf": unread, "pdf-signed-corrupted.pdf": unread, "pdf-spoofing-attack.pdf": unread, "siwa.pdf": unread,
	"wrong-digest-algo.pdf": unread, "pkcs7_sha1.pdf": unread, "pades-enveloping-empty-bytes-cms.pdf": unread,

	"PAdES_with_er.pdf": otherProfile, "Signature-P-FR_CS-5.pdf": otherProfile, "pades-bes.pdf": otherProfile, "pades-epes.pdf": otherProfile,
	"pades-ltv-from-epes.pdf": otherProfile, "pades-ltv-with-reason.pdf": otherProfile, "pades-ltv.pdf": otherProfile,

	"PAdES-LT.pdf": noAnchor, "Signature-P-SK-6.pdf": noAnchor, "lt-short.pdf": noAnchor, "pades-enveloping-other-pdf.pdf": noAnchor, "pdf-self-issued-ocsp.pdf": noAnchor,

	"PAdES-BpB-att-SHA256-SHA3_224withRSA.pdf": algorithm, "Signature-P-HU_NET-2.pdf": algorithm,
	"TeleSec_PKS_eIDAS_QES_CA_1-baseline-b.pdf": algorithm, "pades-unsupported-signature-algorithm.pdf": algorithm,

	"Signature-P-IT_ADO-1 (HASH_FAILURE) (ECDSA).pdf": encoding, "Signature-P-SK-1 (HASH_FAILURE).pdf": encoding, "pades3_Baseline_B.pdf": encoding,

	"pdf-double-signer-info.pdf": twoSigners,
}

// EN 319 142-1 6.3 and EN 319 102-1 5: the levels and verdicts that EU DSS finds in foreign
// files, without a trust anchor.
func TestLevelsOfForeignFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/pdf"), "*.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if !testenv.Full() {
		paths = sampleOf(paths, 6)
	}
	for i, report := range validators.DSS(t, validators.DSSOptions{}, paths...) {
		name := filepath.Base(paths[i])
		b, err := os.ReadFile(paths[i])
		if err != nil {
			t.Fatal(err)
		}
		ours, err := pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, pades.VerifyOptions{Roots: x509.NewCertPool()})
		if err != nil {
			ours = new(ades.Report)
		}
		want, got := []verdict{}, []verdict{}
		for _, s := range report.Signatures {
			want = append(want, verdict{s.Format, s.Indication, s.SubIndication})
		}
		for _, s := range ours.Signatures {
			got = append(got, verdict{s.Format, string(s.Indication), string(s.SubIndication)})
		}
		if diff := cmp.Diff(want, got); (diff != "") != (elsewhere[name] != "") {
			t.Errorf("%s (-EU DSS +ours):\n%s", name, diff)
		}
	}
}

// sampleOf returns every n-th of all.
func sampleOf(all []string, n int) []string {
	var some []string
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}
