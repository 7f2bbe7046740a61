package storagetest

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/storage"
)

// What ten signatures on one large document may take: the document with 2 %, and
// for each signature a tenth of a megabyte.
const (
	largeDocument = 22 << 20
	manySigners   = 10
	mostStored    = largeDocument/100*102 + manySigners*100<<10
)

var signers = tests{
	"ten people sign a large document one after another": func(t *testing.T, open func(*testing.T) Backend) {
		b, s := open(t), newSigner(t)
		ref := create(t, b, contract(largeDocument), crypto.SHA256)
		for range manySigners {
			if err := s.sign(t.Context(), b, b.Documents, ref.ID); err != nil {
				t.Fatal(err)
			}
		}
		stored := b.Bytes(t)
		t.Logf("figure: a document of %d bytes with %d signatures takes %d bytes", largeDocument, manySigners, stored)
		if stored < largeDocument || stored > mostStored {
			t.Errorf("that is less than the document, or more than %d", mostStored)
		}
		s.verify(t, opened(t, b, ref.ID), manySigners)
	},
}

// signer is somebody who signs, with a certificate of his own making.
type signer struct {
	ades.SignerIdentity
	key crypto.Signer
}

func newSigner(t testing.TB) signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Jón Jónsson"}, KeyUsage: x509.KeyUsageContentCommitment,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return signer{ades.SignerIdentity{Certificate: certificate}, key}
}

// sign adds a signature to a stored document.
func (s signer) sign(ctx context.Context, tx storage.Transactor, documents storage.Documents, id string) error {
	blob, err := documents.Open(ctx, id)
	if err != nil {
		return err
	}
	defer blob.Close()
	signed, err := pades.Sign(ctx, stored(blob), s.key, s.SignerIdentity, pades.Options{Reason: "Undirritun"}, ades.Sources{})
	if err != nil {
		return err
	}
	revision := storage.Revision{Base: signed.Base, Bytes: signed.Bytes}
	for _, m := range signed.Hashed {
		revision.Hashed = append(revision.Hashed, storage.Midstate(m))
	}
	return tx.InTx(ctx, func(ctx context.Context) error { return documents.Append(ctx, id, revision) })
}

// stored is a stored document as it is signed, with the hash states that save reading it.
func stored(blob storage.Blob) pades.Document {
	document := pades.Document{ReaderAt: blob, Size: blob.Size()}
	for _, m := range blob.Hashed() {
		document.Hashed = append(document.Hashed, pades.Midstate(m))
	}
	return document
}

// verify fails the test unless the document has so many signatures, and all are good.
func (s signer) verify(t *testing.T, blob storage.Blob, want int) {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate)
	report, err := pades.Verify(t.Context(), pades.Document{ReaderAt: blob, Size: blob.Size()}, ades.VerifyOptions{Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.Signatures) != want {
		t.Errorf("%d signatures, want %d", len(report.Signatures), want)
	}
	for _, signature := range report.Signatures {
		if !signature.Passed() {
			t.Errorf("%s: %v", signature.Name, signature.Problems)
		}
	}
}

// contract is a PDF of a page, about so many bytes long.
func contract(size int) []byte {
	var file, table bytes.Buffer
	file.WriteString("%PDF-1.7\n")
	for i, body := range []string{
		"<< /Type /Catalog /Pages 2 0 R >>",
		"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", size, content(1, size)),
	} {
		fmt.Fprintf(&table, "%010d 00000 n \n", file.Len())
		fmt.Fprintf(&file, "%d 0 obj\n%s\nendobj\n", i+1, body)
	}
	start := file.Len()
	fmt.Fprintf(&file, "xref\n0 5\n0000000000 65535 f \n%strailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", table.Bytes(), start)
	return file.Bytes()
}
