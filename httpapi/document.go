package httpapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
	"github.com/innsigli/innsigli/storage"
)

const documentSuffix = `"}`

// writeDocument streams a JSON object whose last member is a document; prefix is all that comes
// before its Base64. The length is announced, so that a client notices when it is cut off. last is
// called before the last bytes are written: a client that has gone by then does not have it whole.
func writeDocument(ctx context.Context, w http.ResponseWriter, prefix string, document storage.Blob, last func() error) error {
	size := document.Size()
	writeDocumentHeader(w, prefix, size)
	if err := jsonbody.WriteBase64(clientWriter{w}, prefix, document, size, ""); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errGone
	}
	if err := last(); err != nil {
		return err
	}
	_, err := io.WriteString(clientWriter{w}, documentSuffix)
	return flushed(w, err)
}

// writeDocumentHeader writes the header of an answer with a document of a size, which is all of the answer to HEAD.
func writeDocumentHeader(w http.ResponseWriter, prefix string, size int64) {
	length := int64(len(prefix)+len(documentSuffix)) + jsonbody.Base64Len(size)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	w.WriteHeader(http.StatusOK)
}

// flushed sends what is still in buffers, so that an answer counts as written only
// when it is on its way whole.
func flushed(w http.ResponseWriter, err error) error {
	if err != nil {
		return err
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}

// breakOff ends an answer whose status is out already. Breaking the connection tells the
// client that the answer is not whole.
func (a *api) breakOff(ctx context.Context, err error) {
	if a.Failed != nil && !errors.Is(err, errGone) {
		a.Failed(ctx, err)
	}
	panic(http.ErrAbortHandler)
}
