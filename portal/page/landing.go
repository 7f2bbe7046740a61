package page

import (
	"net/http"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// landingView is the page of a link. It tells what a mail does, and nothing of who the participant is
// but the name.
type landingView struct {
	Sender, File, Name string
	Reads              bool           // and signs nothing
	Status             string         // key of what has become of the process; empty: it waits
	Until              time.Time      // when it is too late
	Person             *portal.Person // who has logged in, and may go on; nil: nobody
	Form               *loginForm
}

// landing is the page of a link. Mail programs open it before people do: nothing follows from it. Who
// has opened the link before is led on.
func (p *Page) landing(w http.ResponseWriter, r *http.Request) error {
	place, err := p.linked(r.Context(), r.PathValue("token"))
	switch {
	case err != nil:
		return err
	case place.Link == portal.Opened:
		return seeOther(w, r, pathOf(&place))
	}
	p.pictures.ahead(p.edition(place))
	return p.showLanding(w, r, &place, nil)
}

// showLanding shows the page of a link. form is what the person sent and has to correct; nil: nothing.
func (p *Page) showLanding(w http.ResponseWriter, r *http.Request, place *portal.ParticipantView, form *loginForm) error {
	sender, err := p.sender(r.Context(), place)
	if err != nil {
		return err
	}
	person, err := p.person(r)
	if err != nil {
		return err
	}
	status, title := http.StatusOK, "landing.sign.title"
	v := landingView{
		Sender: sender, File: plain(place.FileName), Name: plain(place.Participant.Name),
		Reads: place.Participant.Role == portal.Viewer, Status: statusKeys[place.Status],
		Until: place.Participant.Link.InvitedAt.Add(portal.InvitationTime), Form: form,
	}
	if v.Reads {
		title = "landing.read.title"
	}
	if form == nil {
		v.Form = p.newLoginForm(r, linkPath(r.PathValue("token")))
	} else {
		status = http.StatusUnprocessableEntity
	}
	if person != nil && admits(&place.Participant, person) {
		v.Person = person
	}
	return p.show(w, r, view{status: status, file: "landing.html", title: title, person: person, data: v})
}

// statusKeys are what is said of processes in which nobody signs any more.
var statusKeys = map[portal.Status]string{
	portal.Completed: "landing.completed",
	portal.Declined:  "landing.declined",
	portal.Expired:   "landing.expired",
}

// admits says whether an unopened link may be opened by a person, as far as the page can know.
func admits(to *portal.ParticipantState, person *portal.Person) bool {
	return to.Kennitala == "" || samePerson(to.Kennitala, person.Kennitala)
}
