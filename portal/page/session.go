package page

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// Lifetimes of a session.
const (
	idleTimeout = 30 * time.Minute // a session ends after this time without a request
	maxLifetime = 8 * time.Hour    // and after this time at the latest
	renewAfter  = time.Minute      // the expiry of a session in use is stored again after this time
)

// errNoSession reports that the browser has no session: no person has logged in with it.
var errNoSession = errors.New("no person has logged in")

// session is the server's record of a browser. It belongs to a logged-in person, or to a login under way: a
// login gets a session of its own, and another one when the person is known.
type session struct {
	Person        *portal.Person `json:"person,omitempty"`
	EndsBy        time.Time      `json:"until"`            // end of the session, however much it is used
	Path          string         `json:"to,omitempty"`     // page that the person has logged in for
	Method        LoginMethod    `json:"way,omitempty"`    // with which the person has logged in
	Hint          string         `json:"hint,omitempty"`   // kennitala or phone number that the person has entered
	LoginSession  []byte         `json:"before,omitempty"` // key of the session of the login
	Login         *attempt       `json:"login,omitempty"`
	Seed          []byte         `json:"seed,omitempty"`  // of a login: for the cookie of the person's session
	PersonSession []byte         `json:"after,omitempty"` // of a login: key of the person's session

	key     []byte
	expires time.Time
}

// session returns the session of a request's browser. errNoSession.
func (p *Page) session(r *http.Request) (session, error) {
	return p.loadSession(r.Context(), sessionKey(cookieOf(r)))
}

// loadSession reads a session. errNoSession: there is none, or it has expired.
func (p *Page) loadSession(ctx context.Context, key []byte) (session, error) {
	if key == nil {
		return session{}, errNoSession
	}
	record, err := p.config.Store.Record(ctx, key)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !p.now(ctx).Before(record.Expires) {
		return session{}, errNoSession
	}
	if err != nil {
		return session{}, fmt.Errorf("page: reading a session: %w", err)
	}
	v := session{key: key, expires: record.Expires}
	if err := json.Unmarshal(record.Value, &v); err != nil {
		return session{}, errors.New("page: a session cannot be decoded")
	}
	return v, nil
}

// saveSession stores a session. It joins the transaction.
func (p *Page) saveSession(ctx context.Context, v session) error {
	value, err := json.Marshal(v)
	if err == nil {
		err = p.config.Store.PutRecord(ctx, Record{Key: v.key, Value: value, Expires: v.expiry(p.now(ctx))})
	}
	if err != nil {
		return fmt.Errorf("page: storing a session: %w", err)
	}
	return nil
}

// expiry returns when a session that is used now expires.
func (v *session) expiry(now time.Time) time.Time {
	if end := now.Add(idleTimeout); v.Login == nil && end.Before(v.EndsBy) {
		return end
	}
	return v.EndsBy
}

// updateSession stores the session as f changes it, and returns it. errNoSession: it has ended.
func (p *Page) updateSession(ctx context.Context, key []byte, f func(*session) error) (changed session, err error) {
	err = storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		v, err := p.loadSession(ctx, key)
		if err == nil {
			err = f(&v)
		}
		if err == nil {
			err = p.saveSession(ctx, v)
		}
		changed = v
		return err
	})
	return changed, err
}

// loggedInPerson returns the person who has logged in with the browser, or nil, also while a login is under
// way.
func (p *Page) loggedInPerson(r *http.Request) (*portal.Person, error) {
	v, err := p.session(r)
	if err == nil && v.Login == nil && v.expires.Sub(p.now(r.Context())) < idleTimeout-renewAfter && v.expires.Before(v.EndsBy) {
		_, err = p.updateSession(r.Context(), v.key, func(*session) error { return nil })
		if errors.Is(err, storage.ErrFull) { // the stored expiry is still valid
			err = nil
		}
	}
	if errors.Is(err, errNoSession) {
		return nil, nil
	}
	return v.Person, err
}

