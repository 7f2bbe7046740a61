package httpapi_test

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/account"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// openPage is encrypted, and opens without a password.
func openPage(t *testing.T) []byte {
	t.Helper()
	folder := t.TempDir()
	plain, encrypted := filepath.Join(folder, "plain.pdf"), filepath.Join(folder, "encrypted.pdf")
	if err := os.WriteFile(plain, page, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Program(t, "qpdf"), "--encrypt", "", "owner", "256", "--", plain, encrypted).CombinedOutput(); err != nil {
		t.Fatalf("qpdf: %v\n%s", err, out)
	}
	content, err := os.ReadFile(encrypted)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// spec 4.1: the titled refusals that have to do with the document, each at the first value that
// is refused. Nothing is kept, and the key is free again.
func TestRefusedProcess(t *testing.T) {
	testenv.Slow(t, "dozens of documents are refused")
	t.Parallel()
	c := start(t, empty).sender(t)
	file := func(content []byte) fields { return draft.with(fields{"file.contentBase64": content}) }
	onPage := func(number any) fields { return draft.with(fields{"signaturePage": number}) }
	far := pdftest.Build(pdftest.Options{Page: "/MediaBox [40000 0 40595 842]"})
	small := pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 120 60]"})
	const unread, noPage, tooMany = "Document could not be read", "Signature page does not exist", "Too many participants for the page"
	for name, test := range map[string]struct {
		sent  any
		title string
	}{
		"not a PDF":                    {file([]byte("This is no PDF.")), unread},
		"one byte":                     {file([]byte{0}), unread},
		"truncated":                    {file(page[:len(page)/2]), unread},
		"a megabyte of nothing":        {file(make([]byte, 1<<20)), unread},
		"without pages":                {file(bytes.Replace(page, []byte("/Kids [10 0 R ] /Count 1"), []byte("/Kids [        ] /Count 0"), 1)), unread},
		"encrypted":                    {file(lockedPage), unread},
		"encrypted without a password": {file(openPage(t)), unread},
		"allows no signatures":         {file(unchangeable(t)), "Document does not allow signatures"},
		"page 0":                       {onPage(0), noPage},
		"page -1":                      {onPage(-1), noPage},
		"a page after the last":        {onPage(2), noPage},
		"a page far beyond":            {onPage(1 << 40), noPage},
		"a signer more than stamps":    {of(signers(stampsOnA4 + 1)...), tooMany},
		"a page too small for one":     {file(small), tooMany},
		"a page where no stamp can be": {file(far), tooMany},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			for range 2 {
				c.wantProblem(c.createWithKey(name, test.sent), http.StatusBadRequest, test.title)
				c.wantNothing()
			}
			made := c.process(http.StatusCreated, c.createWithKey(name, draft))
			c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
		})
	}
}

// What is wrong with the document is said before what is wrong with the account.
func TestOrderOfRefusals(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.portal(t) // without a payment method
	if err := s.accounts.SetQuota(t.Context(), c.account, 0); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		sent  fields
		title string
	}{
		{fields{"file.contentBase64": lockedPage, "signaturePage": 9}, "Document could not be read"},
		{fields{"signaturePage": 9}, "Signature page does not exist"},
		{fields{}, "Too many participants for the page"},
		{fields{"participants": signers(4)}, "Payment method required"},
		{fields{"participants": signers(3)}, "Storage quota exceeded"},
	} {
		c.wantProblem(c.create(of(signers(stampsOnA4+1)...).with(step.sent)), http.StatusBadRequest, step.title)
		c.wantNothing()
	}
	c.wantInvalid(c.create(draft.with(fields{"file.contentBase64": lockedPage, "file.name": 5})), "file.name")
}

