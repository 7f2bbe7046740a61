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
	"io"
	"math/big"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/storage"
)

// maxStored bounds the storage for ten signatures on one large document: 102 % of the document, and 100 KiB for
// each signature.
const (
	largeDocument = 22 << 20
	manySigners   = 10
	maxStored     = largeDocument/100*102 + manySigners*100<<10
)

var signers = tests{
	"ten people sign a large document one after another": func(t *testing.T, open func(*testing.T) Backend) {
		b, s := open(t), newSigner(t)
		ref := create(t, b, samplePDF(largeDocument), crypto.SHA256)
		for range manySigners {
			if err := s.sign(t.Context(), b, b.Documents, ref.ID); err != nil {
				t.Fatal(err)
			}
		}
		stored := b.Bytes(t)
		t.Logf("figure: a document of %d bytes with %d signatures takes %d bytes", largeDocument, manySigners, stored)
		if stored < largeDocument || stored > maxStored {
			t.Errorf("that is less than the document, or more than %d", maxStored)
		}
		s.verify(t, openBlob(t, b, ref.ID), manySigners)
	},
}

// signer is a signer with a self-signed certificate.
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
	signed, err := pades.Sign(ctx, signableDocument(blob), s.key, s.SignerIdentity, pades.Options{Reason: "Undirritun"}, ades.Sources{})
	if err != nil {
		return err
	}
	revision := storage.Revision{Base: signed.Base, Bytes: signed.Bytes}
	for _, m := range signed.Hashed {
		revision.Hashed = append(revision.Hashed, storage.Midstate(m))
	}
	return tx.InTx(ctx, func(ctx context.Context) error { return documents.Append(ctx, id, revision) })
}

// signableDocument returns a stored document with its hash states, so that signing need not read the whole
// document.
func signableDocument(blob storage.Blob) pades.Document {
	document := pades.Document{ReaderAt: blob, Size: blob.Size()}
	for _, m := range blob.Hashed() {
		document.Hashed = append(document.Hashed, pades.Midstate(m))
	}
	return document
}

// verify fails the test unless the document has so many signatures and all are valid.
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

// samplePDF returns a PDF of one page, about so many bytes long.
func samplePDF(size int) []byte {
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

// maxHeap bounds the growth of the heap while a large document is created or read, and maxHeapOfMany while many
// documents are created concurrently.
const (
	maxHeap       = 16 << 20
	maxHeapOfMany = 48 << 20
)

var memory = tests{
	"a large document is created and read in little memory": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var ref storage.Ref
		checkHeap(t, "creating", maxHeap, func() (err error) {
			ref, err = b.Documents.Create(t.Context(), &largeReader{size: largeDocument}, largeDocument, crypto.SHA256)
			return err
		})
		blob := openBlob(t, b, ref.ID)
		checkHeap(t, "reading", maxHeap, func() error {
			n, err := io.Copy(io.Discard, io.NewSectionReader(blob, 0, blob.Size()))
			if n != largeDocument {
				t.Errorf("%d bytes were read", n)
			}
			return err
		})
		checkHeap(t, "deleting", maxHeap, func() error {
			return b.InTx(t.Context(), func(ctx context.Context) error { return b.Documents.Delete(ctx, ref.ID) })
		})
	},

	"many documents are created concurrently in little memory": func(t *testing.T, open func(*testing.T) Backend) {
		const documents, size = 20, 6 << 20
		b := open(t)
		checkHeap(t, "creating 20", maxHeapOfMany, func() error {
			var group errgroup.Group
			for range documents {
				group.Go(func() error {
					_, err := b.Documents.Create(t.Context(), &largeReader{size: size}, size, crypto.SHA256)
					return err
				})
			}
			return group.Wait()
		})
	},
}

// checkHeap fails the test if the heap grows by more than so many bytes during fn.
func checkHeap(t *testing.T, what string, most int64, fn func() error) {
	t.Helper()
	debug.FreeOSMemory() // of earlier tests
	before := heap()
	peak := heapPeak()
	if err := fn(); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	grown := int64(peak()) - int64(before)
	t.Logf("figure: %s: the heap grew by %.1f MiB", what, float64(grown)/(1<<20))
	if grown > most {
		t.Errorf("%s: that is more than %d MiB", what, most>>20)
	}
}

// heapPeak samples the size of the heap until stop is called, which returns the maximum in bytes. The memory of
// the race detector is not included.
func heapPeak() (stop func() uint64) {
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		for {
			most = max(most, heap())
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() uint64 { close(done); return <-peak }
}

// heap returns the size of the heap in bytes: live and dead objects, and the free space between and after them.
func heap() (sum uint64) {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
		{Name: "/memory/classes/heap/free:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		sum += s.Value.Uint64()
	}
	return sum
}

// largeReader is a document of which no two blocks of 32 KiB are equal.
type largeReader struct{ at, size int64 }

func (z *largeReader) Read(p []byte) (int, error) {
	if z.at == z.size {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), z.size-z.at, 32<<10))
	clear(p[:n])
	p[0], p[n-1] = byte(z.at>>15), byte(z.at>>23)
	z.at += int64(n)
	return n, nil
}
