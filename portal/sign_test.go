package portal_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// takesAMinute is a test person who answers after a minute.
func takesAMinute(p *sandbox.Profile) {
	minute := time.Minute
	p.Delay = &minute
}

func refuses(p *sandbox.Profile) {
	action := sandbox.Cancel
	p.Action = &action
}

// login has a test person log in as the participant of that place.
func (s *service) login(v portal.ProcessView, i int, u sandbox.User) {
	s.t.Helper()
	token := strings.TrimPrefix(v.Participants[i].Path, "/sign/")
	process, participant, err := s.Login(s.t.Context(), token, portal.Person{Name: u.FullName, Kennitala: u.Kennitala})
	s.must(err)
	if process != v.ID || participant != v.Participants[i].ID {
		s.t.Errorf("%s of %s", participant, process)
	}
}

// sign has the participant of that place begin to sign with the app what is there now.
func (s *service) sign(v portal.ProcessView, i int) (signing.Started, error) {
	there, _ := s.db.Processes().Process(s.t.Context(), v.ID) // nothing, once it is deleted
	return s.Sign(s.t.Context(), v.ID, v.Participants[i].ID, portal.SignRequest{Method: idp.App, Revision: there.Revision()})
}

// drive drives a request to its end, and checks whether it came to a signature.
func (s *service) drive(request string, want idp.ErrorCode) {
	s.t.Helper()
	p, err := s.signing.Drive(s.t.Context(), request)
	s.must(err)
	var code idp.ErrorCode
	if p.Failure != nil {
		code = p.Failure.Code
	}
	if !p.Done || code != want {
		s.t.Errorf("%+v, want %q", p, want)
	}
}

// is checks the status of a process, and that nobody has the turn.
func (s *service) is(id string, want portal.Status) {
	s.t.Helper()
	v := s.show(id)
	if v.Status != want || v.Turn != nil {
		s.t.Errorf("%v, want %v; turn %+v", v.Status, want, v.Turn)
	}
}

// A turn lasts as long as its request: nobody else begins meanwhile, and who has it neither begins
// again nor declines.
func TestTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		anna, jon := s.person("Anna", "0101302989", "1", takesAMinute), s.person("Jón", "0202302129", "2", takesAMinute)
		v := s.mustCreate(s.draft(2))
		_, err := s.sign(v, 0)
		s.wants(portal.ErrNotLoggedIn, err)
		s.login(v, 0, anna)
		s.login(v, 1, jon)
		first, err := s.sign(v, 0)
		s.must(err)
		for i := range 2 {
			_, err := s.sign(v, i)
			s.wants(portal.ErrTurn, err)
		}
		s.wants(portal.ErrTurn, s.Decline(t.Context(), v.ID, v.Participants[0].ID, ""))
		s.drive(first.ID, "")
		s.is(v.ID, portal.Waiting)
		second, err := s.sign(v, 1)
		s.must(err)
		s.drive(second.ID, "")
		s.is(v.ID, portal.Completed)
		if letters := s.news.letters("completion"); len(letters) != 1 {
			t.Error(letters)
		}
		s.recorded(v.ID, "process.created", "participant.loggedin", "participant.loggedin", "signature.begun",
			"participant.signed", "signature.begun", "participant.signed", "process.completed")
	})
}

// recorded checks the kinds of the entries in the evidence log.
func (s *service) recorded(subject string, want ...string) {
	s.t.Helper()
	entries, err := s.db.EvidenceLog().Entries(s.t.Context(), subject)
	s.must(err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Kind)
	}
	if d := cmp.Diff(want, got); d != "" {
		s.t.Error(d)
	}
}

// A turn that comes to nothing leaves nothing behind, and the next may begin.
func TestTurnWithoutSignature(t *testing.T) {
	s := newService(t, wiring{})
	anna := s.person("Anna", "0101302989", "1", refuses)
	stranger := sandbox.User{FullName: "A stranger", Kennitala: "0303302239"} // to the identity provider
	v := s.mustCreate(s.draft(2))
	base := s.read(v.ID)
	s.login(v, 0, anna)
	s.login(v, 1, stranger)
	_, err := s.sign(v, 1)
	var refusal *signing.Refusal
	if !errors.As(err, &refusal) || refusal.Code != idp.UserNotFound {
		t.Error(err)
	}
	s.is(v.ID, portal.Waiting)
	for range 2 {
		started, err := s.sign(v, 0)
		s.must(err)
		s.drive(started.ID, idp.UserCancelled)
		s.is(v.ID, portal.Waiting)
	}
	if got := s.read(v.ID); string(got) != string(base) {
		t.Errorf("the document has %d bytes more", len(got)-len(base))
	}
	if got := s.news.types(); got != nil {
		t.Error(got)
	}
	s.stores(int64(len(base)))
	got := s.show(v.ID)
	if got.Turns != 3 {
		t.Errorf("%d turns", got.Turns)
	}
}

// racing is a service of signatures at which somebody else comes first.
type racing struct {
	portal.Signing
	first func(ctx context.Context)
}

func (r *racing) Start(ctx context.Context, in signing.Start) (signing.Started, error) {
	if first := r.first; first != nil {
		r.first = nil
		first(ctx)
	}
	return r.Signing.Start(ctx, in)
}

// A turn that came and went between reading the process and taking the turn makes no second one of the
// same number.
func TestTurnAfterAnother(t *testing.T) {
	race := new(racing)
	s := newService(t, wiring{signing: func(real portal.Signing) portal.Signing {
		race.Signing = real
		return race
	}})
	anna, jon := s.person("Anna", "0101302989", "1"), s.person("Jón", "0202302129", "2")
	v := s.mustCreate(s.draft(2))
	race.first = func(ctx context.Context) {
		s.must(s.SignAs(ctx, s.account, v.ID, v.Participants[1].ID, jon.ID))
	}
	s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
	s.is(v.ID, portal.Completed)
	s.signedTimes(v.ID, 2)
	race.first = func(ctx context.Context) {
		s.wants(portal.ErrAnswered, s.SignAs(ctx, s.account, v.ID, v.Participants[0].ID, anna.ID))
	}
	s.wants(portal.ErrAnswered, s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
}
