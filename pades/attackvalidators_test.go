package pades_test

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// attackedFile is the document of a row, and the verdict of each validator.
type attackedFile struct {
	attack
	path                           string
	report                         *ades.Report // nil: unreadable
	innsigli, dss, pyhanko, pdfsig string
}

// No document passes that EU DSS fails, and no update passes as validation data in which EU DSS or pyHanko see a
// change. Changes that pyHanko does not permit are not permitted. With INNSIGLI_FULL=1 all rows are validated, and
// docs/attacks.md is written; else a sixth.
func TestAttacksByValidators(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	rows := attacks()
	if !testenv.Full() {
		rows = sampleOf(rows, 6)
	}
	folder := t.TempDir()
	var files []*attackedFile
	var paths []string
	for i, row := range rows {
		file := &attackedFile{attack: row, path: filepath.Join(folder, fmt.Sprintf("%03d.pdf", i))}
		b := f.build(row)
		writeFile(t, file.path, b)
		report, err := f.verify(b)
		if file.innsigli = verdictOf(report, err); err == nil {
			file.report = report
		}
		files, paths = append(files, file), append(paths, file.path)
	}
	roots := []*x509.Certificate{f.ca.Root()}
	changed := 0
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: true}, paths...) {
		changed += files[i].checkDSS(t, r)
	}
	t.Logf("figure: EU DSS finds changes in %d of %d updates of documents of level LTA", changed, len(files))
	changed = 0
	for i, r := range validators.PyHanko(t, roots, paths...) {
		changed += files[i].checkPyHanko(t, r)
	}
	t.Logf("figure: pyHanko finds changes that it does not permit in %d of %d documents", changed, len(files))
	if testenv.Full() {
		for _, file := range files {
			file.askPDFSig(t, roots)
		}
		testenv.WriteTable(t, "attacks.md", attackTable(files))
	}
}

// sampleOf returns every n-th of all.
func sampleOf[T any](all []T, n int) (some []T) {
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}

func (f *attackedFile) passes() bool { return f.report != nil && f.report.Passed() }

// checkDSS returns 1 if EU DSS finds a change in an update of a document of level LTA.
func (f *attackedFile) checkDSS(t *testing.T, r validators.DSSReport) (changes int) {
	var verdicts []string
	failed, changed := false, r.Error != "" || len(r.Signatures) != 1
	for _, s := range r.Signatures {
		verdict := strings.TrimSpace(s.Indication + " " + s.SubIndication)
		if s.Modified || s.UndefinedChange > 0 {
			verdict, changed = verdict+", sees changes", true
		}
		failed = failed || s.Indication == string(ades.TotalFailed)
		verdicts = append(verdicts, verdict)
	}
	if slices.ContainsFunc(r.Timestamps, func(s validators.DSSTimestamp) bool { return s.Indication != "PASSED" }) {
		verdicts = append(verdicts, "a timestamp refused")
	}
	f.dss = joinVerdicts(r.Error != "", verdicts)
	if changed = changed && f.victim.validationUpdate; changed {
		changes = 1
	}
	if (failed || changed) && f.passes() {
		t.Errorf("%s: EU DSS has %s, Innsigli %s", f.name, f.dss, f.innsigli)
	}
	return changes
}

// harmlessToPyHanko is what pyHanko calls some updates that Innsigli takes for validation data.
var harmlessToPyHanko = map[string]string{
	emptyAppearance: "FORM_FILLING", // which PDF/A-1 requires
	typeOfVRI:       "OTHER",        // which pyHanko reads as the name of a signature, unlike EU DSS
}

// checkPyHanko returns 1 if pyHanko finds a change that it does not permit.
func (f *attackedFile) checkPyHanko(t *testing.T, r validators.PyHankoReport) (changes int) {
	var verdicts []string
	for _, s := range r.Signatures {
		switch {
		case s.BottomLine:
			verdicts = append(verdicts, "passes, "+s.ModificationLevel)
		case s.Error != "":
			verdicts = append(verdicts, "refuses")
		default:
			verdicts = append(verdicts, "fails, "+strings.TrimSpace(s.Problem+" "+s.ModificationLevel))
		}
	}
	f.pyhanko = joinVerdicts(r.Error != "", verdicts)
	switch {
	case f.victim.validationUpdate:
		harmless := cmp.Or(harmlessToPyHanko[f.name], "LTA_UPDATES")
		if r.Error == "" && len(r.Signatures) > 0 && r.Signatures[0].ModificationLevel == harmless {
			return 0
		}
		if f.passes() {
			t.Errorf("%s: pyHanko has %s, Innsigli %s", f.name, f.pyhanko, f.innsigli)
		}
		return 1
	case f.victim.everyPermission && f.report != nil:
		return compareChanges(t, f.name, r, f.report)
	}
	return 0
}

func (f *attackedFile) askPDFSig(t *testing.T, roots []*x509.Certificate) {
	signatures, err := validators.PDFSig(t, validators.PDFSigOptions{Roots: roots}, f.path)
	var verdicts []string
	for _, s := range signatures {
		verdict := strings.TrimSuffix(s.Signature, ".")
		if s.Valid() && !s.Total {
			verdict += ", not of the whole"
		}
		verdicts = append(verdicts, verdict)
	}
	f.pdfsig = joinVerdicts(err != nil, verdicts)
}

