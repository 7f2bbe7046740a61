package page

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// Errors that have a problem page.
var (
	errPageNotFound     = errors.New("the page does not exist")
	errCrossSite        = errors.New("the request came from another site")
	errMethodNotAllowed = errors.New("the page does not accept this method")
	errInvalidForm      = errors.New("the form does not belong to this page")
	errFormTooLarge     = errors.New("the form is too long")
	errLinkExpired      = errors.New("the link has expired")
	errProviderFailed   = errors.New("the provider cannot be called")
)

// methodNotAllowed is errMethodNotAllowed with the methods that are allowed.
type methodNotAllowed struct{ allow string }

func (e methodNotAllowed) Error() string { return errMethodNotAllowed.Error() }

func (e methodNotAllowed) Is(target error) bool { return target == errMethodNotAllowed }

// problem is the page that an error becomes: the texts key.title and key.text of the catalogue.
type problem struct {
	status     int
	key        string
	linkText   string        // key of the text of the link that leads on; empty: no link
	retryAfter time.Duration // after which the request may succeed; 0: unknown
	expected   bool          // not a fault of the server: Config.Failed is not called
	loginNote  string        // key of the reason to log in, shown with the login form; empty: no form
}

// maxShownInMinutes is the longest wait that is shown in minutes; longer ones are shown in hours.
const maxShownInMinutes = time.Hour

var unexpectedProblem = problem{status: http.StatusInternalServerError, key: "problem.unexpected", linkText: "problem.again"}

// problems maps errors to pages. The first match wins.
var problems = []struct {
	error
	problem
}{
	{errPageNotFound, problem{status: http.StatusNotFound, key: "problem.nopage", linkText: "problem.back"}},
	{errCrossSite, problem{status: http.StatusForbidden, key: "problem.foreign", linkText: "problem.back"}},
	{errMethodNotAllowed, problem{status: http.StatusMethodNotAllowed, key: "problem.nopage", linkText: "problem.back"}},
	{errInvalidForm, problem{status: http.StatusBadRequest, key: "problem.form", linkText: "problem.again"}},
	{errFormTooLarge, problem{status: http.StatusRequestEntityTooLarge, key: "problem.form", linkText: "problem.again"}},
	{errLinkExpired, problem{status: http.StatusGone, key: "problem.expired"}},
	{errNoSession, problem{status: http.StatusForbidden, key: "problem.nobody", loginNote: "login.again"}},
	{portal.ErrNotFound, problem{status: http.StatusNotFound, key: "problem.notfound"}},
	{portal.ErrNotLoggedIn, problem{status: http.StatusForbidden, key: "problem.unopened", linkText: "problem.again"}},
	{portal.ErrOtherPerson, problem{status: http.StatusForbidden, key: "problem.other", linkText: "problem.another", loginNote: "problem.other.text"}},
	{portal.ErrChanged, problem{status: http.StatusConflict, key: "problem.changed", linkText: "problem.look"}},
	{portal.ErrTurn, problem{status: http.StatusLocked, key: "problem.turn", linkText: "problem.back", retryAfter: 10 * time.Second}},
	{portal.ErrAnswered, problem{status: http.StatusConflict, key: "problem.answered", linkText: "problem.back"}},
	{portal.ErrNotWaiting, problem{status: http.StatusConflict, key: "problem.over", linkText: "problem.back"}},
	{portal.ErrViewer, problem{status: http.StatusForbidden, key: "problem.viewer", linkText: "problem.back"}},
	{errProviderFailed, problem{status: http.StatusBadGateway, key: "problem.provider", linkText: "problem.again", retryAfter: 10 * time.Second}},
	{errBusy, problem{status: http.StatusServiceUnavailable, key: "problem.away", linkText: "problem.again", retryAfter: 5 * time.Second, expected: true}},
	{errClosed, problem{status: http.StatusServiceUnavailable, key: "problem.away", linkText: "problem.again", retryAfter: 5 * time.Second, expected: true}},
	{storage.ErrUnavailable, problem{status: http.StatusServiceUnavailable, key: "problem.away", linkText: "problem.again", retryAfter: 5 * time.Second}},
	{storage.ErrFull, problem{status: http.StatusServiceUnavailable, key: "problem.away", linkText: "problem.again", retryAfter: time.Minute}},
}

