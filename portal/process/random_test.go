package process_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/innsigli/innsigli/portal/process"
)

// TestMain makes TestRandomEvents try 10,000 sequences unless the command line asks for another number.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "10000"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// model is a process in plain terms: what happened to each participant.
type model struct {
	people  []modelParticipant
	signing int // index of the participant whose turn it is; -1: no turn
	turns   int64
	links   int // how many links there were
	now     time.Time
}

type modelParticipant struct {
	signer           bool
	invited          string // kennitala; "": anyone
	link             string // hash of the last link
	erased           bool   // the token was removed because the link had expired
	since            time.Time
	person           string // kennitala of the person who logged in
	signed, declined bool
}

func (m *model) status() process.Status {
	status := process.Completed
	for _, one := range m.people {
		switch open := one.signer && !one.signed; {
		case one.declined:
			return process.Declined
		case open && m.now.Sub(one.since) > 7*24*time.Hour:
			status = process.Expired
		case open && status == process.Completed:
			status = process.Waiting
		}
	}
	return status
}

func (m *model) revision() (n int) {
	for _, one := range m.people {
		if one.signed {
			n++
		}
	}
	return n
}

func (one *modelParticipant) is(kennitala string) bool {
	if one.person != "" {
		return one.person == kennitala
	}
	return one.invited == "" || one.invited == kennitala
}

// linkState returns the state of the last link.
func (m *model) linkState(one *modelParticipant) process.LinkState {
	switch {
	case one.person != "" || one.signed || one.declined:
		return process.Opened
	case one.erased || m.now.Sub(one.since) > 7*24*time.Hour:
		return process.LinkExpired
	}
	return process.Unopened
}

// logIn returns the error of a login with the last link of a participant.
func (m *model) logIn(one *modelParticipant, kennitala string) error {
	switch state := m.linkState(one); {
	case state == process.LinkExpired, state == process.Opened && one.person == "":
		return process.ErrNotFound
	case !one.is(kennitala):
		return process.ErrOtherPerson
	case one.person == "" && m.signing >= 0 && &m.people[m.signing] == one:
		return process.ErrTurn
	}
	return nil
}

// answer returns the error of a participant who wants to sign or decline, as far as it does not depend on the process.
func (one *modelParticipant) answer() error {
	switch {
	case !one.signer:
		return process.ErrViewer
	case one.signed || one.declined:
		return process.ErrAnswered
	}
	return nil
}

// randomProcess is a process and its model.
type randomProcess struct {
	process.Process
	model
	t       *rapid.T
	effects map[process.Effect]int
}

func newRandomProcess(t *rapid.T) *randomProcess {
	r := &randomProcess{t: t, model: model{signing: -1, now: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)}, effects: make(map[process.Effect]int)}
	for i := range rapid.IntRange(1, 5).Draw(t, "participants") {
		one := modelParticipant{signer: i == 0 || rapid.IntRange(0, 3).Draw(t, "role") > 0}
		if rapid.Bool().Draw(t, "known") {
			one.invited = r.drawKennitala()
		}
		role := process.Viewer
		if one.signer {
			role = process.Signer
		}
		one.link, one.since = string(r.newLink().Hash), r.now
		r.people = append(r.people, one)
		r.Participants = append(r.Participants, process.Participant{
			ID: fmt.Sprint(i), Role: role, Kennitala: one.invited, Link: process.Link{InvitedAt: r.now, Hash: []byte(one.link)},
		})
	}
	return r
}

func (r *randomProcess) newLink() process.Link {
	r.links++
	return process.Link{Hash: fmt.Append(nil, "link ", r.links)}
}

func (r *randomProcess) drawKennitala() string {
	return rapid.SampledFrom([]string{firstKennitala, secondKennitala, otherKennitala}).Draw(r.t, "kennitala")
}

// draw draws a participant. Half of the draws of a person are the right one.
func (r *randomProcess) draw() (i int, one *modelParticipant, kennitala string) {
	i = rapid.IntRange(0, len(r.people)-1).Draw(r.t, "participant")
	one, kennitala = &r.people[i], r.drawKennitala()
	for _, right := range []string{one.person, one.invited} {
		if right != "" && rapid.Bool().Draw(r.t, "right person") {
			return i, one, right
		}
	}
	return i, one, kennitala
}

