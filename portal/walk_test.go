package portal_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// walk is a process to which things happen at random.
type walk struct {
	*rand.Rand
	*reference
	*hand
	t       *testing.T
	steps   []string // of which each is as likely as the others
	made    portal.ProcessView
	tokens  [8]string
	who     [8]portal.Person // has logged in
	request string           // of the last turn
	events  []string         // that are to be
}

// step does something, and says what it was to come to.
func (w *walk) step(ctx context.Context) (what string, allowed bool, err error) {
	i := w.IntN(w.n)
	id := w.made.Participants[i].ID
	status := w.status()
	switch what = w.steps[w.IntN(len(w.steps))]; what {
	case "login":
		allowed = w.linked(i) || w.opened[i] && w.who[i] != stranger
		err = w.login(ctx, i, w.person(i))
	case "stranger": // whose the place is from then on, if it was nobody's
		allowed = w.linked(i) && !w.pinned[i] || w.opened[i] && w.who[i] == stranger
		err = w.login(ctx, i, stranger)
	case "return":
		allowed = w.opened[i]
		err = w.s.LoginAgain(ctx, w.made.ID, id, w.who[i])
	case "intrude":
		err = w.s.LoginAgain(ctx, w.made.ID, id, portal.Person{Kennitala: "0303302239"})
	case "begin":
		allowed = w.may(i)
		var started signing.Started
		if started, err = w.s.Sign(ctx, w.made.ID, id, portal.SignRequest{Method: idp.App, Revision: w.revision()}); err == nil {
			w.turn, w.request = i, started.ID
		}
	case "outdated": // what was read is not what is there
		_, err = w.s.Sign(ctx, w.made.ID, id, portal.SignRequest{Method: idp.App, Revision: w.revision() - 1 + 2*w.IntN(2)})
		if changed := w.may(i) && !w.deleted; errors.Is(err, portal.ErrChanged) != changed {
			w.t.Errorf("%v, want ErrChanged %v", err, changed)
		}
	case "land":
		allowed, err = w.land(ctx)
		return what, allowed, err
	case "fail":
		if w.request != "" {
			err, w.turn = w.end(ctx, w.request, nil), -1
		}
		return what, true, err
	case "decline":
		allowed = w.asked(i) && w.opened[i] && status == portal.Waiting && w.turn != i
		if err = w.s.Decline(ctx, w.made.ID, id, "no"); err == nil {
			w.declined[i] = true
			w.events = append(w.events, portal.DeclinedEvent+" "+w.made.Participants[i].Name)
		}
	case "wait":
		time.Sleep(time.Duration(w.Int64N(int64(5 * 24 * time.Hour))))
		return what, true, nil
	case "resend":
		allowed = status == portal.Waiting || status == portal.Expired || w.unread()
		if _, err = w.s.Resend(ctx, w.made.ID); err == nil {
			w.invite()
		}
	case "sweep":
		_, err = w.s.Sweep(ctx)
		return what, true, err
	case "delete":
		allowed = true
		if err = w.s.Delete(ctx, w.s.account, w.made.ID); err == nil {
			w.turn = -1
			defer func() { w.deleted = true }()
		}
	}
	return what, allowed && !w.deleted, err
}

// may says whether a participant may begin to sign what is there.
func (w *walk) may(i int) bool {
	return w.asked(i) && w.opened[i] && w.status() == portal.Waiting && w.turn < 0
}

var stranger = portal.Person{Name: "A stranger", Kennitala: "0202302129"}

func (w *walk) login(ctx context.Context, i int, who portal.Person) error {
	_, _, err := w.s.Login(ctx, w.tokens[i], who)
	if err == nil {
		w.opened[i], w.who[i] = true, who
	}
	return err
}

// land ends the last request with a signature.
func (w *walk) land(ctx context.Context) (allowed bool, err error) {
	if w.request == "" {
		return true, nil
	}
	allowed = w.turn >= 0
	by := w.who[max(0, w.turn)]
	if err = w.end(ctx, w.request, &by); err == nil {
		w.signed[w.turn], w.turn = true, -1
		w.events = append(w.events, portal.SignedEvent+" "+by.Name)
		if w.status() == portal.Completed {
			w.events = append(w.events, portal.CompletedEvent)
		}
	}
	return allowed, err
}

// invite notes who was invited, by the mails.
func (w *walk) invite() {
	for _, l := range w.s.news.letters("invitation") {
		i := slices.IndexFunc(w.made.Participants, func(one portal.ParticipantState) bool { return one.Email == l.To })
		w.invited[i] = time.Now()
		if token := strings.TrimPrefix(l.Path, "/sign/"); !strings.Contains(token, "/") {
			w.tokens[i] = token
		}
	}
	w.s.must(w.s.news.InTx(w.t.Context(), func(ctx context.Context) error { return w.s.news.Withdraw(ctx, w.made.ID) }))
}

func (w *walk) person(i int) portal.Person {
	return portal.Person{Name: w.made.Participants[i].Name, Kennitala: fmt.Sprintf("010130298%d", i)}
}

// told are the events that were sent, with whom they are about.
func (w *walk) told() (list []string) {
	for _, e := range w.s.news.events {
		var body struct{ Participant struct{ Name string } }
		w.s.must(json.Unmarshal([]byte(e.Body), &body))
		list = append(list, strings.TrimSpace(e.Type+" "+body.Participant.Name))
	}
	return list
}