// problemOf returns the page of an error.
func problemOf(err error) problem {
	var limit *idp.TooManyRequestsError
	if errors.As(err, &limit) {
		about := problem{status: http.StatusTooManyRequests, key: "problem.often", linkText: "problem.back", retryAfter: limit.RetryAfter}
		if limit.RetryAfter > maxShownInMinutes {
			about.key = "problem.later"
		}
		return about
	}
	for _, one := range problems {
		if errors.Is(err, one.error) {
			return one.problem
		}
	}
	return unexpectedProblem
}

// problemView is the data of problem.html.
type problemView struct {
	Key      string
	Minutes  int    // wait, of problem.often
	Hours    int    // wait, of problem.later
	Next, To string // text and path of the link that leads on; empty: no link
	Sender   string // account to contact; empty: unknown
	Contact  string // the operator's; empty: none
}

// showError answers with the page of an error, and reports faults of the server.
func (p *Page) showError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // the client is gone
	}
	if to := pageOfForm(r); to != "" && errors.Is(err, portal.ErrNotFound) {
		_ = seeOther(w, r, to)
		return
	}
	about := problemOf(err)
	if about.status >= http.StatusInternalServerError && !about.expected {
		p.report(r.Context(), err)
	}
	var method methodNotAllowed
	if errors.As(err, &method) {
		w.Header().Set("Allow", method.allow)
	}
	if about.retryAfter > 0 {
		setRetryAfter(w, about.retryAfter)
	}
	if err := p.showLoginOrProblem(w, r, about); err != nil {
		p.report(r.Context(), err)
		http.Error(w, http.StatusText(about.status), about.status)
	}
}

// setRetryAfter sets the header Retry-After.
func setRetryAfter(w http.ResponseWriter, wait time.Duration) {
	w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(wait.Seconds()))))
}

// pageOfForm returns the page whose form is sent to the path, if a browser gets that path, which the router takes
// for the path of a participant. Else it returns "".
func pageOfForm(r *http.Request) string {
	process, who := r.PathValue("process"), r.PathValue("who")
	switch {
	case r.Method == http.MethodPost:
	case participantPath(process, who) == loginPath+"/end":
		return loginPath
	case who == "login", who == "logout":
		return linkPath(process)
	}
	return ""
}

// showLoginOrProblem shows the login form on the page of a participant, if a login solves the problem, and else
// the problem.
func (p *Page) showLoginOrProblem(w http.ResponseWriter, r *http.Request, about problem) error {
	if about.loginNote != "" && r.PathValue("who") != "" && !wantsStatus(r) {
		return p.showLogin(w, r, about.status, loginView{Form: p.newLoginForm(r, subjectPath(r)), Note: about.loginNote})
	}
	return p.showProblem(w, r, about)
}

// showProblem shows a problem with a link that leads on.
func (p *Page) showProblem(w http.ResponseWriter, r *http.Request, about problem) error {
	if wantsStatus(r) {
		return writeStatus(w, about.status, pageStatus{"failed", subjectPath(r)})
	}
	v := problemView{
		Key: about.key, Minutes: int(math.Ceil(about.retryAfter.Minutes())), Hours: int(math.Ceil(about.retryAfter.Hours())),
		Contact: p.config.Operator.Contact,
	}
	v.Sender = p.expiredLinkSender(r, about)
	if to := problemLink(r, about); about.linkText != "" && to != "" {
		v.Next, v.To = about.linkText, to
	}
	return p.render(w, r, htmlPage{status: about.status, file: "problem.html", title: about.key + ".title", data: v})
}

// report passes a fault of the server to Config.Failed.
func (p *Page) report(ctx context.Context, err error) {
	if p.config.Failed != nil {
		p.config.Failed(ctx, fmt.Errorf("the signing page: %w", err))
	}
}

// problemLink returns where a problem page leads to. For an address that does not exist, or that only forms are
// sent to, it is the page of the link or participant above it. An empty path is no link.
func problemLink(r *http.Request, about problem) string {
	if about.key != "problem.nopage" && about.key != "problem.foreign" {
		return subjectPath(r)
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

// expiredLinkSender returns the name of the account to ask for another link, if the link has expired. It
// returns "" for other problems, and if the name cannot be read.
func (p *Page) expiredLinkSender(r *http.Request, about problem) string {
	if about.key != "problem.expired" {
		return ""
	}
	var name string
	view, err := p.config.Portal.LinkView(r.Context(), r.PathValue("token"))
	if err == nil && view.Link == portal.LinkExpired {
		name, err = p.senderName(r.Context(), &view)
	}
	if err != nil {
		return ""
	}
	return name
}
