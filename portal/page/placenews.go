package page

import (
	"errors"
	"net/http"

	"github.com/innsigli/innsigli/portal"
)

// placeNews is what the script of a page that waits is told. It goes to To, or loads its page again, when
// State is "done" or "failed", or is not any more what it was: "waiting" for the person on the phone,
// "landing" in the document, "busy" with another participant.
type placeNews struct {
	State string `json:"state"`
	To    string `json:"to,omitempty"` // path
}

// wantsNews says whether a script asks, and not a person.
func wantsNews(r *http.Request) bool { return r.Header.Get("Accept") == "application/json" }

func (p *Page) tellNews(w http.ResponseWriter, r *http.Request, place *portal.ParticipantView) error {
	news, err := p.newsOf(r, place)
	if err != nil {
		return err
	}
	return writeNews(w, http.StatusOK, news)
}

func (p *Page) newsOf(r *http.Request, place *portal.ParticipantView) (placeNews, error) {
	switch situationOf(place) {
	case othersTurn:
		return placeNews{State: "busy"}, nil
	case signingNow:
		return p.turnNews(r, place)
	}
	failure, err := p.failure(r, place)
	if err != nil || failure == "" {
		return placeNews{"done", pathOf(place)}, err
	}
	return placeNews{"failed", r.URL.RequestURI()}, nil
}

// turnNews is about the person's own signature.
func (p *Page) turnNews(r *http.Request, place *portal.ParticipantView) (placeNews, error) {
	request := place.Turn.Request
	progress, err := p.config.Portal.Progress(r.Context(), place.ID, place.Participant.ID, request)
	switch {
	case err != nil && !errors.Is(err, portal.ErrNotFound): // the turn has ended just now, as the next look tells
		return placeNews{}, err
	case !isAbout(r, request, progress.Code):
		return placeNews{"done", attemptPath(place, request, progress.Code)}, nil
	case progress.Given:
		return placeNews{State: "landing"}, nil
	}
	return placeNews{State: "waiting"}, nil
}
