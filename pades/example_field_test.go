package pades_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// An author has put a signature field on the page; its signature goes there.
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
	signed := append(content, revision.Bytes...)

	document = pades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}
	report, err := pades.Verify(ctx, document, ades.VerifyOptions{Roots: roots.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report.Signatures[0].Name, report.Passed())

	_, err = pades.Prepare(ctx, document, signer, pades.Options{Field: "Sale.Buyer"})
	fmt.Println(errors.Is(err, pades.ErrField), err)
	// Output:
	// Sale.Buyer true
	// true pades: no such empty signature field: the field "Sale.Buyer" is signed already
}

// The author certifies the document: nothing may be done to it any more.
func ExampleOptions_certify() {
	ctx := context.Background()
	content := contract()
	signer, key, _ := exampleSigner()
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	revision, err := pades.Sign(ctx, document, key, signer, pades.Options{Certify: pades.NoChanges}, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}
	signed := append(content, revision.Bytes...)

	document = pades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}
	_, err = pades.Prepare(ctx, document, signer, pades.Options{})
	fmt.Println(errors.Is(err, ades.ErrForbidden), err)
	// Output:
	// true ades: document does not allow such a signature: its certification permits no changes
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
