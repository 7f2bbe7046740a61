package xades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/authority"
	"github.com/innsigli/innsigli/xades"
)

// The key is elsewhere: the file is on disk, and the signed one is written beside it.
func Example() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "innsigli")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	content := []byte("<contract number='17'>\r\n  <price>250000</price>\r\n</contract>")
	path := filepath.Join(folder, "contract.xml")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		log.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	doc := xades.Document{ReaderAt: file, Size: int64(len(content))}

	signer, key, _ := exampleSigner()
	pending, err := xades.Prepare(ctx, doc, signer, xades.Options{City: "Reykjavík", Reason: "Undirritun"})
	if err != nil {
		log.Fatal(err)
	}
	digest := pending.Digest()
	value, err := key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts()) // in somebody's pocket
	if err != nil {
		log.Fatal(err)
	}
	revision, err := pending.Complete(ctx, value, nil) // checks the value first
	if err != nil {
		log.Fatal(err)
	}

	next := doc.With(revision) // reads from the file
	signed, err := io.ReadAll(io.NewSectionReader(next, 0, next.Size))
	if err != nil {
		log.Fatal(err)
	}
	body := bytes.TrimSuffix(content, []byte("</contract>"))
	fmt.Println(bytes.HasPrefix(signed, append(body, "<ds:Signature "...)))
	fmt.Println(bytes.HasSuffix(signed, []byte("</ds:Signature></contract>")))
	// Output:
	// true
	// true
}

// The answer comes after a restart: the signature so far is stored in between.
func ExamplePending_MarshalBinary() {
	ctx := context.Background()
	signer, key, _ := exampleSigner()
	pending, err := xades.Prepare(ctx, exampleDocument(), signer, xades.Options{Packing: xades.Enveloping})
	if err != nil {
		log.Fatal(err)
	}
	stored, err := pending.MarshalBinary()
	if err != nil {
		log.Fatal(err)
	}

	var again xades.Pending
	if err := again.UnmarshalBinary(stored); err != nil {
		log.Fatal(err)
	}
	revision, err := again.Sign(ctx, key, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(again.Digest().Algorithm.Scheme, len(revision.Pieces) > 0)
	// Output: ECDSA true
}

// Two people sign one after another, and the second signature gets a timestamp.
func ExampleSign() {
	ctx := context.Background()
	signer, key, ca := exampleSigner()
	doc := exampleDocument()
	first, err := xades.Sign(ctx, doc, key, signer, xades.Options{})
	if err != nil {
		log.Fatal(err)
	}
	doc = doc.With(first)

	pending, err := xades.Prepare(ctx, doc, signer, xades.Options{Level: ades.T})
	if err != nil {
		log.Fatal(err)
	}
	second, err := pending.Sign(ctx, key, ca.Sources(nil).Time)
	if err != nil {
		log.Fatal(err)
	}
	report, err := xades.Verify(ctx, doc.With(second), xades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Signatures {
		fmt.Println(s.Format, s.Intact, s.Coverage)
	}
	// Output:
	// XAdES-BASELINE-B true WHOLE_DOCUMENT
	// XAdES-BASELINE-T true WHOLE_DOCUMENT
}

// Whether a document can be signed is known before anybody is asked.
func ExampleCheck() {
	b := []byte(`<!DOCTYPE contract SYSTEM "contract.dtd"><contract/>`)
	err := xades.Check(context.Background(), xades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, xades.Options{})
	fmt.Println(errors.Is(err, xades.ErrUnreadable))
	// Output: true
}

func exampleDocument() xades.Document {
	return xades.Document{ReaderAt: bytes.NewReader([]byte(contract)), Size: int64(len(contract))}
}

// exampleSigner is a key with a certificate of a test authority.
func exampleSigner() (ades.Signer, crypto.Signer, *authority.Authority) {
	ca, err := authority.New(time.Now())
	if err != nil {
		log.Fatal(err)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	cert, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		log.Fatal(err)
	}
	return ades.Signer{Certificate: cert, Chain: ca.Chain()}, key, ca
}
