package page

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// The errors that are pages of their own.
var (
	errNoPage   = errors.New("there is no such page")
	errForeign  = errors.New("the request came from another site")
	errMethod   = errors.New("the page is there for another method")
	errForm     = errors.New("the form is not one of this page")
	errTooLong  = errors.New("the form is too long")
	errExpired  = errors.New("the link has expired")
	errProvider = errors.New("the provider cannot be asked")
)

// wrongMethod is errMethod with those that are right.
type wrongMethod struct{ allow string }

func (e wrongMethod) Error() string        { return errMethod.Error() }
func (e wrongMethod) Is(target error) bool { return target == errMethod }

// problem is what is said of an error: the text of .title and .text of its key.
type problem struct {
	status int
	key    string
	next   string        // key of what leads on; empty: nothing does
	again  time.Duration // when the same may go well; 0: not known
	usual  bool          // it is nobody's fault: Failed is not told of it
	login  string        // key of why to log in, again or as somebody else, which leads on; empty: it does not
}

// manyMinutes is for how long people are told to wait in minutes.
const manyMinutes = time.Hour

var unexpected = problem{status: http.StatusInternalServerError, key: "problem.unexpected", next: "problem.again"}

// problems are what people are told of errors, the first that one is.
var problems = []struct {
	error
	problem
}{
	{errNoPage, problem{status: http.StatusNotFound, key: "problem.nopage", next: "problem.back"}},
	{errForeign, problem{status: http.StatusForbidden, key: "problem.foreign", next: "problem.back"}},
	{errMethod, problem{status: http.StatusMethodNotAllowed, key: "problem.nopage", next: "problem.back"}},
	{errForm, problem{status: http.StatusBadRequest, key: "problem.form", next: "problem.again"}},
	{errTooLong, problem{status: http.StatusRequestEntityTooLarge, key: "problem.form", next: "problem.again"}},
	{errExpired, problem{status: http.StatusGone, key: "problem.expired"}},
	{errNobody, problem{status: http.StatusForbidden, key: "problem.nobody", login: "login.again"}},
	{errTooOften, problem{status: http.StatusTooManyRequests, key: "problem.often", next: "problem.back"}},
	{portal.ErrNotFound, problem{status: http.StatusNotFound, key: "problem.notfound"}},
	{portal.ErrNotLoggedIn, problem{status: http.StatusForbidden, key: "problem.unopened", next: "problem.again"}},
	{portal.ErrOtherPerson, problem{status: http.StatusForbidden, key: "problem.other", next: "problem.another", login: "problem.other.text"}},
	{portal.ErrChanged, problem{status: http.StatusConflict, key: "problem.changed", next: "problem.look"}},
	{portal.ErrTurn, problem{status: http.StatusLocked, key: "problem.turn", next: "problem.back", again: 10 * time.Second}},
	{portal.ErrAnswered, problem{status: http.StatusConflict, key: "problem.answered", next: "problem.back"}},
	{portal.ErrNotWaiting, problem{status: http.StatusConflict, key: "problem.over", next: "problem.back"}},
	{portal.ErrViewer, problem{status: http.StatusForbidden, key: "problem.viewer", next: "problem.back"}},
	{errProvider, problem{status: http.StatusBadGateway, key: "problem.provider", next: "problem.again", again: 10 * time.Second}},
	{errBusy, problem{status: http.StatusServiceUnavailable, key: "problem.away", next: "problem.again", again: 5 * time.Second, usual: true}},
	{errEnding, problem{status: http.StatusServiceUnavailable, key: "problem.away", next: "problem.again", again: 5 * time.Second, usual: true}},
	{storage.ErrUnavailable, problem{status: http.StatusServiceUnavailable, key: "problem.away", next: "problem.again", again: 5 * time.Second}},
	{storage.ErrFull, problem{status: http.StatusServiceUnavailable, key: "problem.away", next: "problem.again", again: time.Minute}},
}

func problemOf(err error) problem {
	for _, one := range problems {
		if errors.Is(err, one.error) {
			return one.problem
		}
	}
	return unexpected
}

// problemView is a problem as it is shown.
type problemView struct {
	Key      string
	Minutes  int    // to wait, with problem.often
	Hours    int    // to wait, with problem.later
	Next, To string // what leads on and where; empty: nothing does
	Sender   string // whom to ask; empty: nobody is known
	Contact  string // where people get help; empty: nowhere
}

// fail shows an error.
func (p *Page) fail(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody is there
	}
	if to := formPage(r); to != "" && errors.Is(err, portal.ErrNotFound) {
		_ = seeOther(w, r, to)
		return
	}
	about := problemOf(err)
	if about.status >= http.StatusInternalServerError && !about.usual {
		p.tell(r.Context(), err)
	}
	var wait tooOften
	if errors.As(err, &wait) {
		about.again = wait.wait
		if wait.wait > manyMinutes {
			about.key = "problem.later"
		}
	}
	var method wrongMethod
	if errors.As(err, &method) {
		w.Header().Set("Allow", method.allow)
	}
	if about.again > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(math.Ceil(about.again.Seconds()))))
	}
	if err := p.showFailure(w, r, about); err != nil {
		p.tell(r.Context(), err)
		http.Error(w, http.StatusText(about.status), about.status)
	}
}

// formPage is the page whose form was sent to the path, which somebody looks at and which looks like a
// participant's; empty: it is not such a path.
func formPage(r *http.Request) string {
	process, who := r.PathValue("process"), r.PathValue("who")
	switch {
	case r.Method == http.MethodPost:
	case placePath(process, who) == loginPath+"/end":
		return loginPath
	case who == "login", who == "logout":
		return linkPath(process)
	}
	return ""
}

// showFailure shows a problem. Who has to log in as somebody to see the page of a participant can do so
// at once.
func (p *Page) showFailure(w http.ResponseWriter, r *http.Request, about problem) error {
	if about.login != "" && r.PathValue("who") != "" && !wantsNews(r) {
		return p.showLogin(w, r, about.status, loginView{Form: p.newLoginForm(r, home(r)), Note: about.login})
	}
	return p.showProblem(w, r, about)
}

// showProblem shows a problem, and where to go on.
func (p *Page) showProblem(w http.ResponseWriter, r *http.Request, about problem) error {
	if wantsNews(r) {
		return writeNews(w, about.status, placeNews{"failed", home(r)})
	}
	v := problemView{
		Key: about.key, Minutes: int(math.Ceil(about.again.Minutes())), Hours: int(math.Ceil(about.again.Hours())),
		Contact: p.config.Operator.Contact,
	}
	v.Sender = p.whoSent(r, about)
	if to := wayOut(r, about); about.next != "" && to != "" {
		v.Next, v.To = about.next, to
	}
	return p.show(w, r, view{status: about.status, file: "problem.html", title: about.key + ".title", data: v})
}

// tell tells of an error that is the server's fault.
func (p *Page) tell(ctx context.Context, err error) {
	if p.config.Failed != nil {
		p.config.Failed(ctx, fmt.Errorf("the signing page: %w", err))
	}
}
