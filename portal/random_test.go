package portal_test

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
)

// manualSigner is a signing service whose requests end when the test says so.
type manualSigner struct {
	portal.Signing
	s      *service
	orders []string // by request
}

func (m *manualSigner) Start(ctx context.Context, in signing.Start) (signing.Started, error) {
	id := fmt.Sprint(len(m.orders))
	err := m.s.outbox.InTx(ctx, func(ctx context.Context) error { return in.Order.Begin(ctx, id) })
	if err == nil {
		m.orders = append(m.orders, in.Order.ID)
	}
	return signing.Started{ID: id}, err
}

// Cancel ends a request, also one that has ended already.
func (m *manualSigner) Cancel(ctx context.Context, request string) error {
	return m.s.Ended(ctx, m.order(request))
}

func (m *manualSigner) order(request string) string {
	var n int
	fmt.Sscan(request, &n)
	return m.orders[n]
}

// end ends a request, with the signature of a person or, if by is nil, without.
func (m *manualSigner) end(ctx context.Context, request string, by *portal.Person) error {
	return m.s.outbox.InTx(ctx, func(ctx context.Context) error {
		if by != nil {
			cert := &x509.Certificate{Subject: pkix.Name{CommonName: by.Name, SerialNumber: "PNOIS-" + by.Kennitala}}
			made := signing.Signature{Request: request, Certificate: cert, Value: []byte(by.Name), At: time.Now(), Bytes: 10}
			if err := m.s.Signed(ctx, m.order(request), made); err != nil {
				return err
			}
		}
		return m.s.Ended(ctx, m.order(request))
	})
}

// walk is a process of the service with which random calls are made, and a state machine with the events of the calls.
type walk struct {
	*rand.Rand
	*manualSigner
	t       *testing.T
	made    portal.ProcessView
	model   process.Process
	deleted bool
	tokens  []string // of the last links
	request string   // the last one
	turn    int64    // of the request
	events  []string // that have to be sent: type and name
	mails   []string // that have to be sent: kind and recipient
	entries []string // that have to be in the evidence log
}

// calls are the calls of a walk. A call that is listed more often is made more often. Two of three walks leave out the
// last ones, so that more processes are completed.
var calls = strings.Fields("login login login stranger again again begin begin begin outdated sign sign sign forge fail resend sweep wait wait wait decline decline")

func (m *manualSigner) newWalk(t *testing.T, seed uint64) *walk {
	w := &walk{Rand: rand.New(rand.NewPCG(seed, 0)), manualSigner: m, t: t, entries: []string{"process.created"}}
	m.s.outbox.events, m.s.outbox.mails = nil, nil
	d := m.s.draft(0)
	for i := range 1 + min(w.IntN(8), w.IntN(8)) {
		one := portal.Invitee{Name: fmt.Sprint("Participant ", i), Email: fmt.Sprintf("%d@example.is", i), Role: portal.Signer}
		if i > 0 && w.IntN(4) == 0 {
			one.Role = portal.Viewer
		}
		if w.IntN(2) == 0 {
			one.Kennitala = w.person(i).Kennitala
		}
		d.Participants = append(d.Participants, one)
		w.mails = append(w.mails, "invitation "+one.Email)
	}
	w.made = m.s.mustCreate(d)
	w.model = w.stored()
	for i := range w.made.Participants {
		w.tokens = append(w.tokens, token(w.made, i))
	}
	return w
}

func (w *walk) person(i int) portal.Person {
	return portal.Person{Name: fmt.Sprint("Participant ", i), Kennitala: fmt.Sprintf("010130298%d", i)}
}

var stranger = portal.Person{Name: "A stranger", Kennitala: "0202302129"}

// stored returns what is stored of the process.
func (w *walk) stored() process.Process {
	v := w.s.show(w.made.ID)
	p := process.Process{Turn: v.Turn, Turns: v.Turns}
	for _, one := range v.Participants {
		p.Participants = append(p.Participants, one.Participant.Participant)
	}
	return p
}

