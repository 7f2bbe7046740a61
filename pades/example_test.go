package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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

// signElsewhere is the example of README.md.
func signElsewhere(ctx context.Context, file *os.File, size int64, signer ades.Signer, ask func(ades.Digest) ([]byte, error)) error {
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

// The key is elsewhere: the file is on disk, and grows by what Complete returns.
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

// The answer comes after a restart: the signature so far is stored in between.
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

// One call signs, timestamps and adds validation data.
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
	revision, err := pades.Sign(ctx, pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}, key, signer, pades.Options{}, ades.Sources{})
	if err != nil {
		log.Fatal(err)
	}
	signed := append(content, revision.Bytes...)

	report, err := pades.Verify(ctx, pades.Document{ReaderAt: bytes.NewReader(signed), Size: int64(len(signed))}, ades.VerifyOptions{Roots: roots.Roots()})
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

// contract is a document to sign.
func contract() []byte { return pdftest.Build(pdftest.Options{}) }

// exampleSigner is a signer with the key and the authority that issued the certificate.
func exampleSigner() (ades.Signer, crypto.Signer, *sandboxca.Authority) {
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
	return ades.Signer{Certificate: certificate, Chain: ca.Chain()}, key, ca
}