// authorize returns the participant that the path names, if the person who has logged in with the browser is
// that participant. Errors: [portal.ErrNotFound]; and together with the participant errNoSession,
// [portal.ErrOtherPerson], and [portal.ErrNotLoggedIn] if no person has opened the participant's link yet.
func (p *Page) authorize(r *http.Request) (portal.ParticipantView, portal.Person, error) {
	view, err := p.config.Portal.ParticipantView(r.Context(), r.PathValue("process"), r.PathValue("who"))
	if err != nil {
		return portal.ParticipantView{}, portal.Person{}, err
	}
	person, err := p.loggedInPerson(r)
	switch owner := view.Participant.Person; {
	case err != nil:
		return portal.ParticipantView{}, portal.Person{}, err
	case owner == nil:
		return view, portal.Person{}, portal.ErrNotLoggedIn
	case person == nil:
		return view, portal.Person{}, errNoSession
	case !samePerson(person.Kennitala, owner.Kennitala):
		return view, portal.Person{}, portal.ErrOtherPerson
	}
	return view, *person, nil
}

// samePerson reports whether two kennitölur are equal. An empty kennitala equals none.
func samePerson(a, b string) bool {
	a, b = idp.NormalizeKennitala(a), idp.NormalizeKennitala(b)
	return a != "" && a == b
}

// The session cookie.
const (
	// sessionCookie has the prefix that makes browsers accept it over TLS only, from this host, and send it to no
	// other (RFC 6265bis 4.1.3.2).
	sessionCookie = "__Host-innsigli"
	tokenSize     = 32 // bytes, before base64url
)

// newToken returns a random value of a cookie, or a random name of a form.
func newToken() string { return base64.RawURLEncoding.EncodeToString(newSeed()) }

// newSeed returns tokenSize random bytes.
func newSeed() []byte {
	seed := make([]byte, tokenSize)
	rand.Read(seed)
	return seed
}

// deriveCookie derives a cookie from a stored seed and a secret of the browser. Neither the store nor an
// earlier page is enough to compute it, and the same secret always gives the same cookie.
func deriveCookie(seed []byte, secret string) string {
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// cookieOf returns the session cookie of a request, or "".
func cookieOf(r *http.Request) string {
	cookie, err := r.Cookie(sessionCookie)
	if err != nil {
		return ""
	}
	return cookie.Value
}

// sessionKey returns the key of a session's record: a hash, so that a copy of the store contains no cookie. It
// returns nil for a malformed cookie.
func sessionKey(cookie string) []byte {
	random, err := base64.RawURLEncoding.Strict().DecodeString(cookie)
	if err != nil || len(random) != tokenSize {
		return nil
	}
	return recordKey("visit", cookie)
}

// recordKey returns the key of a record of a kind.
func recordKey(kind, name string) []byte {
	sum := sha256.Sum256([]byte(kind + " " + name))
	return sum[:]
}

// setCookie sets the session cookie until the browser closes. An empty value deletes it.
func setCookie(w http.ResponseWriter, value string) {
	c := http.Cookie{Name: sessionCookie, Value: value, Path: "/", Secure: true, HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(w, &c)
}

// logout ends the session of a browser.
func (p *Page) logout(w http.ResponseWriter, r *http.Request) error {
	v, err := p.session(r)
	if err == nil {
		err = p.deleteSession(r.Context(), v)
	}
	if err != nil && !errors.Is(err, errNoSession) {
		return err
	}
	setCookie(w, "")
	return seeOther(w, r, afterLogoutPath(r))
}

// deleteSession deletes a session, that of its login, and that of the login's person, so that each of their
// cookies is invalid. It joins the transaction.
func (p *Page) deleteSession(ctx context.Context, v session) error {
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		for _, key := range [][]byte{v.key, v.LoginSession, v.PersonSession} {
			if key == nil {
				continue
			}
			if err := p.config.Store.DeleteRecord(ctx, key); err != nil {
				return fmt.Errorf("page: deleting a session: %w", err)
			}
		}
		return nil
	})
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
