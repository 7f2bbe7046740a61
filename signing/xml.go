package signing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/xades"
)

// xmlFormat signs XML documents. The signature is put into the document, so the signed document is a new
// one, made of pieces of the one before.
type xmlFormat struct{}

func (xmlFormat) prepare(ctx context.Context, sess *session, blob storage.Blob, signer ades.SignerIdentity, at time.Time) (preparation, error) {
	queued, end := context.WithTimeout(ctx, xmlMemoryTimeout)
	defer end()
	done, err := sess.xml.acquire(queued, blob.Size())
	if err != nil {
		return nil, err
	}
	defer done()
	return xades.Prepare(ctx, xmlDocument(blob), signer, xades.Options{
		Packing: sess.r.Packing, Time: at, City: sess.r.City, Country: sess.r.Country, Reason: sess.r.Text.Reason, Level: sess.r.Level,
	})
}

// xmlDocument converts a stored document for xades.
func xmlDocument(b storage.Blob) xades.Document { return xades.Document{ReaderAt: b, Size: b.Size()} }

func (xmlFormat) read(encoded []byte) (preparation, error) { return readPrepared(encoded) }

func readPrepared(encoded []byte) (*xades.Pending, error) {
	p := new(xades.Pending)
	if err := p.UnmarshalBinary(encoded); err != nil {
		return nil, fmt.Errorf("signing: reading the prepared signature: %w", err)
	}
	return p, nil
}

func (xmlFormat) openDraft(_ context.Context, sess *session, blob storage.Blob, encoded []byte) (draft, error) {
	p, err := readPrepared(encoded)
	if err != nil {
		return nil, err
	}
	return &xmlDraft{Blob: blob, prepared: p, doc: xmlDocument(blob), memory: sess.xml}, nil
}

func (xmlFormat) failure(err error) *idp.Failure {
	for _, f := range xmlFailures {
		if errors.Is(err, f.error) {
			return cannotSign(f.why)
		}
	}
	return nil
}

// xmlFailures are the reasons why a document cannot be signed. The first that fits is answered: a limit does
// not depend on the packing, and ErrUnreadable comes with other errors that say more.
var xmlFailures = []struct {
	error
	why string
}{
	{ades.ErrBroken, "A signature in the document is broken."},
	{xades.ErrLimit, "The document is too large, nested too deep, or has too many elements, names, attributes or signatures."},
	{ades.ErrForbidden, "The document does not allow a signature with this signaturePacking, for example because an existing signature would break. Another signaturePacking may work."},
	{xades.ErrDoctype, "The document has a document type declaration (DOCTYPE). Such XML cannot be signed."},
	{xades.ErrEncoding, "The encoding of the document is not supported, or is not the one that the document declares."},
	{xades.ErrNamespace, "The document has a namespace whose name is a relative reference. Such XML cannot be signed."},
	{ades.ErrUnreadable, "The document is not well-formed XML with namespaces, or has names that other software does not read."},
}

// xmlDraft is an XML document with the revisions that lead to the signed one, each made from the one
// before.
type xmlDraft struct {
	storage.Blob
	prepared  *xades.Pending
	doc       xades.Document // with the revisions
	revisions []xades.Revision
	created   string // the signed document, once it is stored
	memory    xmlMemory
}

func (d *xmlDraft) signer([]byte) (ades.SignerIdentity, error) { return d.prepared.Signer(), nil }

func (d *xmlDraft) preparedSize() int64 {
	size, _ := d.prepared.Base()
	return size
}

func (d *xmlDraft) hasGrown() bool { return d.Size() != d.preparedSize() }

// sign acquires no memory: the signature and the request for its timestamp are made without the document.
func (d *xmlDraft) sign(ctx context.Context, value []byte, t ades.Timestamper) error {
	r, err := d.prepared.Complete(ctx, value, t)
	if err == nil {
		d.change(r)
	}
	return err
}

func (d *xmlDraft) extend(ctx context.Context, level ades.Level, s ades.Sources) error {
	done, err := d.memory.acquire(ctx, d.Size())
	if err != nil {
		return err
	}
	defer done()
	further, err := xades.Extender{Sources: s}.ExtendLast(ctx, d.doc, level)
	if err == nil {
		d.change(further...)
	}
	return err
}

func (d *xmlDraft) change(revisions ...xades.Revision) {
	for _, r := range revisions {
		d.revisions = append(d.revisions, r)
		d.doc = d.doc.With(r)
	}
}

func (d *xmlDraft) storeNew(ctx context.Context, documents storage.Documents) (c content, err error) {
	ref, err := documents.Create(ctx, d.reader(), d.doc.Size, storedHash)
	if err != nil {
		return c, fmt.Errorf("signing: storing the signed document: %w", err)
	}
	d.created = ref.ID
	return contentOf(ref.Sums[0], ref.Size), nil
}

func (d *xmlDraft) reader() *io.SectionReader { return io.NewSectionReader(d.doc, 0, d.doc.Size) }

// rebase does nothing: orders, whose documents grow, have no XML.
func (d *xmlDraft) rebase() {}

func (d *xmlDraft) uncommitted() []string { return []string{d.created} }

func (d *xmlDraft) commit(ctx context.Context, documents storage.Documents, r *Request) error {
	unsigned := r.Document
	r.Document, r.Draft = d.created, nil
	return errors.Join(documents.Keep(ctx, d.created), documents.Delete(ctx, unsigned))
}

func (d *xmlDraft) keep(_ context.Context, _ storage.Documents, r *Request) (err error) {
	if len(d.revisions) > 0 {
		r.Draft, err = json.Marshal(d.revisions)
	}
	return err
}

func (d *xmlDraft) restore(kept []byte) error {
	var all []xades.Revision
	if err := json.Unmarshal(kept, &all); err != nil {
		return fmt.Errorf("signing: reading the draft of an earlier attempt: %w", err)
	}
	d.change(all...)
	return nil
}

// XML is read whole to be signed, which takes several times its length of memory. These constants bound
// that memory.
const (
	// smallXML is the length in bytes up to which documents have memory of their own. Nearly all documents
	// are small. They do not wait for large ones, of which one may take a minute, since sources of
	// validation data are asked meanwhile.
	smallXML = 1 << 20
	// smallXMLAtOnce and largeXMLAtOnce bound the documents that are read at once, in bytes.
	smallXMLAtOnce = 16 << 20
	largeXMLAtOnce = 48 << 20
	// xmlMemoryTimeout is how long a document waits for memory to be prepared. After that a later poll
	// tries again.
	xmlMemoryTimeout = 8 * time.Second
)

// errBusy: other documents took up the memory for too long.
var errBusy = fmt.Errorf("signing: waiting for other documents: %w", ades.ErrUnavailable)

// xmlMemory bounds the bytes of XML that are read at once.
type xmlMemory struct{ small, large *semaphore.Weighted }

func newXMLMemory() xmlMemory {
	return xmlMemory{semaphore.NewWeighted(smallXMLAtOnce), semaphore.NewWeighted(largeXMLAtOnce)}
}

// acquire waits until there is memory for a document of a size. The caller calls done when the document is no
// longer read. The error is errBusy.
func (r xmlMemory) acquire(ctx context.Context, size int64) (done func(), err error) {
	memory := r.large
	if size <= smallXML {
		memory = r.small
	}
	size = min(size, largeXMLAtOnce)
	if err := memory.Acquire(ctx, size); err != nil {
		return nil, fmt.Errorf("%w: %w", errBusy, err)
	}
	return func() { memory.Release(size) }, nil
}
