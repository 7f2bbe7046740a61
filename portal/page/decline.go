package page

import (
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/innsigli/innsigli/portal"
)

// declineView asks for the reason, which may be none.
type declineView struct {
	Path, File, Sender string
	Reason             string // as the person wrote it
	Most               int    // characters
	Length             int    // characters of Reason
	Fault              string // key of what is wrong with the reason
}

// askDecline asks for the reason. It is a page of its own, so that nobody declines by a slip.
func (p *Page) askDecline(w http.ResponseWriter, r *http.Request) error {
	place, person, err := p.decliner(r)
	switch {
	case errors.Is(err, errNobody), errors.Is(err, errNothing):
		return seeOther(w, r, home(r))
	case err != nil:
		return err
	}
	return p.showDecline(w, r, &place, person, declineView{})
}

// decline declines. Who has declined already, or cannot any more, comes to the page that tells so.
func (p *Page) decline(w http.ResponseWriter, r *http.Request) error {
	place, person, err := p.decliner(r)
	switch {
	case errors.Is(err, errNobody), errors.Is(err, errNothing):
		return seeOther(w, r, home(r))
	case err != nil:
		return err
	}
	if err := readForm(r); err != nil {
		return err
	}
	said := r.PostForm.Get("reason")
	reason := folded(said)
	if fault := reasonFault(reason); fault != "" {
		said = strings.ToValidUTF8(said, "\uFFFD")
		return p.showDecline(w, r, &place, person, declineView{Reason: said, Length: utf8.RuneCountInString(reason), Fault: fault})
	}
	err = p.config.Portal.Decline(r.Context(), place.ID, place.Participant.ID, reason)
	if err != nil && !overtaken(err) {
		return err
	}
	return seeOther(w, r, pathOf(&place))
}

// errNothing: there is nothing to decline, or not now.
var errNothing = errors.New("there is nothing to decline")

// decliner finds the place of a person who may decline. errNobody, errNothing; portal.ErrNotFound.
func (p *Page) decliner(r *http.Request) (portal.ParticipantView, portal.Person, error) {
	place, person, err := p.visitor(r)
	if err == nil && !mayDecline(&place) {
		err = errNothing
	}
	return place, person, err
}

func (p *Page) showDecline(w http.ResponseWriter, r *http.Request, place *portal.ParticipantView, person portal.Person, v declineView) (err error) {
	v.Path, v.File, v.Most = pathOf(place), plain(place.FileName), portal.MaxReason
	if v.Sender, err = p.sender(r.Context(), place); err != nil {
		return err
	}
	status := http.StatusOK
	if v.Fault != "" {
		status = http.StatusUnprocessableEntity
	}
	return p.show(w, r, view{status: status, file: "decline.html", title: "decline.title", person: &person, data: v})
}

// folded has one space for each run of white space: people write lines, and a reason is one.
func folded(text string) string { return strings.Join(strings.Fields(text), " ") }

// reasonFault is the key of what is wrong with a reason (spec 1.2).
func reasonFault(reason string) string {
	switch {
	case !utf8.ValidString(reason), strings.ContainsFunc(reason, unicode.IsControl):
		return "decline.fault.characters"
	case utf8.RuneCountInString(reason) > portal.MaxReason:
		return "decline.fault.long"
	}
	return ""
}