// spec 4.1 and 4.7: without a payment method there are three free signatures.
// Those are spoken for which processes that wait still need; viewers need none, and the Signing API
// is never refused.
func TestFreeSignatures(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.client(t, account.Scopes()...)
	const refused = "Payment method required"
	user := c.user(person)
	c.wantProblem(c.create(of(signers(4)...)), http.StatusBadRequest, refused)
	three := c.made(of(append(signers(3), reader)...))
	c.wantProblem(c.create(draft), http.StatusBadRequest, refused)
	c.want(c.declineAs(three, 0, nil), http.StatusNoContent, nil) // of those who wait there are none now
	two := c.made(of(signers(2)...))
	c.wantProblem(c.create(of(signers(2)...)), http.StatusBadRequest, refused)
	c.signedAs(two, 0, user, "Waiting") // one made, one spoken for
	c.wantProblem(c.create(of(signers(2)...)), http.StatusBadRequest, refused)
	c.want(c.call(http.MethodDelete, pathOf(two), nil), http.StatusNoContent, nil)
	c.made(of(signers(2)...))
	for range 4 {
		c.signature(c.sign(startBody(idpSim)))
	}
	c.wantProblem(c.create(draft), http.StatusBadRequest, refused)
	if err := s.accounts.SetPaymentMethod(t.Context(), c.account, true); err != nil {
		t.Fatal(err)
	}
	c.made(of(signers(9)...))
}

// spec 4.1: the quota is for the documents of processes; the last byte of it may be used. What
// signatures add is never refused.
func TestStorageQuota(t *testing.T) {
	t.Parallel()
	s := start(t, empty)
	c := s.client(t, account.Scopes()...)
	user := c.user(person)
	allow := func(bytes int) {
		t.Helper()
		if err := s.accounts.SetQuota(t.Context(), c.account, int64(bytes)); err != nil {
			t.Fatal(err)
		}
	}
	const refused = "Storage quota exceeded"
	allow(len(page) - 1)
	c.wantProblem(c.create(draft), http.StatusBadRequest, refused)
	c.wantNothing()
	allow(len(page))
	made := c.made(draft)
	c.wantProblem(c.create(draft), http.StatusBadRequest, refused)
	c.sign(startBody(idpSim)) // its document does not count
	c.signedAs(made, 0, user, "Completed")
	_, signed := c.document(made)
	owner, err := s.accounts.Account(t.Context(), c.account)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "bytes that count", int64(len(signed)), owner.Stored)
	allow(len(signed) + len(page) - 1)
	c.wantProblem(c.create(draft), http.StatusBadRequest, refused)
	c.want(c.call(http.MethodDelete, pathOf(made), nil), http.StatusNoContent, nil)
	c.wantNothing()
	c.made(draft)
}

// A page that cannot be drawn for now is asked for again.
func TestProcessWhileTheRendererIsNotReady(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{breaks: true, renderer: unready{}}).sender(t)
	a := c.createWithKey("the contract", draft)
	c.wantProblem(a, http.StatusServiceUnavailable, "Service unavailable")
	diff(t, "Retry-After", "1", a.header.Get("Retry-After"))
	c.wantNothing()
	c.wantProblem(c.createWithKey("the contract", draft.with(fields{"file.name": "other.pdf"})), http.StatusServiceUnavailable, "Service unavailable")
}

// Where the page cannot be drawn, the answer does not claim that the page has no room (spec 3.3 and 4.1).
func TestPageThatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{}) // which has no renderer
	c := s.sender(t)
	a := c.create(draft)
	c.wantProblem(a, http.StatusBadRequest, "Too many participants for the page")
	diff(t, "detail", "The page could not be drawn to find free places for the stamps.", c.object(a)["detail"])
	c = s.signer(t)
	c.user(person)
	a = c.start(startBody(idpApp).with(inImage(fields{"alignment": "TopLeft", "positioning": "Auto"})))
	c.wantProblem(a, http.StatusBadRequest, "No free signature slot")
	diff(t, "detail", "The page could not be drawn to find a free place.", c.object(a)["detail"])
}
