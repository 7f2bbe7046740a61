package page

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/innsigli/innsigli/portal"
)

// again is what the form to log out says of who wants to come back at once, to log in as somebody else.
const again = "again"

// afterLogout is where who has logged out goes: to where they were, or to the goodbye that leads there.
func afterLogout(r *http.Request) string {
	token := r.PathValue("token")
	switch to := home(r); {
	case to == loginPath: // they were at nobody's place
		return goodbyePath
	case r.PostFormValue(again) != "":
		return to
	case token != "":
		return goodbyePath + "/" + url.PathEscape(token)
	default:
		return to + "/goodbye"
	}
}

// logoutPath is what the form to log out is sent to.
func logoutPath(r *http.Request) string {
	if to := home(r); to != loginPath {
		return to + "/logout"
	}
	return "/sign/logout"
}

// goodbyeView is the page of who has logged out.
type goodbyeView struct {
	Back string // path of where they were; empty: at nobody's place
}

// goodbye is the page of who has logged out.
func (p *Page) goodbye(w http.ResponseWriter, r *http.Request) error {
	var v goodbyeView
	if to := home(r); to != loginPath {
		v.Back = to
	}
	return p.show(w, r, view{file: "goodbye.html", title: "goodbye.title", data: v})
}

// wayOut is where a page that says what is wrong leads to: for an address that is none, or that nobody
// but the page itself is to use, the page of the link or the participant that it is below. Empty:
// nowhere.
func wayOut(r *http.Request, about problem) string {
	if about.key != "problem.nopage" && about.key != "problem.foreign" {
		return home(r)
	}
	above := path.Dir(r.URL.EscapedPath())
	if parts := strings.SplitN(above, "/", 5); len(parts) > 4 { // "", "sign", and two that name a participant's page
		above = strings.Join(parts[:4], "/")
	}
	if !strings.HasPrefix(above, "/sign/") || above+"/" == assetPath {
		return ""
	}
	return above
}

// whoSent is the name of whom to ask about a link that has expired; empty: that is not what is wrong, or
// it cannot be found out.
func (p *Page) whoSent(r *http.Request, about problem) string {
	if about.key != "problem.expired" {
		return ""
	}
	var name string
	place, err := p.config.Portal.LinkView(r.Context(), r.PathValue("token"))
	if err == nil && place.Link == portal.LinkExpired {
		name, err = p.sender(r.Context(), &place)
	}
	if err != nil {
		return ""
	}
	return name
}
