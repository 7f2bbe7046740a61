package pades_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// Validation data and document timestamps may follow a signature (ISO 32000-2 12.8.2.2.2).
func TestExtended(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for _, kind := range []pdftest.Kind{pdftest.Table, pdftest.Stream, pdftest.Hybrid} {
		t.Run(string(kind), func(t *testing.T) { checkExtended(t, pdftest.Build(pdftest.Options{Kind: kind}), p) })
	}
	for name, arguments := range encryptions {
		if !testenv.Full() && name != "AES-128" {
			continue
		}
		t.Run(name, func(t *testing.T) { checkExtended(t, encrypt(t, formToEncrypt(pdftest.Stream), "", arguments...), p) })
	}
}

// A field lock (FieldMDP) and usage rights (UR3) refer to the catalog, which validation data is added to.
func TestExtendedBesideReferencesToTheCatalog(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	rights := pdftest.Build(pdftest.Options{Catalog: "/Perms << /UR3 << /Type /Sig /Filter /Adobe.PPKLite /Reference [<< /TransformMethod /UR3 /Data 1 0 R >>] >> >>"})
	for name, signed := range map[string][]byte{
		"a lock of all fields": sign(t, pdftest.Build(lockedForm("<< /Type /SigFieldLock /Action /All >>")), p, pades.Options{Field: "First"}),
		"a lock of one field":  sign(t, pdftest.Build(lockedForm("<< /Action /Include /Fields [(Second)] >>")), p, pades.Options{Field: "First"}),
		"usage rights":         sign(t, rights, p, pades.Options{}),
	} {
		for _, level := range []ades.Level{ades.LT, ades.LTA} {
			if b := extend(t, signed, level, p.ca.Sources(nil)); !isExtended(t, b, p.ca) {
				t.Errorf("%s: not extended at %v", name, level)
			}
		}
	}
}

// checkExtended has two people sign a document and appends validation data and document timestamps.
func checkExtended(t *testing.T, b []byte, p person) {
	t.Helper()
	s := p.ca.Sources(nil)
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		signed := signFor(t, signLevel(t, b, newPerson(t, p.ca, p.key), level), p, level)
		raised := extend(t, signed, level, s)
		revisions, err := pades.Extender{Sources: s, VRI: true}.Extend(t.Context(), document(signed), level)
		if err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{
			level.String(): raised, "VRI": appendAll(t, signed, revisions), "renewed": renew(t, renew(t, raised, s), s),
		} {
			if !isExtended(t, b, p.ca) {
				t.Errorf("%v, %s: not extended", level, name)
			}
		}
	}
}

// isExtended reports whether validation data alone follows the last signature.
func isExtended(t *testing.T, b []byte, ca *sandboxca.Authority) bool {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	last := report.Signatures[len(report.Signatures)-1]
	if last.Coverage != ades.WholeRevision || last.Extended != report.Passed() {
		t.Fatalf("%s, extended %t, passed %t: %v", last.Coverage, last.Extended, report.Passed(), last.Problems)
	}
	return last.Extended
}

// Validation data that EU DSS and pyHanko append counts too, although they note themselves in the metadata.
func TestExtendedByOthers(t *testing.T) {
	ca := newAuthority(t)
	options := foreignOptions(t, ca, p256(t))
	check := func(name string, all []validators.SignedFile) {
		for _, f := range all {
			b := readFile(t, f.Path)
			if !isExtended(t, b, ca) || !isExtended(t, renew(t, b, ca.Sources(nil)), ca) {
				t.Errorf("%s, %s: not extended", name, f.File)
			}
		}
	}
	for name, sign := range foreignSigners {
		for _, level := range []ades.Level{ades.LT, ades.LTA} {
			options.Level = level.String()
			check(fmt.Sprintf("%s, %v", name, level), sign(t, options, blankFiles(t, ades.LT)...))
		}
	}
	ours := blankFiles(t, ades.LT)
	for _, path := range ours {
		writeFile(t, path, signLevel(t, readFile(t, path), newPerson(t, ca, p256(t)), ades.LT))
	}
	check("ours raised by EU DSS", validators.DSSExtend(t, options, ours...))
}

// A document that refers to more than anybody follows is not looked at to the end.
func TestExtendedTooLarge(t *testing.T) {
	t.Parallel()
	var options pdftest.Options
	var further, numbers strings.Builder
	for i := range 5 {
		numbers.Reset()
		for n := range 250_000 {
			numbers.WriteString(strconv.Itoa(1000+250_000*i+n) + " 0 R ")
		}
		options.Objects = append(options.Objects, "["+numbers.String()+"]")
		fmt.Fprintf(&further, "%d 0 R ", 100+i)
	}
	options.Page = "/PieceInfo [" + further.String() + "]"
	p := newPerson(t, newAuthority(t), p256(t))
	if isExtended(t, signLevel(t, pdftest.Build(options), p, ades.LT), p.ca) {
		t.Error("all of it was followed")
	}
}

