package pdfium_test

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
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// signStamped is the example of README.md.
func signStamped(ctx context.Context, document pades.Document, key crypto.Signer, signer ades.SignerIdentity, renderer stamp.Renderer) error {
	page, err := stamp.ReadPage(document, document.Size, 1)
	if err != nil {
		return err
	}
	place, err := page.Find(ctx, renderer, stamp.BottomRight, stamp.StandardSize)
	if err != nil {
		return err
	}
	picture, err := stamp.Standard(stamp.Text{Name: "Jóna Jónsdóttir", Time: time.Now(), Reason: "Undirritun"})
	if err != nil {
		return err
	}
	visible := &pades.Visible{Page: page.Number, Appearance: picture}
	r := &visible.Rect
	r.LLX, r.LLY, r.URX, r.URY = page.UserSpace(place)
	revision, err := pades.Sign(ctx, document, key, signer, pades.Options{Visible: visible}, ades.Sources{})
	if err != nil {
		return err
	}
	return checkStamped(document.With(revision))
}

// A renderer draws the page, and Find searches it for a free place.
func Example() {
	renderer := pdfium.New(pdfium.Options{Cache: testenv.RendererCache()}) // a folder of your own
	defer renderer.Close()
	if _, err := renderer.Warm(context.Background()); err != nil {
		log.Fatal(err)
	}

	document := pdftest.Build(pdftest.Options{})
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		log.Fatal(err)
	}
	place, err := page.Find(context.Background(), renderer, stamp.BottomRight, stamp.StandardSize)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.0f x %.0f points\n", place.Width, place.Height)
	// Output: 117 x 55 points
}

// A signature has its stamp in the first free place of a page.
func Example_signed() {
	content := pdftest.Build(pdftest.Options{})
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		log.Fatal(err)
	}
	certificate, err := ca.Issue("Jóna Jónsdóttir", "0101302989", key.Public(), time.Now())
	if err != nil {
		log.Fatal(err)
	}
	renderer := pdfium.New(pdfium.Options{Cache: testenv.RendererCache()}) // a folder of your own
	defer renderer.Close()
	if _, err := renderer.Warm(context.Background()); err != nil {
		log.Fatal(err)
	}

	document := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	fmt.Println(signStamped(context.Background(), document, key, ades.SignerIdentity{Certificate: certificate, Chain: ca.Chain()}, renderer))
	// Output: <nil>
}

// checkStamped checks that the place of the stamp is taken.
func checkStamped(document pades.Document) error {
	page, err := stamp.ReadPage(document, document.Size, 1)
	if err != nil {
		return err
	}
	if _, err := page.Place(stamp.BottomRight, 8, 8, stamp.StandardSize); !errors.Is(err, stamp.ErrOverlap) {
		return fmt.Errorf("the page has no stamp: %w", err)
	}
	return nil
}
