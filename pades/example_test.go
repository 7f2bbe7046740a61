package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// signElsewhere is the example of docs/how-to/sign-in-go.md.
func signElsewhere(ctx context.Context, file *os.File, size int64, signer ades.SignerIdentity, ask func(ades.Digest) ([]byte, error)) error {
	document := pades.Document{ReaderAt: file, Size: size}
	pending, err := pades.Prepare(ctx, document, signer, pades.Options{Reason: "Undirritun"})
	if err != nil {
		return err
	}
	value, err := ask(pending.Digest()) // the signing key is remote
	if err != nil {
		return err
	}
	revision, err := pending.Complete(ctx, value, nil) // checks the value first
	if err != nil {
		return err
	}
	_, err = file.WriteAt(revision.Bytes, revision.Base)
	return err
}

// The signing key is remote. The file is on disk, and the signature is appended to it.
func Example() {
	folder, err := os.MkdirTemp("", "innsigli")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	content := contract()
	path := filepath.Join(folder, "contract.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		log.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()

	signer, key, _ := exampleSigner()
	ask := func(d ades.Digest) ([]byte, error) { return key.Sign(rand.Reader, d.Sum, d.Algorithm.Hash) }
	if err := signElsewhere(context.Background(), file, int64(len(content)), signer, ask); err != nil {
		log.Fatal(err)
	}

	signed, err := os.ReadFile(path)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(bytes.HasPrefix(signed, content), len(signed) > len(content))
	// Output: true true
}

// The signature value arrives after a restart of the program, which stored the pending signature.
func ExamplePending_MarshalBinary() {
	ctx := context.Background()
	content := contract()
	signer, key, _ := exampleSigner()

	pending, err := pades.Prepare(ctx, pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}, signer, pades.Options{})
	if err != nil {
		log.Fatal(err)
	}
	stored, err := pending.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}
	digest := pending.Digest()
	value, err := key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts())
	if err != nil {
		log.Fatal(err)
	}

	var later pades.Pending // in another process
	if err := later.UnmarshalBinary(stored); err != nil {
		log.Fatal(err)
	}
	revision, err := later.Complete(ctx, value, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(revision.Base == int64(len(content)))

	_, err = later.Complete(ctx, []byte("another value"), nil)
	fmt.Println(err)
	// Output:
	// true
	// ades: signature value does not verify
}

// One call signs, adds a timestamp and validation data.
func ExampleSign() {
	ctx := context.Background()
	content := contract()
	signer, key, authority := exampleSigner()
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	revision, err := pades.Sign(ctx, document, key, signer, pades.Options{
		Name:     "Example Signer",
		Location: "Reykjavík",
		Level:    ades.LT,
	}, authority.Sources(nil))
	if err != nil {
		log.Fatal(err)
	}
	report, err := pades.Verify(ctx, document.With(revision), ades.VerifyOptions{Roots: authority.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Signatures[0].Format, report.Passed())
	// Output: PAdES-BASELINE-LT true
}

func ExampleVerify() {
	ctx := context.Background()
	content := contract()
	signer, key, roots := exampleSigner()
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	revision, err := pades.Sign(ctx, document, key, signer, pades.Options{}, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}

	report, err := pades.Verify(ctx, document.With(revision), ades.VerifyOptions{Roots: roots.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Signatures {
		fmt.Println(s.Format, s.Indication, s.SubIndication)
		fmt.Println(s.Certificate.Subject.CommonName, s.Coverage)
	}
	fmt.Println(report.Passed())
	// Output:
	// PAdES-BASELINE-B INDETERMINATE TRY_LATER
	// Example Signer WHOLE_DOCUMENT
	// true
}

// The document has a signature field, which the signer signs.
func ExampleOptions_field() {
	ctx := context.Background()
	content := form()
	signer, key, roots := exampleSigner()
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	revision, err := pades.Sign(ctx, document, key, signer, pades.Options{
		Field:      "Sale.Buyer",
		Appearance: contract(), // a PDF of one page, scaled to the field's rectangle
	}, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}

	signed := document.With(revision)
	report, err := pades.Verify(ctx, signed, ades.VerifyOptions{Roots: roots.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Signatures[0].Name, report.Passed())

	_, err = pades.Prepare(ctx, signed, signer, pades.Options{Field: "Sale.Buyer"})
	fmt.Println(errors.Is(err, pades.ErrField), err)
	// Output:
	// Sale.Buyer true
	// true pades: no such empty signature field: the field "Sale.Buyer" is signed already
}

// The author certifies the document, and permits no changes.
func ExampleOptions_certify() {
	ctx := context.Background()
	content := contract()
	signer, key, _ := exampleSigner()
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	revision, err := pades.Sign(ctx, document, key, signer, pades.Options{Certify: pades.NoChanges}, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = pades.Prepare(ctx, document.With(revision), signer, pades.Options{})
	fmt.Println(errors.Is(err, ades.ErrForbidden), err)
	// Output:
	// true ades: document does not allow such a signature: its certification permits no changes
}

// The signature is visible at the foot of the page: a box with a tick, 90 points wide.
func ExampleOptions_visible() {
	ctx := context.Background()
	content := contract()
	signer, key, roots := exampleSigner()
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	options := pades.Options{Visible: &pades.Visible{
		Page: 1,
		Rect: pades.Rect{LLX: 60, LLY: 40, URX: 150, URY: 70},
	}}
	if err := pades.Check(ctx, document, options); err != nil { // before the signer is asked
		log.Fatal(err)
	}
	options.Visible.Appearance = tick() // when the signer is known
	revision, err := pades.Sign(ctx, document, key, signer, options, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}

	signed := document.With(revision)
	report, err := pades.Verify(ctx, signed, ades.VerifyOptions{Roots: roots.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Signatures[0].Name, report.Passed())

	options.Visible.Page = 2
	err = pades.Check(ctx, signed, options)
	fmt.Println(errors.Is(err, pades.ErrPage))
	// Output:
	// Signature1 true
	// true
}

// contract is a document to sign.
func contract() []byte { return pdftest.Build(pdftest.Options{}) }

// exampleSigner is a signer with the key and the authority that issued the certificate.
func exampleSigner() (ades.SignerIdentity, crypto.Signer, *sandboxca.Authority) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		log.Fatal(err)
	}
	certificate, err := ca.Issue("Example Signer", "0101302989", key.Public(), time.Now())
	if err != nil {
		log.Fatal(err)
	}
	return ades.SignerIdentity{Certificate: certificate, Chain: ca.Chain()}, key, ca
}

// form is a document with an empty signature field.
func form() []byte {
	return pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>",
		Page:    "/Annots [101 0 R]",
		Objects: []string{
			"<< /T (Sale) /Kids [101 0 R] >>",
			"<< /FT /Sig /T (Buyer) /Parent 100 0 R /Type /Annot /Subtype /Widget /Rect [50 50 250 110] /P 10 0 R >>",
		},
	})
}

// tick is a PDF of one page of 90 by 30 points.
func tick() []byte {
	const drawing = "0.5 0.5 89 29 re 8 15 m 14 8 l 24 23 l S"
	return pdftest.Build(pdftest.Options{
		Page:    "/MediaBox [0 0 90 30] /Contents 100 0 R",
		Objects: []string{fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(drawing), drawing)},
	})
}