// appendedTable are the rows of all tables.
var appendedTable = map[string][]appendedRow{"changed": changedDocuments, "not strict": notStrict, "form": changedForms, "ambiguous": ambiguous, "validation data": validationDataRows}

// document is of level LTA, with the row's revision behind it.
func (row appendedRow) document(t *testing.T, p person) []byte {
	t.Helper()
	b := signLevel(t, pdftest.Build(row.options), p, ades.LTA)
	if row.appends == nil {
		return b
	}
	if !isExtended(t, b, p.ca) {
		t.Error("not even its own validation data is recognized")
	}
	r := newRevision(t, b)
	row.appends(r)
	return r.written()
}

// Whatever else follows a signature is no validation data.
func TestAppended(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for name, rows := range appendedTable {
		for _, row := range rows {
			t.Run(name+"/"+row.name, func(t *testing.T) {
				if got := isExtended(t, row.document(t, p), p.ca); got != (name == "validation data") {
					t.Errorf("taken for validation data: %t", got)
				}
			})
		}
	}
}

// ISO 32000-2 7.6.2: with other filters, the streams of an encrypted document are others.
func TestAppendedEncryption(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := encrypt(t, formToEncrypt(pdftest.Table), "", encryptions["AES-128"]...)
	r := newRevision(t, b)
	dict, err := r.file.Dict(r.file.Trailer()["Encrypt"])
	if err != nil {
		t.Fatal(err)
	}
	hex := func(key pdf.Name) []byte { s, _ := dict[key].(pdf.String); return pdf.HexString([]byte(s)) }
	direct := fmt.Sprintf("/Encrypt << /Filter /Standard /V 4 /R 4 /Length 128 /P %d /O %s /U %s "+
		"/CF << /StdCF << /AuthEvent /DocOpen /CFM /AESV2 /Length 16 >> >> /StrF /StdCF /StmF /StdCF >>", dict["P"], hex("O"), hex("U"))
	b = regexp.MustCompile(`/Encrypt \d+ 0 R`).ReplaceAll(b, []byte(direct))
	b = signLevel(t, b, p, ades.LTA)
	r = newRevision(t, b)
	r.add(square)
	r.rewrite(`/StmF /StdCF`, "/StmF /Identity")
	if !isExtended(t, b, p.ca) || isExtended(t, r.written(), p.ca) {
		t.Error("it is no matter how the document is encrypted")
	}
}

// Nothing passes here behind which EU DSS or pyHanko see a change, of which both see some. INNSIGLI_FULL=1 has them
// judge all documents, else those of validation data and a sixth of the others.
func TestAppendedJudged(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "others judge dozens of documents")
	p := newPerson(t, newAuthority(t), p256(t))
	folder := t.TempDir()
	var names, paths []string
	for kind, rows := range appendedTable {
		for i, row := range rows {
			if !testenv.Full() && kind != "validation data" && i%6 != 0 {
				continue
			}
			path := filepath.Join(folder, fmt.Sprintf("%02d.pdf", len(paths)))
			writeFile(t, path, row.document(t, p))
			names, paths = append(names, kind+"/"+row.name), append(paths, path)
		}
	}
	judge := func(t *testing.T, changed func(i int) bool) {
		seen := 0
		for i, path := range paths {
			if !changed(i) {
				continue
			}
			if seen++; isExtended(t, readFile(t, path), p.ca) {
				t.Errorf("%s: taken for validation data", names[i])
			}
		}
		t.Logf("figure: changes in %d of %d", seen, len(paths))
		if seen == 0 {
			t.Error("no change was seen")
		}
	}
	t.Run("EU DSS", func(t *testing.T) {
		reports := validators.DSS(t, validators.DSSOptions{}, paths...)
		judge(t, func(i int) bool {
			r := reports[i]
			return r.Error != "" || len(r.Signatures) != 1 || r.Signatures[0].Modified || r.Signatures[0].UndefinedChange > 0
		})
	})
	t.Run("pyHanko", func(t *testing.T) {
		reports := validators.PyHanko(t, nil, paths...)
		judge(t, func(i int) bool {
			harmless := "LTA_UPDATES"
			switch names[i] {
			case "validation data/" + withAppearance: // which PDF/A-1 asks for
				harmless = "FORM_FILLING"
			case "validation data/" + withType: // which it takes for the name of a signature, unlike EU DSS
				harmless = "OTHER"
			}
			r := reports[i]
			return r.Error != "" || len(r.Signatures) == 0 || r.Signatures[0].ModificationLevel != harmless
		})
	})
}
