package pades_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// What proves a signature may follow it (ISO 32000-2 12.8.2.2.2).
func TestGrowthByProof(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	for _, kind := range []pdftest.Kind{pdftest.Table, pdftest.Stream, pdftest.Hybrid} {
		t.Run(string(kind), func(t *testing.T) { checkGrowth(t, pdftest.Build(pdftest.Options{Kind: kind}), p) })
	}
	for name, arguments := range encryptions {
		if !testenv.Full() && name != "AES-128" {
			continue
		}
		t.Run(name, func(t *testing.T) { checkGrowth(t, encrypt(t, formToEncrypt(pdftest.Stream), "", arguments...), p) })
	}
}

// checkGrowth has two people sign a document and us append all that proves it.
func checkGrowth(t *testing.T, b []byte, p person) {
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
			if !grewByProof(t, b, p.ca) {
				t.Errorf("%v, %s: something else follows", level, name)
			}
		}
	}
}

// grewByProof says whether something follows the last signature that is its proof.
func grewByProof(t *testing.T, b []byte, ca *sandboxca.Authority) bool {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), pades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	last := report.Signatures[len(report.Signatures)-1]
	if last.Coverage != ades.WholeRevision || last.Extended != report.Passed() {
		t.Fatalf("%s, extended %t, passed %t: %v", last.Coverage, last.Extended, report.Passed(), last.Problems)
	}
	return last.Extended
}

// What others append is proof too, although they note themselves in the metadata.
func TestGrowthByOthers(t *testing.T) {
	ca := newAuthority(t)
	options := foreignOptions(t, ca, p256(t))
	check := func(name string, all []validators.SignedFile) {
		for _, f := range all {
			b := readFile(t, f.Path)
			if !grewByProof(t, b, ca) || !grewByProof(t, renew(t, b, ca.Sources(nil)), ca) {
				t.Errorf("%s, %s: something else follows", name, f.File)
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
func TestGrowthOfTooMuch(t *testing.T) {
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
	if grewByProof(t, signLevel(t, pdftest.Build(options), p, ades.LT), p.ca) {
		t.Error("all of it was followed")
	}
}
