package pades_test

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
)

// A foreign file that takes an invisible signature takes one that is shown on its last page,
// without a fault in the increment, and Check says so beforehand. With INNSIGLI_FULL=1 it is
// all files.
func TestVisibleOverCorpus(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	tried, signed := 0, 0
	for i, f := range testenv.Expected(t, "pdf") {
		if !testenv.Full() && i%20 != 0 {
			continue
		}
		b, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		tried++
		if signsOnLastPage(t, f.Name, b, p) {
			signed++
		}
	}
	t.Logf("figure: %d of %d files signed on their last page", signed, tried)
	if signed < tried*9/10 {
		t.Errorf("only %d of %d files were signed", signed, tried)
	}
}

func signsOnLastPage(t *testing.T, name string, b []byte, p person) bool {
	t.Helper()
	o := pades.Options{Visible: at(lastPage(b), 10, 10)}
	_, err := prepare(t, b, p.signer, o)
	_, invisible := prepare(t, b, p.signer, pades.Options{})
	if (err == nil) != (invisible == nil) {
		t.Errorf("%s: %v, and invisible %v", name, err, invisible)
	}
	if err != nil {
		return false
	}
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, o, ades.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range pdflint.CheckAt(placeOf(o), b, slices.Concat(b, r.Bytes)) {
		t.Errorf("%s: %v", name, fault)
	}
	return true
}

// lastPage is the number of pages; 1 when they cannot be counted.
func lastPage(b []byte) int {
	n := 0
	err := pdf.WithRepaired(bytes.NewReader(b), int64(len(b)), func(file *pdf.File) (err error) {
		n, err = file.PageCount()
		return err
	})
	if err != nil {
		return 1
	}
	return n
}
