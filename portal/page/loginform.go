package page

import (
	"net/http"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
)

// loginForm asks how somebody wants to log in, and as whom. What is known of the participant is not in
// it: a stranger may have the link.
type loginForm struct {
	To        string // path of the page that it is for
	Ways      []Way  // the usual one first
	Way       Way
	Kennitala string // as the person wrote it
	Phone     string
	Fault     string // key of what is wrong
	Visit     string // names the form, which begins one login, however often it is sent
}

// continuing is the way of who has logged in already.
const continuing Way = "continue"

// newLoginForm is empty, but for what was last tried with the browser for the same page.
func (p *Page) newLoginForm(r *http.Request, to string) *loginForm {
	f := &loginForm{To: to, Ways: p.config.Login.Ways(), Visit: newCookie()}
	if len(f.Ways) > 0 {
		f.Way = f.Ways[0]
	}
	if v, err := p.visit(r); err == nil && v.Login != nil && v.Login.For.path() == to {
		f.fill(v.Login.Way, v.Login.Hint)
	}
	return f
}

func (f *loginForm) fill(way Way, hint string) {
	switch f.Way = way; way {
	case App:
		f.Kennitala = hint
	case SIM:
		f.Phone = hint
	}
}

// Chooses says whether there is more than one way.
func (f *loginForm) Chooses() bool { return len(f.Ways) > 1 }

// readLoginForm reads what the person sent.
func (p *Page) readLoginForm(r *http.Request, to string) (*loginForm, error) {
	if err := readForm(r); err != nil {
		return nil, err
	}
	f := &loginForm{
		To: to, Ways: p.config.Login.Ways(), Way: Way(r.PostForm.Get("way")), Visit: r.PostForm.Get("visit"),
		Kennitala: r.PostForm.Get("kennitala"), Phone: r.PostForm.Get("phone"),
	}
	if f.Way != continuing && (!slices.Contains(f.Ways, f.Way) || visitKey(f.Visit) == nil) {
		return nil, errForm
	}
	_, f.Fault = f.hint()
	return f, nil
}

// hint is whom the provider is to ask, and what is wrong with it.
func (f *loginForm) hint() (hint, fault string) {
	ok := true
	switch f.Way {
	case App:
		if hint, ok = wholeKennitala(f.Kennitala); !ok {
			fault = "login.kennitala.fault"
		}
	case SIM:
		if hint, ok = idp.LocalPhone(f.Phone); !ok {
			fault = "login.phone.fault"
		}
	}
	return hint, fault
}

// wholeKennitala is a kennitala without what people write in it. Only the provider knows whose it is,
// if anybody's.
func wholeKennitala(text string) (digits string, ok bool) {
	digits = idp.NormalizeKennitala(strings.NewReplacer(" ", "", "\u00a0", "").Replace(text))
	return digits, len(digits) == 10 && strings.Trim(digits, "0123456789") == ""
}

// loginView is the page to log in on of who has been at the participant's before. It tells strangers
// nothing.
type loginView struct {
	Form *loginForm
	Note string // key of why; empty: it is clear
}

// askLogin shows how to log in to see a place, whose document is drawn meanwhile.
func (p *Page) askLogin(w http.ResponseWriter, r *http.Request, place portal.ParticipantView) error {
	p.pictures.ahead(p.edition(place))
	return p.showLogin(w, r, 0, loginView{Form: p.newLoginForm(r, pathOf(&place))})
}

func (p *Page) showLogin(w http.ResponseWriter, r *http.Request, status int, v loginView) error {
	person, err := p.person(r)
	if err != nil {
		return err
	}
	return p.show(w, r, view{status: status, file: "login.html", title: "login.title", person: person, data: v})
}
