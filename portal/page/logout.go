package page

import (
	"errors"
	"net/http"
	"net/url"
)

// logout ends the session of a browser.
func (p *Page) logout(w http.ResponseWriter, r *http.Request) error {
	s, err := p.sessionOf(r)
	if err == nil {
		err = p.deleteSession(r.Context(), s)
	}
	if err != nil && !errors.Is(err, errNoSession) {
		return err
	}
	setCookie(w, "")
	return seeOther(w, r, afterLogoutPath(r))
}

// returnField is the field of the logout form that asks to return at once, to log in as another person.
const returnField = "again"

// afterLogoutPath returns where a logout leads: back to the page, or to the goodbye page that links to it.
func afterLogoutPath(r *http.Request) string {
	token := r.PathValue("token")
	switch to := subjectPath(r); {
	case to == loginPath: // the logout was on no page of a participant or link
		return goodbyePath
	case r.PostFormValue(returnField) != "":
		return to
	case token != "":
		return goodbyePath + "/" + url.PathEscape(token)
	default:
		return to + "/goodbye"
	}
}

// logoutPath returns the path that the logout form is sent to.
func logoutPath(r *http.Request) string {
	if to := subjectPath(r); to != loginPath {
		return to + "/logout"
	}
	return "/sign/logout"
}

// goodbyeView is the data of goodbye.html.
type goodbyeView struct {
	Back string // path of the page before the logout; empty: unknown
}

// showGoodbye confirms a logout.
func (p *Page) showGoodbye(w http.ResponseWriter, r *http.Request) error {
	var v goodbyeView
	if to := subjectPath(r); to != loginPath {
		v.Back = to
	}
	return p.render(w, r, htmlPage{file: "goodbye.html", title: "goodbye.title", data: v})
}
