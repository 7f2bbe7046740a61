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
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// signXMLElsewhere is the example of docs/how-to/sign-in-go.md.
func signXMLElsewhere(ctx context.Context, file *os.File, size int64, out io.Writer, signer ades.SignerIdentity, ask func(ades.Digest) ([]byte, error)) error {
	document := xades.Document{ReaderAt: file, Size: size}
	pending, err := xades.Prepare(ctx, document, signer, xades.Options{Packing: xades.Enveloped, Reason: "Undirritun"})
	if err != nil {
		return err
	}
	value, err := ask(pending.Digest())
	if err != nil {
		return err
	}
	revision, err := pending.Complete(ctx, value, nil)
	if err != nil {
		return err
	}
	signed := document.With(revision) // which reads the file, with the signature in it
	_, err = io.Copy(out, io.NewSectionReader(signed, 0, signed.Size))
	return err
}

// The signing key is remote. The document is a file, and the signed document is written to another one.
func Example() {
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

	signer, key, _ := exampleSigner()
	ask := func(d ades.Digest) ([]byte, error) {
		return key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts()) // the signing key is remote
	}
	var signed bytes.Buffer
	if err := signXMLElsewhere(context.Background(), file, int64(len(content)), &signed, signer, ask); err != nil {
		log.Fatal(err)
	}

	body := bytes.TrimSuffix(content, []byte("</contract>"))
	fmt.Println(bytes.HasPrefix(signed.Bytes(), append(body, "<ds:Signature "...)))
	fmt.Println(bytes.HasSuffix(signed.Bytes(), []byte("</ds:Signature></contract>")))
	// Output:
	// true
	// true
}

// The pending signature is stored until the value arrives.
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

// A document is signed twice. The second signature has level T, so it gets a timestamp.
func ExampleSign() {
	ctx := context.Background()
	signer, key, ca := exampleSigner()
	doc := exampleDocument()
	for _, level := range []ades.Level{ades.B, ades.T} {
		revision, err := xades.Sign(ctx, doc, key, signer, xades.Options{Level: level}, ca.Sources(nil))
		if err != nil {
			log.Fatal(err)
		}
		doc = doc.With(revision)
	}

	report, err := xades.Verify(ctx, doc, ades.VerifyOptions{Roots: ca.Roots()})
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

// Check needs no signer.
func ExampleCheck() {
	b := []byte(`<!DOCTYPE contract SYSTEM "contract.dtd"><contract/>`)
	err := xades.Check(context.Background(), xades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, xades.Options{})
	fmt.Println(errors.Is(err, ades.ErrUnreadable))
	// Output: true
}

// A signature without revocation data passes with TRY_LATER: revocation data may become available.
func ExampleVerify() {
	ctx := context.Background()
	doc, ca := exampleSigned(xades.Options{City: "Reykjavík", Country: "IS"})

	report, err := xades.Verify(ctx, doc, ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Signatures {
		fmt.Println(s.Format, s.Indication, s.SubIndication)
		fmt.Println(s.Certificate.Subject.CommonName, s.Location, s.Coverage)
	}
	fmt.Println(report.Passed())
	// Output:
	// XAdES-BASELINE-B INDETERMINATE TRY_LATER
	// Dæmi um nafn Reykjavík, IS WHOLE_DOCUMENT
	// true
}

// A signature is extended to level LTA, and years later gets another archive timestamp. The validation data is from a test
// authority; package ades/online gets it over HTTP.
func ExampleExtender() {
	ctx := context.Background()
	doc, ca := exampleSigned(xades.Options{Packing: xades.InternallyDetached})

	x := xades.Extender{Sources: ca.Sources(nil)}
	extended, err := x.Extend(ctx, doc, ades.LTA)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range extended {
		doc = doc.With(r)
	}
	renewed, err := x.Renew(ctx, doc)
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range renewed {
		doc = doc.With(r)
	}

	report, err := xades.Verify(ctx, doc, ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range report.Signatures {
		fmt.Println(s.Format, s.Indication)
		for _, t := range s.Timestamps {
			fmt.Println(t.Type, t.Trusted)
		}
	}
	// Output:
	// XAdES-BASELINE-LTA TOTAL_PASSED
	// SIGNATURE_TIMESTAMP true
	// ARCHIVE_TIMESTAMP true
	// ARCHIVE_TIMESTAMP true
}

func exampleDocument() xades.Document { return document([]byte(contract)) }

// exampleSigned returns a signed document, with the authority of its signer.
func exampleSigned(o xades.Options) (xades.Document, *sandboxca.Authority) {
	signer, key, ca := exampleSigner()
	doc := exampleDocument()
	revision, err := xades.Sign(context.Background(), doc, key, signer, o, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}
	return doc.With(revision), ca
}

// exampleSigner returns a key with a certificate of a test authority.
func exampleSigner() (ades.SignerIdentity, crypto.Signer, *sandboxca.Authority) {
	ca, err := sandboxca.New(time.Now())
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
	return ades.SignerIdentity{Certificate: cert, Chain: ca.Chain()}, key, ca
}
