package page

import (
	"errors"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// place is the page of a participant: the document with what there is to be done about it, or what
// the person is to do on the phone.
func (p *Page) place(w http.ResponseWriter, r *http.Request) error {
	place, person, err := p.visitor(r)
	switch {
	case errors.Is(err, errNobody) && !wantsNews(r):
		return p.askLogin(w, r, place)
	case err != nil:
		return err
	case wantsNews(r):
		return p.tellNews(w, r, &place)
	}
	switch at := situationOf(&place); {
	case at == signingNow:
		return p.showCode(w, r, &place, person)
	case at == othersTurn && !r.URL.Query().Has(readAnyway) && !r.URL.Query().Has(fromQuery):
		return p.showBusy(w, r, &place, person)
	}
	err = p.showPlace(w, r, &place, person, nil)
	if errors.Is(err, portal.ErrChanged) { // a signature has landed just now
		return seeOther(w, r, r.URL.RequestURI())
	}
	return err
}

// What the query of a participant's page may say.
const (
	attemptQuery = "attempt" // the request that the page is about
	codeQuery    = "code"    // with attemptQuery: the page shows the code, which is known now
	refusedQuery = "refused" // why a start was refused, of which there is no request
	readAnyway   = "read"    // the document, while another participant signs it
	fromQuery    = "from"    // the first page of those that are shown
)

// How often pages ask again without a script, in seconds.
const (
	codeRefresh = 3
	busyRefresh = 5
)

// codeView is the page of a signature under way.
type codeView struct {
	Path, File string
	Code       string    // empty: not known yet
	Spoken     string    // Code digit by digit
	Until      time.Time // when the request ends at the latest
	Approved   bool      // there is nothing to be done on the phone any more
}

// showCode shows what the person is to do on the phone. Its address names the attempt, so that it tells
// afterwards what came of it, and whether the code is shown, so that a script hears when there is one.
func (p *Page) showCode(w http.ResponseWriter, r *http.Request, place *portal.ParticipantView, person portal.Person) error {
	request := place.Turn.Request
	progress, err := p.config.Portal.Progress(r.Context(), place.ID, place.Participant.ID, request)
	if err != nil && !errors.Is(err, portal.ErrNotFound) { // the turn has ended just now, as the next look tells
		return err
	}
	if !isAbout(r, request, progress.Code) {
		return seeOther(w, r, attemptPath(place, request, progress.Code))
	}
	return p.show(w, r, view{
		file: "signing.html", title: signingNow.Title, refresh: codeRefresh, person: &person,
		data: codeOf(place, progress),
	})
}

func codeOf(place *portal.ParticipantView, progress signing.Progress) codeView {
	return codeView{
		Path: pathOf(place), File: plain(place.FileName),
		Code: progress.Code, Spoken: spaced(progress.Code),
		Until: progress.Expires, Approved: progress.Given,
	}
}

// busyView is the page of who waits for another participant's signature.
type busyView struct{ Path, File string }

func (p *Page) showBusy(w http.ResponseWriter, r *http.Request, place *portal.ParticipantView, person portal.Person) error {
	return p.show(w, r, view{
		file: "busy.html", title: othersTurn.Title, refresh: busyRefresh, person: &person,
		data: busyView{pathOf(place), plain(place.FileName)},
	})
}

// pathOf is the page of a participant.
func pathOf(place *portal.ParticipantView) string { return placePath(place.ID, place.Participant.ID) }

// attemptPath is the page of a participant that tells of a signing request of theirs.
func attemptPath(place *portal.ParticipantView, request, code string) string {
	path := pathOf(place) + "?" + attemptQuery + "=" + request
	if code != "" {
		path += "&" + codeQuery + "=shown"
	}
	return path
}

// isAbout says whether the page that is asked for is that of attemptPath.
func isAbout(r *http.Request, request, code string) bool {
	query := r.URL.Query()
	return query.Get(attemptQuery) == request && (code == "" || query.Has(codeQuery))
}

// seeOther has the browser get another page of this server.
func seeOther(w http.ResponseWriter, r *http.Request, path string) error {
	http.Redirect(w, r, path, http.StatusSeeOther)
	return nil
}
