package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

const (
	idle    = 30 * time.Minute // how long nobody need be there
	longest = 8 * time.Hour    // how long a person may be
	renewal = time.Minute      // a visit that is used is stored again after this
)

// errNobody: nobody has logged in with this browser, or not who has the place.
var errNobody = errors.New("nobody has logged in")

// visit is what is remembered of a browser: the person who has logged in with it, or, in a visit of
// its own, a login that is under way.
type visit struct {
	Person *portal.Person `json:"person,omitempty"`
	Until  time.Time      `json:"until"`            // when it ends, however much it is used
	To     string         `json:"to,omitempty"`     // path of the page that the person has logged in for
	Way    Way            `json:"way,omitempty"`    // by which the person has logged in
	Hint   string         `json:"hint,omitempty"`   // that was given with it
	Before []byte         `json:"before,omitempty"` // key of the visit in which the person logged in
	Login  *attempt       `json:"login,omitempty"`
	Seed   []byte         `json:"seed,omitempty"`  // of a login: of the cookie that the person gets then
	After  []byte         `json:"after,omitempty"` // of a login: key of the person's visit

	key     []byte
	expires time.Time
}

// visit finds the visit of a browser. errNobody.
func (p *Page) visit(r *http.Request) (visit, error) {
	return p.load(r.Context(), visitKey(cookieOf(r)))
}

// load reads a visit. errNobody: there is none, or not any more.
func (p *Page) load(ctx context.Context, key []byte) (visit, error) {
	if key == nil {
		return visit{}, errNobody
	}
	record, err := p.config.Store.Record(ctx, key)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !p.now(ctx).Before(record.Expires) {
		return visit{}, errNobody
	}
	if err != nil {
		return visit{}, fmt.Errorf("page: reading a visit: %w", err)
	}
	v := visit{key: key, expires: record.Expires}
	if err := json.Unmarshal(record.Value, &v); err != nil {
		return visit{}, errors.New("page: a visit cannot be read")
	}
	return v, nil
}

// save stores a visit. It joins the transaction.
func (p *Page) save(ctx context.Context, v visit) error {
	value, err := json.Marshal(v)
	if err == nil {
		err = p.config.Store.PutRecord(ctx, Record{Key: v.key, Value: value, Expires: v.end(p.now(ctx))})
	}
	if err != nil {
		return fmt.Errorf("page: storing a visit: %w", err)
	}
	return nil
}

// end is when a visit that is used now ends.
func (v *visit) end(now time.Time) time.Time {
	if end := now.Add(idle); v.Login == nil && end.Before(v.Until) {
		return end
	}
	return v.Until
}

// change stores what f makes of a visit, and returns it. errNobody: it has ended.
func (p *Page) change(ctx context.Context, key []byte, f func(*visit) error) (changed visit, err error) {
	err = storage.InTx(ctx, p.config.Tx, func(ctx context.Context) error {
		v, err := p.load(ctx, key)
		if err == nil {
			err = f(&v)
		}
		if err == nil {
			err = p.save(ctx, v)
		}
		changed = v
		return err
	})
	return changed, err
}

// person is who has logged in with the browser; nil: nobody, also while a login is under way.
func (p *Page) person(r *http.Request) (*portal.Person, error) {
	v, err := p.visit(r)
	if err == nil && v.Login == nil && v.expires.Sub(p.now(r.Context())) < idle-renewal && v.expires.Before(v.Until) {
		_, err = p.change(r.Context(), v.key, func(*visit) error { return nil })
		if errors.Is(err, storage.ErrFull) { // who was there a minute ago still is
			err = nil
		}
	}
	if errors.Is(err, errNobody) {
		return nil, nil
	}
	return v.Person, err
}

// visitor finds the place of a path with process and who, if the person who has logged in with the
// browser is the one who has it. [portal.ErrNotFound]; and with the place, errNobody,
// [portal.ErrOtherPerson], and [portal.ErrNotLoggedIn] when nobody has the place yet.
func (p *Page) visitor(r *http.Request) (portal.ParticipantView, portal.Person, error) {
	place, err := p.config.Portal.ParticipantView(r.Context(), r.PathValue("process"), r.PathValue("who"))
	if err != nil {
		return portal.ParticipantView{}, portal.Person{}, err
	}
	person, err := p.person(r)
	switch has := place.Participant.Person; {
	case err != nil:
		return portal.ParticipantView{}, portal.Person{}, err
	case has == nil:
		return place, portal.Person{}, portal.ErrNotLoggedIn
	case person == nil:
		return place, portal.Person{}, errNobody
	case !samePerson(person.Kennitala, has.Kennitala):
		return place, portal.Person{}, portal.ErrOtherPerson
	}
	return place, *person, nil
}

// samePerson compares kennitölur. Who has none is nobody in particular.
func samePerson(a, b string) bool {
	a, b = idp.NormalizeKennitala(a), idp.NormalizeKennitala(b)
	return a != "" && a == b
}
