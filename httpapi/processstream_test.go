package httpapi_test

import (
	"context"
	"errors"
	"image"
	"io"
	"net/http"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/storage"
)

// brokenDocuments has documents that cannot be read beyond their first mebibyte.
type brokenDocuments struct{ httpapi.Portal }

func (b brokenDocuments) Document(ctx context.Context, account, id string) (string, storage.Blob, error) {
	name, content, err := b.Portal.Document(ctx, account, id)
	return name, brokenBlob{content}, err
}

type brokenBlob struct{ storage.Blob }

func (b brokenBlob) ReadAt(p []byte, at int64) (int, error) {
	if at+int64(len(p)) > mebibyte {
		return 0, errors.New("the disk is gone")
	}
	return b.Blob.ReadAt(p, at)
}

// If a document cannot be read to its end, the server closes the connection, so that the client notices.
func TestDocumentThatBreaksOff(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{breaks: true, renderer: pdftest.Blank{}, portal: func(p httpapi.Portal) httpapi.Portal { return brokenDocuments{p} }}).sender(t)
	short, long := c.made(draft), c.made(draft.with(fields{"file.contentBase64": pdftest.Build(pdftest.Options{Payload: 2 * mebibyte})}))
	c.document(short)
	response, err := c.http.Do(c.request(http.MethodGet, pathOf(long)+"/document", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	diff(t, "status", http.StatusOK, response.StatusCode)
	if n, err := io.Copy(io.Discard, response.Body); !errors.Is(err, io.ErrUnexpectedEOF) || n > 2*mebibyte {
		t.Errorf("%d of %d bytes, %v", n, response.ContentLength, err)
	}
}

// blockingRenderer draws a page when the test lets it or the context ends, and reports that it has begun.
type blockingRenderer struct {
	pdftest.Blank
	begun, let chan struct{}
}

func (h blockingRenderer) Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	h.begun <- struct{}{}
	select {
	case <-h.let:
	case <-ctx.Done():
	}
	return h.Blank.Render(ctx, r, size, page, width, height)
}

// spec 1.8: 409 while the process with that key is being created.
func TestProcessThatIsBeingMade(t *testing.T) {
	t.Parallel()
	h := blockingRenderer{begun: make(chan struct{}), let: make(chan struct{})}
	c := start(t, wiring{renderer: h}).sender(t)
	request := c.request(http.MethodPost, processes, draft)
	request.Header.Set("Idempotency-Key", "the contract")
	first := make(chan answer, 1)
	go func() {
		a, err := c.do(request)
		if err != nil {
			t.Error(err)
		}
		first <- a
	}()
	<-h.begun
	c.wantProblem(c.createWithKey("the contract", draft), http.StatusConflict, "Request is still running")
	c.wantProblem(c.createWithKey("the contract", of(signers(2)...)), http.StatusUnprocessableEntity, "Idempotency key was used")
	close(h.let)
	made := c.process(http.StatusCreated, <-first)
	diff(t, "the same process", made, c.process(http.StatusCreated, c.createWithKey("the contract", draft)))
	c.wantDocuments(1)
}
