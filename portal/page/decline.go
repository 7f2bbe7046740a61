package page

import (
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/innsigli/innsigli/portal"
)

// declineView is the data of decline.html.
type declineView struct {
	Path, File, Sender string
	Reason             string // as entered; may be empty
	Max                int    // characters
	Length             int    // characters of Reason
	Fault              string // key of what is wrong with the reason
}

// confirmDecline shows the form to decline, so that declining takes two steps.
func (p *Page) confirmDecline(w http.ResponseWriter, r *http.Request) error {
	view, person, err := p.authorizeDecline(r)
	switch {
	case errors.Is(err, errNoSession), errors.Is(err, errCannotDecline):
		return seeOther(w, r, subjectPath(r))
	case err != nil:
		return err
	}
	return p.showDecline(w, r, &view, person, declineView{})
}

// decline declines. If the person cannot decline any more, the page of the participant shows why.
func (p *Page) decline(w http.ResponseWriter, r *http.Request) error {
	view, person, err := p.authorizeDecline(r)
	switch {
	case errors.Is(err, errNoSession), errors.Is(err, errCannotDecline):
		return seeOther(w, r, subjectPath(r))
	case err != nil:
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	input := r.PostForm.Get("reason")
	reason := collapseSpaces(input)
	if fault := reasonFault(reason); fault != "" {
		input = strings.ToValidUTF8(input, "\uFFFD")
		return p.showDecline(w, r, &view, person, declineView{Reason: input, Length: utf8.RuneCountInString(reason), Fault: fault})
	}
	err = p.config.Portal.Decline(r.Context(), view.ID, view.Participant.ID, reason)
	if err != nil && !superseded(err) {
		return err
	}
	return seeOther(w, r, pathOf(&view))
}

// errCannotDecline reports that the participant cannot decline now.
var errCannotDecline = errors.New("the participant cannot decline now")

// authorizeDecline returns a participant who may decline. Errors: errNoSession, errCannotDecline,
// [portal.ErrNotFound].
func (p *Page) authorizeDecline(r *http.Request) (portal.ParticipantView, portal.Person, error) {
	view, person, err := p.authorize(r)
	if err == nil && !mayDecline(&view) {
		err = errCannotDecline
	}
	return view, person, err
}

// showDecline shows the form to decline.
func (p *Page) showDecline(w http.ResponseWriter, r *http.Request, view *portal.ParticipantView, person portal.Person, v declineView) (err error) {
	v.Path, v.File, v.Max = pathOf(view), displayText(view.FileName), portal.MaxReason
	if v.Sender, err = p.senderName(r.Context(), view); err != nil {
		return err
	}
	status := http.StatusOK
	if v.Fault != "" {
		status = http.StatusUnprocessableEntity
	}
	return p.render(w, r, htmlPage{status: status, file: "decline.html", title: "decline.title", person: &person, data: v})
}

// collapseSpaces replaces each run of white space by one space, since a reason is one line.
func collapseSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }

// reasonFault returns the key of what is wrong with a reason (spec 1.2), or "".
func reasonFault(reason string) string {
	switch {
	case !utf8.ValidString(reason), strings.ContainsFunc(reason, unicode.IsControl):
		return "decline.fault.characters"
	case utf8.RuneCountInString(reason) > portal.MaxReason:
		return "decline.fault.long"
	}
	return ""
}
