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

// The signature is to be seen at the foot of the page: a box with a tick, 90 points wide.
func ExampleOptions_visible() {
	ctx := context.Background()
	content := contract()
	signer, key, roots := exampleSigner()
	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	options := pades.Options{Visible: &pades.Visible{
		Page: 1,
		Rect: pades.Rect{LLX: 60, LLY: 40, URX: 150, URY: 70},
	}}
	if err := pades.Check(ctx, document, options); err != nil { // before anybody is asked to sign
		log.Fatal(err)
	}
	options.Visible.Appearance = tick() // once it is known who does
	revision, err := pades.Sign(ctx, document, key, signer, options, ades.Sources{})
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

	options.Visible.Page = 2
	err = pades.Check(ctx, document, options)
	fmt.Println(errors.Is(err, pades.ErrPage))
	// Output:
	// Signature1 true
	// true
}

// tick is a PDF of one page of 90 by 30 points.
func tick() []byte {
	const drawing = "0.5 0.5 89 29 re 8 15 m 14 8 l 24 23 l S"
	return pdftest.Build(pdftest.Options{
		Page:    "/MediaBox [0 0 90 30] /Contents 100 0 R",
		Objects: []string{fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(drawing), drawing)},
	})
}
