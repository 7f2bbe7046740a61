package page

import (
	"errors"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// placeView is what the page of a participant shows.
type placeView struct {
	situation
	Path, File, Sender string
	Until              time.Time // by when all have to sign; zero: nothing is waited for any more
	Whole              bool      // all have signed
	Signed             bool      // the document has signatures of participants
	Reason             string    // of the person's own decline
	Content            fileView
	People             []someone
	Failure            string    // key of why the last attempt came to nothing; empty: there is no such
	Sign               *signForm // nil: there is nothing to sign now
	MayDecline         bool
	Document           documentView
}

// showPlace shows the document and what there is to be done about it. form is what the person sent
// and has to correct; nil: nothing.
func (p *Page) showPlace(w http.ResponseWriter, r *http.Request, place *portal.ParticipantView, person portal.Person, form *signForm) error {
	v, err := p.placeView(r, place)
	if err != nil {
		return err
	}
	status := http.StatusOK
	switch {
	case form != nil:
		v.Sign, status = form, http.StatusUnprocessableEntity
	case v.situation == asked:
		by, err := p.visit(r)
		if err != nil && !errors.Is(err, errNobody) {
			return err
		}
		v.Sign = newSignForm(p.config.Methods, place, v.Document.Revision, by)
	}
	return p.stream(w, r, view{status: status, file: "place.html", title: v.Title, person: &person, data: v}, v.Document)
}

func (p *Page) placeView(r *http.Request, place *portal.ParticipantView) (v placeView, err error) {
	v = placeView{
		situation: situationOf(place), Path: pathOf(place), File: plain(place.FileName),
		Whole: place.Status == portal.Completed, Signed: place.Revision() > 0,
		People: peopleOf(place), MayDecline: mayDecline(place),
	}
	if place.Status == portal.Waiting {
		v.Until = place.WaitsUntil()
	}
	if decline := place.Participant.Decline; decline != nil {
		v.Reason = decline.Reason
	}
	if v.Sender, err = p.sender(r.Context(), place); err != nil {
		return v, err
	}
	if v.Failure, err = p.failure(r, place); err != nil {
		return v, err
	}
	if v.Content, err = p.file(r.Context(), place); err != nil {
		return v, err
	}
	v.Document, err = p.document(r.Context(), *place, r.URL.Query().Get(fromQuery))
	return v, err
}

// crowded is from how many participants on they are not all listed at once.
const crowded = 10

// Crowd says whether the list of participants is long.
func (v placeView) Crowd() bool { return len(v.People) >= crowded }