// apply applies an event to the state machine, adds its effects to what the service has to send and record, and returns
// the error that the service has to return.
func (w *walk) apply(e process.Event) error {
	if w.deleted {
		return portal.ErrNotFound
	}
	effects, err := w.model.Apply(e, time.Now().UTC())
	for _, effect := range effects {
		one, email := w.model.Participant(effect.Participant), ""
		for _, made := range w.made.Participants {
			if made.ID == effect.Participant {
				email = made.Email
			}
		}
		switch effect.Kind {
		case process.RecordLogin:
			w.entries = append(w.entries, "participant.loggedin")
		case process.RecordStart:
			w.entries = append(w.entries, "signature.begun")
		case process.ReportSigned:
			w.entries, w.events = append(w.entries, "participant.signed"), append(w.events, portal.SignedEvent+" "+one.Signature.Name)
		case process.ReportDeclined:
			w.entries, w.events = append(w.entries, "participant.declined"), append(w.events, portal.DeclinedEvent)
			w.mails = append(w.mails, "decline "+email)
		case process.ReportCompleted:
			w.entries, w.events = append(w.entries, "process.completed"), append(w.events, portal.CompletedEvent)
			w.mails = append(w.mails, "completion")
		case process.WithdrawMessages:
			w.mails = nil
		case process.SendInvitation:
			w.mails = append(w.mails, "invitation "+email)
		case process.DeleteProcess:
			w.entries, w.deleted = append(w.entries, "process.deleted"), true
		}
	}
	return err
}

// step calls the service and applies the event of the call to the state machine.
func (w *walk) step(ctx context.Context, what string) (got, want error) {
	i := w.IntN(len(w.made.Participants))
	id, who, revision := w.made.Participants[i].ID, w.person(i), w.model.Revision()
	switch what {
	case "stranger":
		who = stranger
		fallthrough
	case "login":
		_, _, got = w.s.Login(ctx, w.tokens[i], who)
		return got, w.apply(process.LogIn{Link: w.model.Participants[i].Link.LastHash(), Person: who})
	case "again":
		if w.IntN(2) == 0 {
			who = stranger
		}
		return w.s.LoginAgain(ctx, w.made.ID, id, who), w.apply(process.LogInAgain{Participant: id, Person: who})
	case "outdated":
		revision += 1 - 2*w.IntN(2)
		fallthrough
	case "begin":
		started, got := w.s.Sign(ctx, w.made.ID, id, portal.SignRequest{Method: idp.App, Revision: revision})
		want = w.apply(process.BeginSigning{Participant: id, Revision: revision, Request: started.ID})
		if want == nil {
			w.request, w.turn = started.ID, w.model.Turns
		}
		return got, want
	case "sign", "forge":
		if w.request == "" {
			return nil, nil
		}
		by := stranger
		if one := slices.IndexFunc(w.model.Participants, func(one process.Participant) bool {
			return w.model.Turn != nil && one.ID == w.model.Turn.Participant
		}); one >= 0 && what == "sign" {
			by = *w.model.Participants[one].Person
		}
		got = w.end(ctx, w.request, &by)
		want = w.apply(process.AddSignature{Turn: w.turn, Signature: process.Signature{
			Name: by.Name, Kennitala: by.Kennitala, Value: []byte(by.Name), At: time.Now().UTC(),
		}})
		if want == nil {
			return got, w.apply(process.EndTurn{Turn: w.turn})
		}
		return got, signing.ErrUnwanted
	case "fail":
		if w.request != "" {
			got = w.end(ctx, w.request, nil)
			_ = w.apply(process.EndTurn{Turn: w.turn}) // it is no error to end an earlier turn
		}
		return got, nil
	case "decline":
		return w.s.Decline(ctx, w.made.ID, id, "no"), w.apply(process.DeclineSigning{Participant: id, Reason: "no"})
	case "resend":
		return w.resend(ctx)
	case "sweep":
		_, got = w.s.Sweep(ctx)
		_ = w.apply(process.ExpireLinks{}) // the error is that of a deleted process
		return got, nil
	case "delete":
		return w.s.Delete(ctx, w.s.account, w.made.ID), w.apply(process.Delete{})
	}
	time.Sleep(time.Duration(w.IntN(5*24)) * time.Hour)
	return nil, nil
}

