package validators

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// What foreign programs say about foreign files without any anchor. DSS: format,
// indication and sub-indication of each signature. pyHanko: intact, valid, coverage and
// level of modification. pdfsig: the signature's verdict.
var foreignFiles = map[string]struct {
	dss     [][3]string
	pyhanko []pyhankoVerdict
	pdfsig  []string
}{
	"pades-bes.pdf": {
		[][3]string{{"PAdES-BES", "INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"}},
		[]pyhankoVerdict{{true, true, "ENTIRE_FILE", "NONE"}},
		[]string{"Signature is Valid."},
	},
	"DSS-3226.pdf": {
		[][3]string{
			{"PAdES-BASELINE-B", "INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"},
			{"PAdES-BASELINE-B", "INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"},
		},
		[]pyhankoVerdict{{true, true, "ENTIRE_REVISION", "FORM_FILLING"}, {true, true, "ENTIRE_FILE", "NONE"}},
		[]string{"Signature is Valid.", "Signature is Valid."},
	},
	"pdf-self-issued-ocsp.pdf": {
		[][3]string{{"PAdES-BASELINE-LTA", "INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"}},
		[]pyhankoVerdict{{true, true, "ENTIRE_REVISION", "FORM_FILLING"}, {true, true, "ENTIRE_FILE", "NONE"}},
		[]string{"Signature is Valid.", "Signature has not yet been verified."},
	},
	"pades-spoofing-replaced-reason.pdf": {
		[][3]string{{"PAdES-BASELINE-B", "TOTAL_FAILED", "FORMAT_FAILURE"}},
		[]pyhankoVerdict{{true, true, "CONTIGUOUS_BLOCK_FROM_START", "OTHER"}},
		[]string{"Signature is Valid."},
	},
	"pdf-removed-pages.pdf": {
		[][3]string{{"PAdES-BASELINE-T", "TOTAL_FAILED", "FORMAT_FAILURE"}},
		[]pyhankoVerdict{{true, true, "ENTIRE_REVISION", "OTHER"}},
		[]string{"Signature is Valid."},
	},
	"pades-unsupported-signature-algorithm.pdf": {
		[][3]string{{"PAdES-BASELINE-B", "TOTAL_FAILED", "SIG_CRYPTO_FAILURE"}},
		[]pyhankoVerdict{{true, false, "ENTIRE_FILE", "NONE"}},
		[]string{"Unknown Validation Failure."},
	},
	"pdf-byterange-overlap.pdf": {
		[][3]string{
			{"PAdES-BASELINE-B", "INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND"},
			{"PAdES-BASELINE-B", "TOTAL_FAILED", "FORMAT_FAILURE"},
		},
		[]pyhankoVerdict{{true, true, "ENTIRE_REVISION", "FORM_FILLING"}, {false, true, "UNCLEAR", "OTHER"}},
		[]string{"Signature is Valid.", "Digest Mismatch."},
	},
}

type pyhankoVerdict struct {
	Intact, Valid     bool
	Coverage, Changes string
}

// foreignPaths returns the files of the table in one order for every validator.
func foreignPaths(t *testing.T) (names, paths []string) {
	folder := testenv.Corpus(t, "signed/pdf")
	for name := range foreignFiles {
		names = append(names, name)
		paths = append(paths, filepath.Join(folder, name))
	}
	return names, paths
}

func TestDSSOnForeignFiles(t *testing.T) {
	names, paths := foreignPaths(t)
	for i, report := range DSS(t, DSSOptions{}, paths...) {
		var got [][3]string
		for _, s := range report.Signatures {
			got = append(got, [3]string{s.Format, s.Indication, s.SubIndication})
		}
		if diff := cmp.Diff(foreignFiles[names[i]].dss, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", names[i], diff)
		}
	}
}

func TestPyHankoOnForeignFiles(t *testing.T) {
	names, paths := foreignPaths(t)
	for i, report := range PyHanko(t, nil, paths...) {
		var got []pyhankoVerdict
		for _, s := range report.Signatures {
			got = append(got, pyhankoVerdict{s.Intact, s.Valid, s.Coverage, s.ModificationLevel})
		}
		if diff := cmp.Diff(foreignFiles[names[i]].pyhanko, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", names[i], diff)
		}
	}
}

func TestPDFSigOnForeignFiles(t *testing.T) {
	names, paths := foreignPaths(t)
	for i, path := range paths {
		signatures, err := PDFSig(t, PDFSigOptions{}, path)
		if err != nil {
			t.Errorf("%s: %v", names[i], err)
		}
		var got []string
		for _, s := range signatures {
			got = append(got, s.Signature)
		}
		if diff := cmp.Diff(foreignFiles[names[i]].pdfsig, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", names[i], diff)
		}
	}
}

// A file that cannot be read is an answer of its own and ends no program's run; one
// without signatures is no error.
func TestFilesWithoutSignatures(t *testing.T) {
	notPDF := filepath.Join(testenv.Corpus(t, "signed"), "expected.tsv")
	unsigned := filepath.Join(testenv.Corpus(t, "pdf"), "160F-2019.pdf")
	t.Run("EU DSS", func(t *testing.T) {
		got := DSS(t, DSSOptions{}, notPDF, unsigned)
		if got[0].Error == "" || got[1].Error != "" || len(got[1].Signatures) > 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("pyHanko", func(t *testing.T) {
		got := PyHanko(t, nil, notPDF, unsigned)
		if got[0].Error == "" || got[1].Error != "" || len(got[1].Signatures) > 0 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("pdfsig", func(t *testing.T) {
		if got, err := PDFSig(t, PDFSigOptions{}, notPDF); err == nil {
			t.Errorf("not a PDF: %+v", got)
		}
		if got, err := PDFSig(t, PDFSigOptions{}, unsigned); err != nil || len(got) > 0 {
			t.Errorf("unsigned: %+v, %v", got, err)
		}
	})
}

func TestQPDFCheckOnForeignFiles(t *testing.T) {
	folder := testenv.Corpus(t, "pdf")
	for name, test := range map[string]struct {
		warnings int
		fails    bool
	}{
		"160F-2019.pdf":                   {0, false},
		"ThuluthFeatures.pdf":             {5, false},
		"GHOSTSCRIPT-698804-1-fuzzed.pdf": {3, false},
		"Pages-tree-refs.pdf":             {0, true},
	} {
		warnings, err := QPDFCheck(t, filepath.Join(folder, name))
		if len(warnings) != test.warnings || (err != nil) != test.fails {
			t.Errorf("%s: %q, %v; want %d warnings, error %t", name, warnings, err, test.warnings, test.fails)
		}
	}
}
