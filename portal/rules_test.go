package portal

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/signing"
)

// Every state of a process, and everything that may be tried in it: what the process is then, or why
// it is refused, after which the process is as it was (spec 4.2, 4.3 and 6.4).
func TestStates(t *testing.T) {
	everybody := []action{opens("Anna", annas), opens("Jón", jons), opens("Vala", "0303302239")}
	at := func(more ...action) []action { return append(everybody[:3:3], more...) }
	columns := []struct {
		name string
		do   action
	}{
		{"Anna signs", begins("Anna")},
		{"Jón signs", begins("Jón")},
		{"Vala signs", begins("Vala")},
		{"nobody signs", begins("nobody")},
		{"Anna declines", declines("Anna")},
		{"Jón declines", declines("Jón")},
		{"Vala declines", declines("Vala")},
		{"nobody declines", declines("nobody")},
		{"Anna's signature lands", lands(annas)},
		{"an earlier one lands", landsLate(annas)},
		{"all are invited again", inviteAgain},
		{"Anna opens the link", opens("Anna", annas)},
		{"Vala opens the link", opens("Vala", "0303302239")},
		{"Anna returns", returns("Anna", annas)},
	}
	const (
		w, c, d, e = Waiting, Completed, Declined, Expired
	)
	var (
		missing, viewer, answered = ErrNotFound, ErrViewer, ErrAnswered
		over, turn, login, late   = ErrNotWaiting, ErrTurn, ErrNotLoggedIn, signing.ErrUnwanted
	)
	for _, test := range []struct {
		state string
		after []action
		want  [14]any
	}{
		{"nobody has come", nil,
			[14]any{login, login, viewer, missing, d, d, viewer, missing, late, late, w, w, w, login}},
		{"all have come", at(),
			[14]any{w, w, viewer, missing, d, d, viewer, missing, late, late, w, w, w, w}},
		{"Anna's turn", at(begins("Anna")),
			[14]any{turn, turn, viewer, missing, turn, d, viewer, missing, w, late, w, w, w, w}},
		{"Anna's second turn", at(begins("Anna"), fails, begins("Anna")),
			[14]any{turn, turn, viewer, missing, turn, d, viewer, missing, w, late, w, w, w, w}},
		{"Anna's turn, as the last", at(signs("Jón", jons), begins("Anna")),
			[14]any{turn, answered, viewer, missing, turn, answered, viewer, missing, c, late, w, w, w, w}},
		{"Anna has signed", at(signs("Anna", annas)),
			[14]any{answered, w, viewer, missing, answered, d, viewer, missing, late, late, w, w, w, w}},
		{"all have signed", at(signs("Anna", annas), signs("Jón", jons)),
			[14]any{answered, answered, viewer, missing, answered, answered, viewer, missing, late, late, over, c, c, c}},
		{"Anna has declined", at(declines("Anna")),
			[14]any{answered, over, viewer, missing, answered, over, viewer, missing, late, late, over, d, d, d}},
		{"Jón has declined in Anna's turn", at(begins("Anna"), declines("Jón")),
			[14]any{over, answered, viewer, missing, over, answered, viewer, missing, d, late, over, d, d, d}},
		{"Anna has declined, long ago", at(declines("Anna"), waits(week+moment)),
			[14]any{answered, over, viewer, missing, answered, over, viewer, missing, late, late, over, d, d, d}},
		{"the last moment", at(waits(week)),
			[14]any{w, w, viewer, missing, d, d, viewer, missing, late, late, w, w, w, w}},
		{"expired", at(waits(week + moment)),
			[14]any{over, over, viewer, missing, over, over, viewer, missing, late, late, w, e, e, e}},
		{"expired in Anna's turn", at(begins("Anna"), waits(week+moment)),
			[14]any{over, over, viewer, missing, over, over, viewer, missing, e, late, w, e, e, e}},
		{"expired in Anna's turn, as the last", at(signs("Jón", jons), begins("Anna"), waits(week+moment)),
			[14]any{over, answered, viewer, missing, over, answered, viewer, missing, c, late, w, e, e, e}},
		{"completed long ago", at(signs("Anna", annas), signs("Jón", jons), waits(2*week)),
			[14]any{answered, answered, viewer, missing, answered, answered, viewer, missing, late, late, over, c, c, c}},
		{"the last moment, unopened", []action{waits(week)},
			[14]any{login, login, viewer, missing, d, d, viewer, missing, late, late, w, w, w, login}},
		{"expired, unopened", []action{waits(week + moment)},
			[14]any{login, login, viewer, missing, over, over, viewer, missing, late, late, w, missing, missing, login}},
		{"Jón has declined, Anna has not come", []action{opens("Jón", jons), declines("Jón")},
			[14]any{login, answered, viewer, missing, over, answered, viewer, missing, late, late, d, d, d, login}},
		{"all have signed, Vala has not come", []action{signs("Anna", annas), signs("Jón", jons), waits(2 * week)},
			[14]any{answered, answered, viewer, missing, answered, answered, viewer, missing, late, late, c, missing, missing, login}},
		{"invited again after a week", at(waits(week+moment), inviteAgain),
			[14]any{w, w, viewer, missing, d, d, viewer, missing, late, late, w, w, w, w}},
	} {
		for i, column := range columns {
			t.Run(test.state+"/"+column.name, func(t *testing.T) {
				s := told(t, test.after...)
				before := clone(s.Process)
				err := column.do(s)
				want, refused := test.want[i].(error)
				if !errors.Is(err, want) || refused != (err != nil) {
					t.Fatalf("%v, want %v", err, test.want[i])
				}
				switch {
				case refused:
					if d := cmp.Diff(before, s.Process); d != "" {
						t.Errorf("refused, and changed: %s", d)
					}
				case s.Status(s.now) != test.want[i]:
					t.Errorf("%v, want %v", s.Status(s.now), test.want[i])
				}
			})
		}
	}
}

func clone(p Process) Process {
	p.Participants = slices.Clone(p.Participants)
	for i := range p.Participants {
		if person := p.Participants[i].Person; person != nil {
			copied := *person
			p.Participants[i].Person = &copied
		}
	}
	if p.Turn != nil {
		copied := *p.Turn
		p.Turn = &copied
	}
	return p
}
