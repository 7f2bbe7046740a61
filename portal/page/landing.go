package page

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
)

// landingView is the data of landing.html. Of the participant it has the name only, since another person may
// have the link.
type landingView struct {
	Sender, File, Name string
	Reads              bool           // the participant is a viewer
	Status             string         // key of the outcome of the process; empty: it is waiting for signatures
	Until              time.Time      // end of the invitation
	Person             *portal.Person // the logged-in person, if they may open the link; nil: show the login form
	Form               *loginForm
}

// showLink shows the page of a link. Mail programs open links before people do, so the page changes nothing. An
// opened link leads to the page of the participant.
func (p *Page) showLink(w http.ResponseWriter, r *http.Request) error {
	view, err := p.linkView(r.Context(), r.PathValue("token"))
	switch {
	case err != nil:
		return err
	case view.Link == portal.Opened:
		return seeOther(w, r, pathOf(&view))
	}
	p.pictures.prefetch(p.currentRevision(view))
	return p.showLanding(w, r, &view, nil)
}

// showLanding shows the page of a link. form is the input to correct; nil: an empty form.
func (p *Page) showLanding(w http.ResponseWriter, r *http.Request, view *portal.ParticipantView, form *loginForm) error {
	sender, err := p.senderName(r.Context(), view)
	if err != nil {
		return err
	}
	person, err := p.loggedInPerson(r)
	if err != nil {
		return err
	}
	status, title := http.StatusOK, "landing.sign.title"
	v := landingView{
		Sender: sender, File: displayText(view.FileName), Name: displayText(view.Participant.Name),
		Reads: view.Participant.Role == portal.Viewer, Status: statusKeys[view.Status],
		Until: view.Participant.Link.InvitedAt.Add(portal.InvitationTime), Form: form,
	}
	if v.Reads {
		title = "landing.read.title"
	}
	if form == nil {
		v.Form = p.newLoginForm(r, linkPath(r.PathValue("token")))
	} else {
		status = http.StatusUnprocessableEntity
	}
	if person != nil && mayOpen(&view.Participant, person) {
		v.Person = person
	}
	return p.render(w, r, htmlPage{status: status, file: "landing.html", title: title, person: person, data: v})
}

// statusKeys are the keys for processes that wait for no signature any more.
var statusKeys = map[portal.Status]string{
	portal.Completed: "landing.completed",
	portal.Declined:  "landing.declined",
	portal.Expired:   "landing.expired",
}

// mayOpen reports whether a person may open a link, as far as the page knows.
func mayOpen(to *portal.ParticipantState, person *portal.Person) bool {
	return to.Kennitala == "" || samePerson(to.Kennitala, person.Kennitala)
}

// loginForm is the form to log in. It has no data of the participant, since another person may have the link.
type loginForm struct {
	Path      string        // of the page that the form is for
	Methods   []LoginMethod // the default first
	Method    LoginMethod
	Kennitala string // as entered
	Phone     string
	Fault     string // key of what is wrong with the input
	ID        string // identifies the form: it begins one login, however often it is sent
}

// continueMethod is the method of a person who has logged in already.
const continueMethod LoginMethod = "continue"

// newLoginForm returns a form with the input of the browser's last login for the same page, if any.
func (p *Page) newLoginForm(r *http.Request, path string) *loginForm {
	f := &loginForm{Path: path, Methods: p.config.Login.Methods(), ID: newToken()}
	if len(f.Methods) > 0 {
		f.Method = f.Methods[0]
	}
	if s, err := p.sessionOf(r); err == nil && s.asLogin() != nil && s.asLogin().Attempt.Target.path() == path {
		f.fill(s.asLogin().Attempt.Method, s.asLogin().Attempt.Hint)
	}
	return f
}

// fill sets the method and its input.
func (f *loginForm) fill(method LoginMethod, hint string) {
	switch f.Method = method; method {
	case App:
		f.Kennitala = hint
	case SIM:
		f.Phone = hint
	}
}

// Chooses reports whether there is more than one method.
func (f *loginForm) Chooses() bool { return len(f.Methods) > 1 }

// readLoginForm reads the form of a request. Wrong input is in its Fault. errInvalidForm, errFormTooLarge.
func (p *Page) readLoginForm(r *http.Request, path string) (*loginForm, error) {
	if err := parseForm(r); err != nil {
		return nil, err
	}
	f := &loginForm{
		Path: path, Methods: p.config.Login.Methods(), Method: LoginMethod(r.PostForm.Get("way")), ID: r.PostForm.Get("visit"),
		Kennitala: r.PostForm.Get("kennitala"), Phone: r.PostForm.Get("phone"),
	}
	if f.Method != continueMethod && (!slices.Contains(f.Methods, f.Method) || sessionKey(f.ID) == nil) {
		return nil, errInvalidForm
	}
	_, f.Fault = f.hint()
	return f, nil
}

// hint returns the hint for the provider, and the key of what is wrong with the input.
func (f *loginForm) hint() (hint, fault string) {
	ok := true
	switch f.Method {
	case App:
		if hint, ok = normalizeKennitala(f.Kennitala); !ok {
			fault = "login.kennitala.fault"
		}
	case SIM:
		if hint, ok = idp.LocalPhone(f.Phone); !ok {
			fault = "login.phone.fault"
		}
	}
	return hint, fault
}

// normalizeKennitala removes spaces and the hyphen, and reports whether ten digits are left. Whether the
// kennitala exists is known to the provider only.
func normalizeKennitala(text string) (digits string, ok bool) {
	digits = idp.NormalizeKennitala(strings.NewReplacer(" ", "", "\u00a0", "").Replace(text))
	return digits, len(digits) == 10 && strings.Trim(digits, "0123456789") == ""
}

// loginView is the data of login.html, the login to the page of a participant. It tells nothing about the
// participant.
type loginView struct {
	Form *loginForm
	Note string // key of the reason to log in; empty: none
}

// showLoginFor shows the login to the page of a participant, and prefetches pictures of the document.
func (p *Page) showLoginFor(w http.ResponseWriter, r *http.Request, view portal.ParticipantView) error {
	p.pictures.prefetch(p.currentRevision(view))
	return p.showLogin(w, r, 0, loginView{Form: p.newLoginForm(r, pathOf(&view))})
}

// showLogin shows the login to the page of a participant.
func (p *Page) showLogin(w http.ResponseWriter, r *http.Request, status int, v loginView) error {
	person, err := p.loggedInPerson(r)
	if err != nil {
		return err
	}
	return p.render(w, r, htmlPage{status: status, file: "login.html", title: "login.title", person: person, data: v})
}