// joinVerdicts is what a validator has of a document.
func joinVerdicts(unreadable bool, verdicts []string) string {
	if unreadable {
		return "unreadable"
	}
	return cmp.Or(strings.Join(verdicts, "; "), "no signature")
}

// attackTable is docs/attacks.md.
func attackTable(files []*attackedFile) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `# Attacks on signed documents

Written by %[1]s.ci/full%[1]s: %[2]d documents that were changed after they were signed, or made by a dishonest
signer, and the verdict of each validator. The signer's authority is trusted; no validator asks for revocation, which is
optional for EU DSS here, and keeps no signature from passing for Innsigli (%[1]sINDETERMINATE TRY_LATER%[1]s). The verdict
of Innsigli begins with "passes" if the whole document does; then it has, for each signature, its level if it is above
B, the indication, and the kinds of changes that the signature does not permit ("reports") and permits ("lists").

The families are those of Mladenov et al., "1 Trillion Dollar Refund" (CCS 2019: universal signature forgery,
incremental saving, signature wrapping), Mainka et al., "Shadow Attacks" (NDSS 2021) and Rohlmann et al., "Breaking
the Specification: PDF Certification" (IEEE S&P 2021). [Attacks on signed XML](attacks-xml.md) have a table of their own.

| family | attack | Innsigli | EU DSS | pyHanko | pdfsig |
|---|---|---|---|---|---|
`, "`", len(files))
	for _, f := range files {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", f.family, cell(f.name), cell(f.innsigli), cell(f.dss), cell(f.pyhanko), cell(f.pdfsig))
	}
	return b.Bytes()
}

// Why Innsigli permits a change that pyHanko does not.
const (
	partialCoverage  = "the signature covers no revision, or is in two fields, which is worse and reported as such"
	visibleTimestamp = "pyHanko permits no new visible field after a certification; table 257 permits to sign, and the change is listed with its page"
	removedData      = "validation data was removed, which changes nothing that was signed"
	movedObject      = "an object was moved without a change"
	equalNumbers     = "the numbers are equal"
	unreferencedOnly = "nothing refers to the object, which is listed as hidden"
)

// updatedVRI are files in which each later signature removes entries of VRI.
var updatedVRI = []string{"lt-short.pdf"}

// permittedChanges are by the name of the row or file and that of the field.
var permittedChanges = map[string]string{
	"hello_signed_INCSAVE_signed_EDITED.pdf/Signature2": partialCoverage, "pades-ocsp-archiveCutOff-invalid.pdf/Signature2": partialCoverage,
	"pades-spoofing-replaced-reason.pdf/Signature1": partialCoverage, "pdf-byterange-overlap.pdf/Signature2": partialCoverage, "siwa.pdf/Signature1": partialCoverage,
	"DSS1376-rev_n.pdf/Sig1": visibleTimestamp, "PAdES-LT.pdf/Signature4": removedData,
	"Signature-P-DE_SCI-4.pdf/Signatur_1459435797602":           movedObject,
	"annotation-and-visible-change.pdf/ES_CERTIFYING_SIGNATURE": unreferencedOnly,

	"unreferenced object replaced/Signature1": unreferencedOnly, "size of all pages as real numbers/Signature1": equalNumbers,
	"signature of another field/Signature1": partialCoverage,
}

// Changes of foreign files that pyHanko does not permit are not permitted, but for permittedChanges.
func TestChangesOfForeignFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/pdf"), "*.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if !testenv.Full() {
		paths = sampleOf(paths, 8)
	}
	changes := 0
	for i, r := range validators.PyHanko(t, nil, paths...) {
		report, err := pades.Verify(t.Context(), document(readFile(t, paths[i])), ades.VerifyOptions{Roots: x509.NewCertPool()})
		if err == nil {
			changes += compareChanges(t, filepath.Base(paths[i]), r, report)
		}
	}
	t.Logf("figure: pyHanko finds other changes in %d signatures", changes)
}

// compareChanges returns in how many signatures pyHanko finds a change that it does not permit.
func compareChanges(t *testing.T, name string, theirs validators.PyHankoReport, ours *ades.Report) (changes int) {
	t.Helper()
	for _, s := range theirs.Signatures {
		at := slices.IndexFunc(ours.Signatures, func(o ades.SignatureReport) bool { return o.Name == s.Field })
		if at < 0 || s.ModificationLevel == "" {
			continue
		}
		missed := false
		if s.ModificationLevel == "OTHER" {
			changes++
			missed = len(ours.Signatures[at].Forbidden()) == 0
		}
		key := name + "/" + s.Field
		if missed != (permittedChanges[key] != "") && !slices.Contains(updatedVRI, name) {
			t.Errorf("%s: pyHanko has %s; Innsigli has the changes %+v", key, s.ModificationLevel, ours.Signatures[at].Changes)
		}
	}
	return changes
}
