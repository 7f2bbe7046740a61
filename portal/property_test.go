package portal_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
)

// What happens, the more often the more often it is here. Patient walks leave out the last: who
// declines, and the time that passes. Some end in the middle.
var (
	steps = strings.Fields("login login login stranger return intrude begin begin begin outdated land land land fail resend sweep wait wait wait decline decline")
	leave = []int{0, 2, 5}
)

func (h *hand) walk(t *testing.T, seed uint64) *walk {
	w := &walk{Rand: rand.New(rand.NewPCG(seed, 0)), reference: &reference{turn: -1}, hand: h, t: t}
	w.steps = steps[:len(steps)-leave[seed%3]]
	if seed%5 == 4 {
		w.steps = append(w.steps[:len(w.steps):len(w.steps)], "delete")
	}
	h.s.news.events = nil
	d := h.s.draft(0)
	for w.n = range 1 + min(w.IntN(8), w.IntN(8)) {
		one := portal.Invitee{Name: fmt.Sprint("Participant ", w.n), Email: fmt.Sprintf("%d@example.is", w.n), Role: portal.Signer}
		if w.n > 0 && w.IntN(4) == 0 {
			one.Role = portal.Viewer
		}
		if w.pinned[w.n] = w.IntN(2) == 0; w.pinned[w.n] {
			one.Kennitala = fmt.Sprintf("010130298%d", w.n)
		}
		w.signer[w.n] = one.Role == portal.Signer
		d.Participants = append(d.Participants, one)
	}
	w.n++
	w.made = h.s.mustCreate(d)
	w.invite()
	return w
}

// is says whether the process is what the reference says.
func (w *walk) is() bool {
	got, err := w.s.Process(w.t.Context(), w.s.account, w.made.ID)
	if w.deleted {
		return errors.Is(err, portal.ErrNotFound)
	}
	return err == nil && got.Status == w.status() && (got.Turn != nil) == (w.turn >= 0) && got.Revision() == w.revision() && w.lead()
}

// lead says whether the links lead to where the reference says.
func (w *walk) lead() bool {
	for i := range w.n {
		place, err := w.s.LinkView(w.t.Context(), w.tokens[i])
		if err != nil || place.Participant.ID != w.made.Participants[i].ID || place.Link != w.link(i) {
			w.t.Errorf("the link of %d: %+v, %v; want %v", i, place.Link, err, w.link(i))
			return false
		}
	}
	return true
}

// Whatever happens to a process, it is what the reference says, nothing is allowed or refused against
// it, and each change is told of once (spec 4.2 and 5.4).
func TestRandomProcesses(t *testing.T) {
	testenv.Slow(t, "hundreds of random steps are taken")
	synctest.Test(t, func(t *testing.T) {
		h := new(hand)
		h.s = newService(t, wiring{signing: func(real portal.Signing) portal.Signing {
			h.Signing = real
			return h
		}})
		ended, deleted := make(map[portal.Status]int), 0
		for seed := range uint64(60) {
			w := h.walk(t, seed)
			for n := range 30 {
				what, allowed, err := w.step(t.Context())
				if allowed != (err == nil) || !w.is() {
					t.Fatalf("seed %d, step %d: %s: %v, allowed %v; want %+v", seed, n, what, err, allowed, w.reference)
				}
				if d := cmp.Diff(w.events, w.told()); d != "" {
					t.Fatalf("seed %d, step %d: %s: %s", seed, n, what, d)
				}
			}
			if w.deleted {
				deleted++
				continue
			}
			ended[w.status()]++
			h.s.must(h.s.Delete(t.Context(), h.s.account, w.made.ID))
			if w.turn >= 0 {
				h.s.wants(signing.ErrUnwanted, w.end(t.Context(), w.request, &w.who[w.turn]))
			}
			if d := cmp.Diff(w.events, w.told()); d != "" {
				t.Fatalf("seed %d, deleted: %s", seed, d)
			}
		}
		for _, status := range []portal.Status{portal.Waiting, portal.Completed, portal.Declined, portal.Expired} {
			if ended[status] < 3 {
				t.Errorf("%v: the walks test little", ended)
			}
		}
		if deleted < 6 {
			t.Errorf("%d were deleted: the walks test little", deleted)
		}
	})
}