// apply applies an event and compares the outcome with the one of the model. It reports whether the event was admitted.
func (r *randomProcess) apply(e process.Event, want error) bool {
	r.t.Helper()
	effects, err := r.Apply(e, r.now)
	if !errors.Is(err, want) || (want == nil) != (err == nil) {
		r.t.Fatalf("%T: got %v, want %v", e, err, want)
	}
	for _, effect := range effects {
		if effect.Kind == process.ReportSigned || effect.Kind == process.ReportCompleted || effect.Kind == process.ReportDeclined {
			r.effects[process.Effect{Kind: effect.Kind, Participant: effect.Participant}]++
		}
	}
	return err == nil
}

func (r *randomProcess) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"log in": func(*rapid.T) {
			_, one, kennitala := r.draw()
			e := process.LogIn{Link: []byte(one.link), Person: process.Person{Kennitala: kennitala}}
			if r.apply(e, r.logIn(one, kennitala)) {
				one.person = kennitala
			}
		},
		"log in again": func(*rapid.T) {
			i, one, kennitala := r.draw()
			var want error
			switch {
			case one.person == "":
				want = process.ErrNotLoggedIn
			case one.person != kennitala:
				want = process.ErrOtherPerson
			}
			r.apply(process.LogInAgain{Participant: fmt.Sprint(i), Person: process.Person{Kennitala: kennitala}}, want)
		},
		"begin": func(t *rapid.T) {
			i, one, _ := r.draw()
			revision := r.model.revision() + rapid.SampledFrom([]int{0, 0, 0, 1, -1}).Draw(t, "revision")
			want := one.answer()
			switch {
			case want != nil:
			case one.person == "":
				want = process.ErrNotLoggedIn
			case r.status() != process.Waiting:
				want = process.ErrNotWaiting
			case r.signing >= 0:
				want = process.ErrTurn
			case revision != r.model.revision():
				want = process.ErrChanged
			}
			if r.apply(process.BeginSigning{Participant: fmt.Sprint(i), Revision: revision}, want) {
				r.signing = i
				r.turns++
			}
		},
		"begin as": func(t *rapid.T) {
			i, one, kennitala := r.draw()
			ready := rapid.IntRange(0, 4).Draw(t, "ready") > 0
			want := one.answer()
			switch {
			case want != nil:
			case !one.is(kennitala):
				want = process.ErrOtherPerson
			case !ready:
				want = process.ErrCannotSign
			case r.status() != process.Waiting:
				want = process.ErrNotWaiting
			case r.signing >= 0:
				want = process.ErrTurn
			}
			if r.apply(process.BeginSigningAs{Participant: fmt.Sprint(i), Kennitala: kennitala, Ready: ready}, want) {
				r.signing = i
				r.turns++
			}
		},
		"add signature": func(t *rapid.T) {
			turn := r.turns - rapid.SampledFrom([]int64{0, 0, 0, 1}).Draw(t, "earlier")
			kennitala, want := r.drawKennitala(), process.ErrTurnOver
			if r.signing >= 0 {
				one := &r.people[r.signing]
				if one.person != "" && rapid.IntRange(0, 3).Draw(t, "right person") > 0 {
					kennitala = one.person
				}
				if turn == r.turns && !one.signed && !one.declined {
					want = nil
					if !one.is(kennitala) {
						want = process.ErrOtherPerson
					}
				}
			}
			if r.apply(process.AddSignature{Turn: turn, Signature: process.Signature{Kennitala: kennitala, At: r.now}}, want) {
				r.people[r.signing].signed = true
			}
		},
		"end turn": func(t *rapid.T) {
			turn := r.turns - int64(rapid.IntRange(-1, 1).Draw(t, "turns ago"))
			var want error
			if r.signing < 0 || turn != r.turns {
				want = process.ErrTurnOver
			}
			if r.apply(process.EndTurn{Turn: turn}, want) {
				r.signing = -1
			}
		},
		"decline": func(t *rapid.T) {
			if rapid.IntRange(0, 5).Draw(t, "declines") > 0 {
				return // otherwise most sequences end here
			}
			i, one, _ := r.draw()
			loggedIn := rapid.Bool().Draw(t, "logged in")
			want := one.answer()
			switch {
			case want != nil:
			case loggedIn && one.person == "":
				want = process.ErrNotLoggedIn
			case r.status() != process.Waiting:
				want = process.ErrNotWaiting
			case r.signing == i:
				want = process.ErrTurn
			}
			var e process.Event = process.DeclineSigningAs{Participant: fmt.Sprint(i)}
			if loggedIn {
				e = process.DeclineSigning{Participant: fmt.Sprint(i)}
			}
			if r.apply(e, want) {
				one.declined = true
			}
		},
		"invite again": func(*rapid.T) {
			var invited []int
			for i, one := range r.people {
				if one.signer && !one.signed && r.status() != process.Declined || !one.signer && one.person == "" {
					invited = append(invited, i)
				}
			}
			var want error
			if invited == nil {
				want = process.ErrNotWaiting
			}
			if !r.apply(process.InviteAgain{NewLink: r.newLink}, want) {
				return
			}
			for _, i := range invited {
				one := &r.people[i]
				one.since = r.now
				if one.person == "" {
					one.link, one.erased = string(r.Participants[i].Link.Hash), false
				}
			}
		},
		"expire links": func(*rapid.T) {
			r.apply(process.ExpireLinks{}, nil)
			for i := range r.people {
				if one := &r.people[i]; r.linkState(one) == process.LinkExpired {
					one.erased = true
				}
			}
		},
		"wait": func(t *rapid.T) {
			r.now = r.now.Add(rapid.SampledFrom([]time.Duration{time.Minute, 2 * 24 * time.Hour, week, week + moment}).Draw(t, "time"))
		},
		"log in with a replaced link": func(t *rapid.T) {
			link := fmt.Sprint("link ", rapid.IntRange(0, r.links+1).Draw(t, "link"))
			if slices.ContainsFunc(r.people, func(one modelParticipant) bool { return one.link == link }) {
				return
			}
			r.apply(process.LogIn{Link: []byte(link), Person: process.Person{Kennitala: firstKennitala}}, process.ErrNotFound)
		},
		"": r.check, // after each of the others
	}
}

