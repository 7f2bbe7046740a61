package page

import (
	"context"
	"crypto"
	"encoding"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// download answers with the current document, signed or not. With a revision in the query it answers with that
// revision, or returns portal.ErrChanged.
func (p *Page) download(w http.ResponseWriter, r *http.Request) error {
	view, _, err := p.authorize(r)
	if err != nil {
		return err
	}
	document, err := p.config.Portal.Open(r.Context(), view.ID, view.Participant.ID)
	if err != nil {
		return err
	}
	defer document.Close()
	if query := r.URL.Query(); query.Has("revision") && query.Get("revision") != strconv.Itoa(document.Revision) {
		return portal.ErrChanged
	}
	header := w.Header()
	header.Set("Content-Type", "application/pdf")
	header.Set("Content-Disposition", disposition(document.FileName))
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	// A client resumes a download only while the document is the same.
	header.Set("ETag", fmt.Sprintf(`"%d-%d"`, document.Revision, document.Size()))
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(document, 0, document.Size()))
	return nil
}

// disposition returns a Content-Disposition (RFC 6266) with the name in UTF-8 (RFC 8187), and in ASCII with
// replacement characters for old clients.
func disposition(name string) string {
	ascii := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%/`, r) {
			return '_'
		}
		return r
	}, name)
	// RFC 8187 requires three characters to be encoded that PathEscape leaves.
	encoded := strings.NewReplacer(":", "%3A", "=", "%3D", "@", "%40").Replace(url.PathEscape(name))
	return fmt.Sprintf(`attachment; filename="%s"; filename*=UTF-8''%s`, ascii, encoded)
}

// fileInfo is what the page shows of the file to download.
type fileInfo struct {
	Size   fileSize
	SHA256 string // hexadecimal; empty: it would take reading the whole file
}

// fileInfo returns the size and hash of a participant's document. [portal.ErrChanged]: the document has changed
// since the view was read.
func (p *Page) fileInfo(ctx context.Context, view *portal.ParticipantView) (fileInfo, error) {
	document, err := p.config.Portal.Open(ctx, view.ID, view.Participant.ID)
	if err != nil {
		return fileInfo{}, err
	}
	defer document.Close()
	if document.Revision != view.Revision() {
		return fileInfo{}, portal.ErrChanged
	}
	sum, err := resumeHash(document)
	return fileInfo{sizeOf(document.Size()), hex.EncodeToString(sum)}, err
}

// maxRehashed is the number of bytes that are hashed to complete a stored hash state.
const maxRehashed = 1 << 20

// resumeHash returns the SHA-256 of a document from a hash state of its upload, or nil if no state covers
// almost all of it.
func resumeHash(document portal.DocumentCopy) ([]byte, error) {
	for _, state := range document.Hashed() {
		rest := document.Size() - state.Offset
		if state.Hash != crypto.SHA256 || rest > maxRehashed {
			continue
		}
		h := crypto.SHA256.New()
		if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state.State); err != nil {
			continue // a state of another version of Go: states are only a cache
		}
		if _, err := io.Copy(h, io.NewSectionReader(document, state.Offset, rest)); err != nil {
			return nil, err
		}
		return h.Sum(nil), nil
	}
	return nil, nil
}

// fileSize is a file size in kilobytes or megabytes, with the key of its text.
type fileSize struct {
	Key   string
	Whole int64
	Tenth int64 // of a megabyte
}

// sizeOf converts a number of bytes.
func sizeOf(bytes int64) fileSize {
	const kilo, mega = 1000, 1000 * 1000
	if bytes < mega {
		return fileSize{Key: "place.size.kb", Whole: (bytes + kilo - 1) / kilo}
	}
	return fileSize{"place.size.mb", bytes / mega, bytes % mega * 10 / mega}
}
