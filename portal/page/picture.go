package page

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/portal"
)

// picture answers with the picture of a page of the document. Where there is none, it is one of what
// there is to say about that.
func (p *Page) picture(w http.ResponseWriter, r *http.Request) error {
	place, _, err := p.visitor(r)
	if err != nil {
		return err
	}
	n, width, err := pictureOf(r)
	if err != nil {
		return err
	}
	of, open := p.edition(place)
	if r.URL.Query().Get("revision") != strconv.Itoa(of.revision) {
		return notShown(w, r, portal.ErrChanged)
	}
	made, err := p.pictures.picture(r.Context(), of, open, n, width)
	if err != nil {
		return notShown(w, r, err)
	}
	w.Header().Set("Content-Type", made.kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(made.file)))
	w.Write(made.file) // what fails here, fails for clients that are gone
	return nil
}

// pictureOf reads a path: which page, and how wide its picture is. errNoPage.
func pictureOf(r *http.Request) (n, width int, err error) {
	n, err = strconv.Atoi(r.PathValue("n"))
	width, errWidth := strconv.Atoi(r.PathValue("width"))
	if err != nil || errWidth != nil || !slices.Contains(pictureWidths, width) {
		return 0, 0, errNoPage
	}
	return n, width, nil
}

// missing is what is shown of a page that is not: words by their key, and with which status.
type missing struct {
	words  string
	status int
}

// notShown shows why a page is not. Errors that no picture is worth are returned.
func notShown(w http.ResponseWriter, r *http.Request, err error) error {
	why := missing{}
	switch {
	case errors.Is(err, portal.ErrChanged):
		why = missing{"picture.changed", http.StatusConflict}
	case errors.Is(err, errUndrawable):
		why = missing{"picture.undrawable", http.StatusUnprocessableEntity}
	case errors.Is(err, errBusy), errors.Is(err, errEnding):
		why = missing{"picture.busy", http.StatusServiceUnavailable}
		w.Header().Set("Retry-After", "2")
	default:
		return err
	}
	return why.show(w, languageOf(r))
}
