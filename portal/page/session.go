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

// errNoSession reports that the browser has no session. [portal.ErrNotLoggedIn] is about the participant instead: no
// person has logged in as the participant, with any browser.
var errNoSession = errors.New("this browser has no session")

// session is what the server stores about a browser. A login session lasts while the person logs in. When the person is
// known, the browser gets a person session, with another cookie. The functions that find a session return errNoSession if
// there is none. The zero session that they return with it belongs to no person, and deleteSession ignores it.
type session struct {
	key     []byte // of the record in the store
	expires time.Time
	record  sessionRecord
}

// sessionRecord is the record of a session: a *loginSession or a *personSession. The names of its members in the stored
// JSON are those of earlier versions, and cannot change.
type sessionRecord interface {
	// expiry returns when a session that is used now expires.
	expiry(now time.Time) time.Time
	// counterpart returns the key of the session of the other kind that belongs to this one, or nil.
	counterpart() []byte
}

// loginSession is the record of a browser whose person logs in.
type loginSession struct {
	EndsBy           time.Time `json:"until"`
	Path             string    `json:"to,omitempty"`    // page that the login led to, once it is completed
	Attempt          *attempt  `json:"login"`           // never nil: decodeSession tells the kinds of sessions apart by it
	Seed             []byte    `json:"seed,omitempty"`  // for the cookie of the person session
	PersonSessionKey []byte    `json:"after,omitempty"` // nil: the login is not completed
}

func (s *loginSession) expiry(time.Time) time.Time { return s.EndsBy }

func (s *loginSession) counterpart() []byte { return s.PersonSessionKey }

// completed reports whether the browser has got a person session.
func (s *loginSession) completed() bool { return s.PersonSessionKey != nil }

// personSession is the record of a browser whose person has logged in.
type personSession struct {
	Person          *portal.Person `json:"person,omitempty"` // never nil
	EndsBy          time.Time      `json:"until"`            // end of the session, however much it is used
	Path            string         `json:"to,omitempty"`     // page that the person has logged in for
	Method          LoginMethod    `json:"way,omitempty"`    // with which the person has logged in
	Hint            string         `json:"hint,omitempty"`   // kennitala or phone number that the person has entered
	LoginSessionKey []byte         `json:"before,omitempty"`
}

func (s *personSession) expiry(now time.Time) time.Time {
	if end := now.Add(idleTimeout); end.Before(s.EndsBy) {
		return end
	}
	return s.EndsBy
}

func (s *personSession) counterpart() []byte { return s.LoginSessionKey }

// needsRenewal reports whether a session that is stored with an expiry shall be stored with a later one: renewAfter has
// passed since it was stored, and EndsBy does not limit the expiry.
func (s *personSession) needsRenewal(expires, now time.Time) bool {
	return expires.Sub(now) < idleTimeout-renewAfter && expires.Before(s.EndsBy)
}

// asLogin returns the record of a login session, or nil.
func (s session) asLogin() *loginSession {
	l, _ := s.record.(*loginSession)
	return l
}

// asPerson returns the record of a person session, or nil.
func (s session) asPerson() *personSession {
	p, _ := s.record.(*personSession)
	return p
}

// sessionOf returns the session of a request's browser, or errNoSession if it has none.
func (p *Page) sessionOf(r *http.Request) (session, error) {
	return p.loadSession(r.Context(), sessionKey(cookieOf(r)))
}

// loadSession reads a session. It returns errNoSession if there is none, or if it has expired.
func (p *Page) loadSession(ctx context.Context, key []byte) (session, error) {
	if key == nil {
		return session{}, errNoSession
	}
	record, err := p.config.Store.Record(ctx, key)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return session{}, errNoSession
	case err != nil:
		return session{}, fmt.Errorf("page: reading a session: %w", err)
	case !p.now(ctx).Before(record.Expires):
		return session{}, errNoSession
	}
	decoded, err := decodeSession(record.Value)
	if err != nil { // it is left out, because it may quote personal data of the record
		return session{}, errors.New("page: a session cannot be decoded")
	}
	return session{key, record.Expires, decoded}, nil
}

// decodeSession decodes a stored record. The kind of the session is not stored: only login sessions have an Attempt.
func decodeSession(value []byte) (sessionRecord, error) {
	login, person := new(loginSession), new(personSession)
	if err := json.Unmarshal(value, login); err != nil {
		return nil, err
	}
	if login.Attempt != nil {
		return login, nil
	}
	return person, json.Unmarshal(value, person)
}