// check compares the process with the model.
func (r *randomProcess) check(t *rapid.T) {
	if got, want := r.Status(r.now), r.status(); got != want {
		t.Fatalf("got status %v, want %v", got, want)
	}
	if got, want := r.Process.Revision(), r.model.revision(); got != want {
		t.Fatalf("got revision %d, want %d", got, want)
	}
	if (r.Turn != nil) != (r.signing >= 0) || r.Process.Turns != r.model.turns {
		t.Fatalf("got turn %v of %d, want participant %d of %d", r.Turn, r.Process.Turns, r.signing, r.model.turns)
	}
	completed := 0
	for i := range r.people {
		one, id := &r.people[i], fmt.Sprint(i)
		if got, want := r.Participants[i].LinkState(r.now), r.linkState(one); got != want {
			t.Fatalf("got link state %d of %s, want %d", got, id, want)
		}
		for kind, happened := range map[process.EffectKind]bool{process.ReportSigned: one.signed, process.ReportDeclined: one.declined} {
			if n := r.effects[process.Effect{Kind: kind, Participant: id}]; n > 1 || (n == 1) != happened {
				t.Fatalf("%s of %s was reported %d times, and happened: %v", kind, id, n, happened)
			}
		}
	}
	if r.status() == process.Completed {
		completed = 1
	}
	if n := r.effects[process.Effect{Kind: process.ReportCompleted}]; n != completed {
		t.Fatalf("%s was reported %d times, want %d", process.ReportCompleted, n, completed)
	}
}

// TestRandomEvents applies random events to a process and to a plain model of it: both admit and refuse the same events, and
// each signature, refusal and completion is reported once.
func TestRandomEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newRandomProcess(t)
		t.Repeat(r.actions())
	})
}
