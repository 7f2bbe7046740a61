package page

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// download answers with the document, byte by byte as it is: as it is to be signed, or as it was. With
// a revision in the query it is that one, or portal.ErrChanged.
func (p *Page) download(w http.ResponseWriter, r *http.Request) error {
	place, _, err := p.visitor(r)
	if err != nil {
		return err
	}
	document, err := p.config.Portal.Open(r.Context(), place.ID, place.Participant.ID)
	if err != nil {
		return err
	}
	defer document.Close()
	if wanted := r.URL.Query(); wanted.Has("revision") && wanted.Get("revision") != strconv.Itoa(document.Revision) {
		return portal.ErrChanged
	}
	header := w.Header()
	header.Set("Content-Type", "application/pdf")
	header.Set("Content-Disposition", disposition(document.FileName))
	header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; sandbox")
	// What was begun is gone on with only while the document is the same.
	header.Set("ETag", fmt.Sprintf(`"%d-%d"`, document.Revision, document.Size()))
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(document, 0, document.Size()))
	return nil
}

// disposition has a browser save a file under a name (RFC 6266): the name in UTF-8 (RFC 8187), and for
// those that do not know that, the name with what is not ASCII left out.
func disposition(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%/`, r) {
			return '_'
		}
		return r
	}, name)
	// PathEscape leaves three characters as they are that RFC 8187 does not.
	encoded := strings.NewReplacer(":", "%3A", "=", "%3D", "@", "%40").Replace(url.PathEscape(name))
	return fmt.Sprintf(`attachment; filename="%s"; filename*=UTF-8''%s`, plain, encoded)
}