// saveSession stores a session with a new expiry. It needs the transaction of ctx.
func (p *Page) saveSession(ctx context.Context, s session) error {
	value, err := json.Marshal(s.record)
	if err == nil {
		err = p.config.Store.PutRecord(ctx, Record{Key: s.key, Value: value, Expires: s.record.expiry(p.now(ctx))})
	}
	if err != nil {
		return fmt.Errorf("page: storing a session: %w", err)
	}
	return nil
}

// updateSession calls f, which may change the session, stores the session, and returns it. It returns errNoSession if the
// session has ended. With an error it returns the zero session.
func (p *Page) updateSession(ctx context.Context, key []byte, f func(*session) error) (updated session, err error) {
	err = storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		s, err := p.loadSession(ctx, key)
		if err != nil {
			return err
		}
		if err := f(&s); err != nil {
			return err
		}
		updated = s
		return p.saveSession(ctx, s)
	})
	if err != nil {
		return session{}, err
	}
	return updated, nil
}

// deleteSession deletes a session and its counterpart, so that both cookies are invalid. It joins the transaction of ctx,
// if there is one, and does nothing for the zero session.
func (p *Page) deleteSession(ctx context.Context, s session) error {
	if s.record == nil {
		return nil
	}
	return storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		for _, key := range [][]byte{s.key, s.record.counterpart()} {
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

// loggedInPerson returns the person who has logged in with the browser. It returns nil if there is none, also while a
// login is under way.
func (p *Page) loggedInPerson(r *http.Request) (*portal.Person, error) {
	s, err := p.sessionOf(r)
	if errors.Is(err, errNoSession) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	person := s.asPerson()
	if person == nil {
		return nil, nil
	}
	if ctx := r.Context(); person.needsRenewal(s.expires, p.now(ctx)) {
		err := p.renewSession(ctx, s.key)
		if errors.Is(err, errNoSession) { // the session has ended since it was read
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return person.Person, nil
}

// renewSession stores a session with a later expiry. If the store is full, the session keeps its expiry.
func (p *Page) renewSession(ctx context.Context, key []byte) error {
	_, err := p.updateSession(ctx, key, func(*session) error { return nil }) // saveSession sets the expiry
	if errors.Is(err, storage.ErrFull) {
		return nil
	}
	return err
}

// authorize returns the participant that the path names, and the person who has logged in with the browser, if that person
// is the participant. Otherwise it returns an error:
//   - [portal.ErrNotFound]: there is no such participant;
//   - [portal.ErrNotLoggedIn]: no person has logged in as the participant;
//   - errNoSession: no person has logged in with this browser. The participant is returned too, for the page of the login;
//   - [portal.ErrOtherPerson]: another person has logged in with this browser.
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
		return portal.ParticipantView{}, portal.Person{}, portal.ErrNotLoggedIn
	case person == nil:
		return view, portal.Person{}, errNoSession
	case !samePerson(person.Kennitala, owner.Kennitala):
		return portal.ParticipantView{}, portal.Person{}, portal.ErrOtherPerson
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
	// tokenSize is the number of bytes of a cookie before base64url, that of deriveCookie's hash.
	tokenSize = sha256.Size
)

// newToken returns tokenSize random bytes in base64url, for example for the ID of a login form.
func newToken() string { return base64.RawURLEncoding.EncodeToString(newSeed()) }

// newSeed returns tokenSize random bytes.
func newSeed() []byte {
	seed := make([]byte, tokenSize)
	rand.Read(seed)
	return seed
}

// deriveCookie derives the cookie of a session from a stored seed and a text that the browser sends: the ID of a login
// form, or the cookie of the login session. The same form, sent twice, gets the same cookie. An attacker would need both.
// A copy of the store lacks the text. A page or a cookie from before the login lacks the seed.
func deriveCookie(seed []byte, fromBrowser string) string {
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte(fromBrowser))
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
	return recordKey("visit", cookie) // stored sessions have keys of this kind, which is an earlier word for session
}

// recordKey returns the key of a record: a hash of its kind and of its name, which is unique among those of the kind. The
// name of a session is its cookie.
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