// resend invites again. The state machine gets the links that the service has made.
func (w *walk) resend(ctx context.Context) (got, want error) {
	_, got = w.s.Resend(ctx, w.made.ID)
	var links []process.Link
	if got == nil {
		for i, one := range w.stored().Participants {
			if one.Link.Token != nil && !slices.Equal(one.Link.Hash, w.model.Participants[i].Link.Hash) {
				links, w.tokens[i] = append(links, one.Link), string(one.Link.Token)
			}
		}
		w.entries = append(w.entries, "process.invited")
	}
	return got, w.apply(process.InviteAgain{NewLink: func() (next process.Link) {
		if len(links) > 0 {
			next, links = links[0], links[1:]
		}
		return next
	}})
}

// check compares the process, its events and its mails with those of the state machine.
func (w *walk) check() string {
	var events, mails []string
	for _, e := range w.s.outbox.events {
		var body struct {
			Participant struct{ Signature, Name string }
		}
		w.s.must(json.Unmarshal([]byte(e.Body), &body))
		if body.Participant.Signature == "" {
			body.Participant.Name = ""
		}
		events = append(events, strings.TrimSpace(e.Type+" "+body.Participant.Name))
	}
	for _, m := range w.s.outbox.mails {
		mails = append(mails, strings.TrimSpace(m.Kind+" "+m.To))
	}
	diff := cmp.Diff(w.events, events) + cmp.Diff(w.mails, mails, cmpopts.EquateEmpty())
	view, err := w.s.Process(w.t.Context(), w.s.account, w.made.ID)
	if w.deleted {
		w.s.wants(portal.ErrNotFound, err)
		return diff
	}
	w.s.must(err)
	now := time.Now()
	return diff + cmp.Diff(w.model, w.stored(), cmpopts.EquateEmpty()) + cmp.Diff(w.model.Status(now), view.Status) + cmp.Diff(w.model.EndedAt(now), view.EndedAt)
}

// TestRandomCalls makes random calls and applies their events to the state machine of package process, which has a test
// of this kind itself: the service admits the same, stores the same, and carries out each effect once.
func TestRandomCalls(t *testing.T) {
	testenv.Slow(t, "makes hundreds of random calls")
	bubble(t, func(t *testing.T, s *service) {
		m := &manualSigner{Signing: s.signing, s: s}
		s.signer.Signing = m
		ended, deleted := make(map[portal.Status]int), 0
		for seed := range uint64(60) {
			w := m.newWalk(t, seed)
			walkCalls := calls[:len(calls)-[]int{0, 2, 5}[seed%3]]
			if seed%5 == 4 {
				walkCalls = append(slices.Clip(walkCalls), "delete")
			}
			for n := range 31 {
				what := walkCalls[w.IntN(len(walkCalls))]
				if n == 30 {
					if !w.deleted {
						ended[w.model.Status(time.Now())]++
					} else {
						deleted++
					}
					what = "delete"
				}
				got, want := w.step(t.Context(), what)
				if !errors.Is(got, want) {
					t.Fatalf("seed %d, call %d: %s: got %v, want %v", seed, n, what, got, want)
				}
				if d := w.check(); d != "" {
					t.Fatalf("seed %d, call %d: %s: %s", seed, n, what, d)
				}
			}
			if w.request != "" {
				s.wants(signing.ErrUnwanted, w.end(t.Context(), w.request, &stranger))
			}
			s.recorded(w.made.ID, w.entries...)
		}
		for _, status := range []portal.Status{portal.Waiting, portal.Completed, portal.Declined, portal.Expired} {
			if ended[status] < 3 {
				t.Errorf("%v: too few processes end in each status", ended)
			}
		}
		if deleted < 6 {
			t.Errorf("only %d processes are deleted during their walk", deleted)
		}
	})
}
