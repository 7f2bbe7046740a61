package pades_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// aboutSigner is in what a seed value says of the certificate and the hash.
var aboutSigner = regexp.MustCompile("Cert/|DigestMethod")

// prepare prepares a document, and has Check say the same of it, but for what depends on
// the signer.
func prepare(t *testing.T, b []byte, signer ades.Signer, o pades.Options) (*pades.Pending, error) {
	t.Helper()
	pending, err := pades.Prepare(t.Context(), document(b), signer, o)
	checked := pades.Check(t.Context(), document(b), o)
	ofSigner := err != nil && (errors.Is(err, ades.ErrAlgorithm) || aboutSigner.MatchString(err.Error()))
	if kindOf(checked) != kindOf(err) && (checked != nil || !ofSigner) {
		t.Errorf("prepared: %v; checked: %v", err, checked)
	}
	return pending, err
}

// kindOf is the error that callers tell apart, or else what the error says.
func kindOf(err error) string {
	for _, kind := range slices.Concat(refusals, []error{pades.ErrPage, pades.ErrRect, pades.ErrField, pades.ErrAppearance}) {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return fmt.Sprint(err)
}

// What Check leaves to Prepare: a signer, and what is drawn. Bytes that nobody needs are not
// read.
func TestCheckLeavesToPrepare(t *testing.T) {
	for name, seed := range map[string]string{
		"hash":        "<< /Ff 64 /DigestMethod [/SHA512] >>",
		"certificate": "<< /Cert << /Ff 9 /Subject [(x)] /SubjectDN [<< /CN (Nobody) >>] >> >>",
	} {
		if err := pades.Check(t.Context(), document(seeded(seed)), pades.Options{Field: "Buyer"}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	undrawn, wrong := at(1, 100, 100), at(1, 100, 100)
	undrawn.Appearance, wrong.Appearance = nil, []byte("GIF89a")
	whole := pdftest.Build(pdftest.Options{Payload: 8 << 20})
	counter := &countingReader{Reader: bytes.NewReader(whole)}
	doc := pades.Document{ReaderAt: counter, Size: int64(len(whole))}
	if err := pades.Check(t.Context(), doc, pades.Options{Visible: undrawn, Level: ades.LTA}); err != nil {
		t.Error(err)
	}
	if counter.n > len(whole)/8 {
		t.Errorf("%d bytes read of %d", counter.n, len(whole))
	}
	if err := pades.Check(t.Context(), doc, pades.Options{Visible: wrong}); !errors.Is(err, pades.ErrAppearance) {
		t.Errorf("an appearance that is none: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := pades.Check(ctx, doc, pades.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits any more: %v", err)
	}
}

// What the document does not take is refused whoever signs, and whatever is drawn.
func TestCheckRefuses(t *testing.T) {
	undrawn := at(1, 100, 100)
	undrawn.Appearance = nil
	shown := pades.Options{Visible: undrawn}
	for name, test := range map[string]struct {
		b    []byte
		o    pades.Options
		want error
	}{
		"no PDF":         {[]byte("GIF89a"), shown, ades.ErrUnreadable},
		"a password":     {encrypt(t, form(), "secret", "256"), shown, pades.ErrEncrypted},
		"permissions":    {encrypt(t, form(), "", "256", "--modify=form"), shown, ades.ErrForbidden},
		"no such page":   {form(), pades.Options{Visible: at(2, 100, 100)}, pades.ErrPage},
		"no such field":  {form(), pades.Options{Field: "Seller"}, pades.ErrField},
		"a seed value":   {seeded("<< /Ff 8 /Reasons [(Agreed)] >>"), pades.Options{Field: "Buyer", Reason: "Read"}, ades.ErrForbidden},
		"format":         {seeded("<< /Ff 2 /SubFilter /adbe.pkcs7.detached >>"), pades.Options{Field: "Buyer"}, ades.ErrForbidden},
		"unreadable DSS": {pdftest.Build(pdftest.Options{Catalog: "/DSS 42"}), pades.Options{Visible: undrawn, Level: ades.LT}, ades.ErrUnreadable},
	} {
		if err := pades.Check(t.Context(), document(test.b), test.o); !errors.Is(err, test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A document is encrypted also when it opens without a password, and whatever it permits.
func TestEncrypted(t *testing.T) {
	broken := bytes.Replace(encrypt(t, form(), "", "256"), []byte("startxref"), []byte("startxxxx"), 1)
	for name, test := range map[string]struct {
		b    []byte
		want bool
		err  error
	}{
		"plain":                {b: form()},
		"signed":               {b: seeded("<< /Ff 0 >>")},
		"an empty password":    {b: encrypt(t, form(), "", "256"), want: true},
		"an old cipher":        {b: encrypt(t, form(), "", "40"), want: true},
		"without permissions":  {b: encrypt(t, form(), "", "256", "--modify=none"), want: true},
		"a broken reference":   {b: broken, want: true},
		"a password":           {b: encrypt(t, form(), "secret", "256"), err: pades.ErrEncrypted},
		"no PDF":               {b: []byte("GIF89a"), err: ades.ErrUnreadable},
		"nothing":              {err: ades.ErrUnreadable},
		"an unknown handler":   {b: pdftest.Build(pdftest.Options{Trailer: "/Encrypt << /Filter /Acme.Secret >>"}), err: pades.ErrEncrypted},
		"a mangled dictionary": {b: pdftest.Build(pdftest.Options{Trailer: "/Encrypt 42"}), err: ades.ErrUnreadable},
	} {
		if got, err := pades.Encrypted(document(test.b)); got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}
