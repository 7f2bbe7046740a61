package page

import (
	"errors"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// showParticipantPage is the page of a participant: the document and what the person can do with it, or the
// progress of a signature.
func (p *Page) showParticipantPage(w http.ResponseWriter, r *http.Request) error {
	view, person, err := p.authorize(r)
	switch {
	case errors.Is(err, errNoSession) && !wantsStatus(r):
		return p.showLoginFor(w, r, view)
	case err != nil:
		return err
	case wantsStatus(r):
		return p.sendStatus(w, r, &view)
	}
	switch state := pageStateOf(&view); {
	case state == stateSigning:
		return p.showCode(w, r, &view, person)
	case state == stateBusy && !r.URL.Query().Has(readQuery) && !r.URL.Query().Has(fromQuery):
		return p.showBusy(w, r, &view, person)
	}
	err = p.showDocument(w, r, &view, person, nil)
	if errors.Is(err, portal.ErrChanged) { // a signature was added meanwhile
		return seeOther(w, r, r.URL.RequestURI())
	}
	return err
}

// Query parameters of the page of a participant.
const (
	attemptQuery = "attempt" // the signing request that the page shows
	codeQuery    = "code"    // with attemptQuery: the page shows the verification code, which is known
	refusedQuery = "refused" // code with which the provider refused to begin
	readQuery    = "read"    // show the document although another participant is signing
	fromQuery    = "from"    // first document page to show
)

// pageState is the state of a process for one participant, with the keys of its texts.
type pageState struct {
	Title, Text string
	Tone        string // class of the note: "", "good" or "warning"
}

// The states of a process for a participant.
var (
	// stateAsked: the person may sign or decline.
	stateAsked = pageState{"place.asked.title", "place.asked", ""}
	// stateSigning: the person's own signature is under way.
	stateSigning = pageState{"place.signing.title", "", ""}
	// stateBusy: another participant's signature is under way.
	stateBusy = pageState{"place.busy.title", "place.busy", ""}
	// stateSigned: the person has signed; others have not.
	stateSigned      = pageState{"place.signed.title", "place.signed", "good"}
	stateCompleted   = pageState{"place.completed.title", "place.completed", "good"}
	stateDeclinedOwn = pageState{"place.declined.own.title", "place.declined.own", "warning"}
	stateDeclined    = pageState{"place.declined.title", "place.declined", "warning"}
	stateExpired     = pageState{"place.expired.title", "place.expired", "warning"}
	// stateReading: the person is a viewer, and signatures are missing.
	stateReading = pageState{"place.reading.title", "place.reading", ""}
)

// pageStateOf returns the state for the view's participant. A signature under way comes first, since it is
// added whatever else happens to the process.
func pageStateOf(p *portal.ParticipantView) pageState {
	one := &p.Participant
	switch {
	case p.Turn != nil && p.Turn.Participant == one.ID:
		return stateSigning
	case one.Decline != nil:
		return stateDeclinedOwn
	case p.Status == portal.Declined:
		return stateDeclined
	case p.Status == portal.Completed:
		return stateCompleted
	case p.Status == portal.Expired:
		return stateExpired
	case one.Role == portal.Viewer:
		return stateReading
	case one.Signature != nil:
		return stateSigned
	case p.Turn != nil:
		return stateBusy
	}
	return stateAsked
}

// mayDecline reports whether the participant may decline now. Another participant's signature under way does
// not prevent it.
func mayDecline(p *portal.ParticipantView) bool {
	state := pageStateOf(p)
	return state == stateAsked || state == stateBusy
}

// participantPage is the data of participant.html.
type participantPage struct {
	pageState
	Path, File, Sender string
	Until              time.Time // deadline of all signatures; zero: no signature is expected
	Completed          bool      // all have signed
	Signed             bool      // the document has signatures of participants
	Reason             string    // of the person's own decline
	Content            fileInfo
	People             []personView
	Failure            string    // key of the reason why the last attempt failed; empty: none
	Sign               *signForm // nil: the person cannot sign now
	MayDecline         bool
	Document           documentView
}

// showDocument shows the document and the actions of the person. form is the input to correct; nil: none.
func (p *Page) showDocument(w http.ResponseWriter, r *http.Request, view *portal.ParticipantView, person portal.Person, form *signForm) error {
	v, err := p.participantPageOf(r, view)
	if err != nil {
		return err
	}
	status := http.StatusOK
	switch {
	case form != nil:
		v.Sign, status = form, http.StatusUnprocessableEntity
	case v.pageState == stateAsked:
		s, err := p.sessionOf(r)
		if err != nil && !errors.Is(err, errNoSession) {
			return err
		}
		v.Sign = newSignForm(p.config.Methods, view, v.Document.Revision, s.asPerson())
		v.Sign.NotShown = v.Document.NotShown
	}
	return p.renderStreaming(w, r, htmlPage{status: status, file: "participant.html", title: v.Title, person: &person, data: v}, v.Document)
}

// participantPageOf returns the data of the page of a participant.
func (p *Page) participantPageOf(r *http.Request, view *portal.ParticipantView) (v participantPage, err error) {
	v = participantPage{
		pageState: pageStateOf(view), Path: pathOf(view), File: displayText(view.FileName),
		Completed: view.Status == portal.Completed, Signed: view.Revision() > 0,
		People: peopleOf(view), MayDecline: mayDecline(view),
	}
	if view.Status == portal.Waiting {
		v.Until = view.WaitsUntil()
	}
	if decline := view.Participant.Decline; decline != nil {
		v.Reason = decline.Reason
	}
	if v.Sender, err = p.senderName(r.Context(), view); err != nil {
		return v, err
	}
	if v.Failure, err = p.failureOf(r, view); err != nil {
		return v, err
	}
	if v.Content, err = p.fileInfo(r.Context(), view); err != nil {
		return v, err
	}
	v.Document, err = p.documentViewOf(r.Context(), *view, r.URL.Query().Get(fromQuery))
	return v, err
}

// longList is the number of participants from which on the list is folded.
const longList = 10

// LongList reports whether the list of participants is folded.
func (v participantPage) LongList() bool { return len(v.People) >= longList }

// personView is a participant as others see them: without mail address and phone number, and without a
// kennitala except the person's own.
type personView struct {
	Name      string
	Invited   string // name in the invitation, if it differs
	Kennitala string // the person's own; empty for others
	State     string // key of the catalogue
	At        time.Time
}

// peopleOf returns the participants in the order of the request.
func peopleOf(view *portal.ParticipantView) (people []personView) {
	for i := range view.Participants {
		one := &view.Participants[i]
		own := one.ID == view.Participant.ID
		s := personView{Name: displayText(nameOf(one, own))}
		s.State, s.At = answerOf(one)
		if own && one.Person != nil {
			s.Kennitala = one.Person.Kennitala
		}
		if invited := displayText(one.Name); s.Name != invited {
			s.Invited = invited
		}
		people = append(people, s)
	}
	return people
}

// nameOf returns the name from the electronic ID of participants who have signed or declined and of the person
// who looks, and the name in the invitation of all others.
func nameOf(one *portal.ParticipantState, own bool) string {
	switch {
	case (own || one.Decline != nil) && one.Person != nil && one.Person.Name != "": // some providers tell no name
		return one.Person.Name
	case one.Signature != nil:
		return one.Signature.Name
	}
	return one.Name
}

// answerOf returns what a participant has done, and when.
func answerOf(one *portal.ParticipantState) (key string, at time.Time) {
	switch {
	case one.Signature != nil:
		return "people.signed", one.Signature.At
	case one.Decline != nil:
		return "people.declined", one.Decline.At
	case one.Role == portal.Viewer:
		return "people.reads", at
	}
	return "people.waits", at
}
