package page

import (
	"context"
	"errors"
	"math"
	"net/http"
	"net/url"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// loginProgress is the page of a login under way. It shows what to do on the phone or redirects to the
// provider, and leads on when the person is known.
func (p *Page) loginProgress(w http.ResponseWriter, r *http.Request) error {
	s, err := p.sessionOf(r)
	if err == nil && s.asLogin() != nil && s.asLogin().Attempt.Method != Browser {
		s, err = p.poll(r.Context(), s)
	}
	if err != nil {
		return err
	}
	if s.asLogin() == nil { // another tab was faster
		return p.leadTo(w, r, s.asPerson().Path)
	}
	a, now := s.asLogin().Attempt, p.now(r.Context())
	if a.abandoned(now) {
		a.Ended = "ended.outage"
	}
	switch {
	case wantsStatus(r):
		return writeStatus(w, http.StatusOK, pageStatus{a.state(), loginPath})
	case a.Ended != "":
		return p.showEnded(w, r, a)
	case a.Person != nil:
		return p.completeLogin(w, r, s)
	case a.State != nil && a.Method == Browser && !a.leased(now):
		return p.redirectToProvider(w, r, s)
	}
	return p.showWaiting(w, r, a)
}

// leadTo redirects the browser, or tells the script where to go.
func (p *Page) leadTo(w http.ResponseWriter, r *http.Request, path string) error {
	if wantsStatus(r) {
		return writeStatus(w, http.StatusOK, pageStatus{"done", path})
	}
	return seeOther(w, r, path)
}

// state returns the state that the page's script gets.
func (a *attempt) state() string {
	switch {
	case a.Ended != "":
		return "failed"
	case a.Person != nil:
		return "done"
	case a.State == nil:
		return "asking"
	}
	return "waiting"
}

// poll asks the provider whether the person has answered, if the next call is due and no other request makes
// it.
func (p *Page) poll(ctx context.Context, s session) (session, error) {
	due := func(l *loginSession, now time.Time) bool {
		return l != nil && l.Attempt.State != nil && l.Attempt.pending() && !now.Before(l.Attempt.Next)
	}
	if !due(s.asLogin(), p.now(ctx)) {
		return s, nil
	}
	ctx, cancel := providerContext(ctx)
	defer cancel()
	var lease string
	s, err := p.updateSession(ctx, s.key, func(s *session) error {
		if lease = ""; due(s.asLogin(), p.now(ctx)) {
			lease = s.asLogin().Attempt.acquire(p.now(ctx))
		}
		return nil
	})
	if err != nil || lease == "" {
		return s, err
	}
	state, person, callErr := p.config.Login.Poll(ctx, *s.asLogin().Attempt.State)
	p.reportOutage(ctx, callErr)
	settled, err := p.storeResult(context.WithoutCancel(ctx), s.key, lease, func(l *loginSession) { l.recordResult(state, person, callErr, p.now(ctx)) })
	if errors.Is(err, errLeaseLost) {
		return s, nil
	}
	return settled, err
}

// waitView is the data of wait.html.
type waitView struct {
	Code    string // empty: the phone shows none, or it is not known yet
	Asking  bool
	Trouble bool
	Method  LoginMethod
	Until   string // "15:04:05"; empty: not known yet
}

// Reload intervals of the page without a script, in seconds.
const (
	waitRefresh = 3 // while the person answers
	askRefresh  = 1 // while the provider is called
)

// showWaiting shows what to do on the phone.
func (p *Page) showWaiting(w http.ResponseWriter, r *http.Request, a *attempt) error {
	v := waitView{Asking: a.State == nil || a.Method == Browser, Trouble: a.Trouble, Method: a.Method}
	title, refresh := "login.title", askRefresh
	if !v.Asking {
		title = "wait.title"
		v.Code, v.Until = a.State.Code, a.State.Expires.UTC().Format(time.TimeOnly)
		refresh = max(waitRefresh, int((a.State.Interval+time.Second-1)/time.Second))
	}
	return p.render(w, r, htmlPage{file: "wait.html", title: title, refresh: refresh, data: v})
}

// redirectView is the data of redirect.html.
type redirectView struct{ To string }

// redirectToProvider sends the browser to the provider: by itself the first time, and by a link when the
// browser comes back without an answer. It is a page, and not a redirect, since the Content-Security-Policy
// restricts where the answer to a form may lead (form-action).
func (p *Page) redirectToProvider(w http.ResponseWriter, r *http.Request, s session) error {
	a := s.asLogin().Attempt
	if !a.Redirected {
		_, err := p.updateSession(r.Context(), s.key, func(s *session) error {
			if s.asLogin() != nil {
				s.asLogin().Attempt.Redirected = true
			}
			return nil
		})
		if err != nil {
			return err
		}
		w.Header().Set("Refresh", "0; url="+a.State.Redirect)
	}
	return p.render(w, r, htmlPage{file: "redirect.html", title: "redirect.title", data: redirectView{a.State.Redirect}})
}

// endStatuses are the statuses of failed logins that are not 200.
var endStatuses = map[string]int{
	"ended.other": http.StatusForbidden, "ended.outage": http.StatusBadGateway, "ended.often": http.StatusTooManyRequests,
}

// showEnded shows why a login failed, and links to the page where the person can begin another.
func (p *Page) showEnded(w http.ResponseWriter, r *http.Request, a *attempt) error {
	next := "ended.again"
	if a.Ended == "ended.other" {
		next = "ended.another"
	}
	v := problemView{Key: a.Ended, Next: next, To: a.Target.path(), Contact: p.config.Operator.Contact}
	if a.Ended == "ended.often" {
		wait := max(a.Next.Sub(p.now(r.Context())), time.Second)
		v.Minutes = int(math.Ceil(wait.Minutes()))
		setRetryAfter(w, wait)
	}
	return p.render(w, r, htmlPage{status: endStatuses[a.Ended], file: "problem.html", title: a.Ended + ".title", data: v})
}

// cancelLogin cancels a login. A later answer of the person on the phone is ignored.
func (p *Page) cancelLogin(w http.ResponseWriter, r *http.Request) error {
	s, err := p.sessionOf(r)
	switch {
	case errors.Is(err, errNoSession):
		return seeOther(w, r, goodbyePath)
	case err != nil:
		return err
	case s.asLogin() == nil: // the login has completed meanwhile
		return seeOther(w, r, s.asPerson().Path)
	}
	if err := p.deleteSession(r.Context(), s); err != nil {
		return err
	}
	setCookie(w, "")
	return seeOther(w, r, s.asLogin().Attempt.Target.path())
}

// loginCallback handles the redirect back from the provider. It completes the browser's pending login once; any
// other request changes nothing.
func (p *Page) loginCallback(w http.ResponseWriter, r *http.Request) error {
	s, err := p.sessionOf(r)
	if err != nil {
		return err
	}
	ctx, cancel := providerContext(r.Context())
	defer cancel()
	var lease string
	s, err = p.updateSession(ctx, s.key, func(s *session) error {
		lease = ""
		if s.asLogin() == nil {
			return nil
		}
		if a, now := s.asLogin().Attempt, p.now(ctx); a.mayAnswer(r.URL.Query()) && a.pending() && !a.leased(now) {
			lease = a.acquire(now)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if lease == "" {
		return seeOther(w, r, loginPath)
	}
	person, callErr := p.config.Login.Finish(ctx, *s.asLogin().Attempt.State, r.URL.Query())
	p.reportOutage(ctx, callErr)
	_, err = p.storeResult(context.WithoutCancel(ctx), s.key, lease, func(l *loginSession) { l.recordCallback(person, callErr, p.now(ctx)) })
	if err != nil && !errors.Is(err, errLeaseLost) {
		return err
	}
	return seeOther(w, r, loginPath)
}

// mayAnswer reports whether a callback may belong to the login, so that a link on another site cannot end it.
// It compares the state of the authorization request (RFC 6749 4.1.1), unless the request was pushed to the
// provider and the address has no state.
func (a *attempt) mayAnswer(answer url.Values) bool {
	if a.Method != Browser || a.State == nil {
		return false
	}
	request, err := url.Parse(a.State.Redirect)
	return err == nil && (!request.Query().Has("state") || request.Query().Get("state") == answer.Get("state"))
}

// recordCallback stores the provider's answer. It ends the login in any case, since an authorization code is
// valid for one call (RFC 6749 4.1.2). An answer to another login changes nothing.
func (l *loginSession) recordCallback(person portal.Person, err error, now time.Time) {
	if errors.Is(err, ErrForeignAnswer) {
		l.Attempt.Lease = ""
		return
	}
	if err != nil {
		l.recordResult(*l.Attempt.State, nil, err, now)
		l.Attempt.Ended = endKey(err)
		return
	}
	l.recordResult(*l.Attempt.State, &person, nil, now)
}

// completeLogin opens the page of the participant and gives the browser the cookie of a new session, so that a
// cookie from before the login is worthless. Within replayWindow it repeats the answer with the same cookie,
// for a browser that lost the answer or asked in two tabs.
func (p *Page) completeLogin(w http.ResponseWriter, r *http.Request, s session) (err error) {
	login := s.asLogin()
	path, cookie := login.Path, deriveCookie(login.Seed, cookieOf(r))
	if !login.completed() {
		path, err = p.createPersonSession(r, s, sessionKey(cookie))
	}
	if errors.Is(err, portal.ErrOtherPerson) {
		login.Attempt.Ended = "ended.other"
		p.loginFailed(r.Context(), login.Attempt.Ended)
		return p.showEnded(w, r, login.Attempt)
	}
	if err != nil {
		return err
	}
	setCookie(w, cookie)
	return seeOther(w, r, path)
}

// createPersonSession opens the target as the person of a login session, stores the person session under a key, and
// returns the path of the page that the login leads to.
func (p *Page) createPersonSession(r *http.Request, s session, key []byte) (path string, err error) {
	ctx, a := r.Context(), s.asLogin().Attempt
	path, err = p.openTarget(ctx, a.Target, p.authenticated(r, a))
	if err != nil {
		return "", err
	}
	now := p.now(ctx)
	created := session{key: key, record: &personSession{
		Person: &portal.Person{Name: a.Person.Name, Kennitala: a.Person.Kennitala, At: a.Person.At}, EndsBy: now.Add(maxLifetime), Path: path, Method: a.Method, Hint: a.Hint, LoginSessionKey: s.key,
	}}
	err = storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		s, err := p.loadSession(ctx, s.key)
		if err != nil {
			return err
		}
		login := s.asLogin()
		if login.completed() { // another tab was faster
			path = login.Path
			return nil
		}
		login.PersonSessionKey, login.Path = key, path
		if end := now.Add(replayWindow); end.Before(login.EndsBy) {
			login.EndsBy = end
		}
		if err := p.uncount(ctx, login.Attempt.Begun, counter{perParticipantUnsuccessful, path}); err != nil {
			return err
		}
		if err := p.config.Prompts.Forget(ctx, now, begunPrompt(path, login.Attempt)); err != nil {
			return err
		}
		if err := p.saveSession(ctx, s); err != nil {
			return err
		}
		return p.saveSession(ctx, created)
	})
	return path, err
}

// authenticated returns the person of a login, and how the person logged in, for the evidence log.
func (p *Page) authenticated(r *http.Request, a *attempt) portal.Person {
	who, how := *a.Person, portal.Authentication{}
	if who.Authentication != nil {
		how = *who.Authentication
	}
	how.Method = string(a.Method)
	if address := p.config.Address(r); address.IsValid() {
		how.Address = address.String()
	}
	who.Authentication = &how
	return who
}

// openTarget opens a link, or logs in to a participant again, and returns the path of the participant.
func (p *Page) openTarget(ctx context.Context, to target, person portal.Person) (path string, err error) {
	process, participant := to.Process, to.Participant
	if to.Token != "" {
		process, participant, err = p.config.Portal.Login(ctx, to.Token, person)
	} else {
		err = p.config.Portal.LoginAgain(ctx, process, participant, person)
	}
	return participantPath(process, participant), err
}
