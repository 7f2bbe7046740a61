package portal_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/portal"
)

// A link may be looked at by anybody, any number of times, and nothing comes of it: mail programs open
// links before people do.
func TestLookingAtALink(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, wiring{})
		v := s.mustCreate(s.draft(2))
		token := strings.TrimPrefix(v.Participants[1].Path, "/sign/")
		for range 5 {
			place, err := s.LinkView(t.Context(), token)
			s.must(err)
			if d := cmp.Diff(portal.ParticipantView{ProcessView: v, Participant: v.Participants[1]}, place); d != "" {
				t.Error(d)
			}
			same, err := s.ParticipantView(t.Context(), v.ID, place.Participant.ID)
			if d := cmp.Diff(place, same); d != "" || err != nil {
				t.Error(d, err)
			}
		}
		s.recorded(v.ID, "process.created")
		for _, unknown := range []string{"", "x", v.ID, token[1:], token + "x", strings.ToUpper(token), strings.Repeat("x", 1<<16)} {
			_, err := s.LinkView(t.Context(), unknown)
			s.wants(portal.ErrNotFound, err, unknown)
		}
		for _, unknown := range [][2]string{{"", ""}, {v.ID, ""}, {v.ID, v.ID}, {"none", v.Participants[0].ID}} {
			_, err := s.ParticipantView(t.Context(), unknown[0], unknown[1])
			s.wants(portal.ErrNotFound, err, unknown)
		}
		time.Sleep(portal.InvitationTime + time.Microsecond)
		for range 2 {
			place, err := s.LinkView(t.Context(), token)
			if err != nil || place.Link != portal.LinkExpired || place.Status != portal.Expired {
				t.Errorf("%v, %v, %v", place.Link, place.Status, err)
			}
			_, err = s.Sweep(t.Context())
			s.must(err)
		}
		s.must(s.Delete(t.Context(), s.account, v.ID))
		_, err := s.LinkView(t.Context(), token)
		s.wants(portal.ErrNotFound, err)
		_, err = s.ParticipantView(t.Context(), v.ID, v.Participants[1].ID)
		s.wants(portal.ErrNotFound, err)
	})
}

// opened opens the document for a participant, and checks that it is of the revision it is said to be.
func (s *service) opened(v portal.ProcessView, i, want int) {
	s.t.Helper()
	c, err := s.Open(s.t.Context(), v.ID, v.Participants[i].ID)
	s.must(err)
	defer c.Close()
	content, err := io.ReadAll(io.NewSectionReader(c, 0, c.Size()))
	s.must(err)
	report, err := pades.Verify(s.t.Context(), pades.Document{ReaderAt: bytes.NewReader(content), Size: c.Size()}, ades.VerifyOptions{Roots: s.people.Roots()})
	s.must(err)
	if c.Revision != want || len(report.Signatures) != want || c.FileName != "Contract.pdf" {
		s.t.Errorf("%s is revision %d with %d signatures, want %d", c.FileName, c.Revision, len(report.Signatures), want)
	}
}

// Whoever has a place reads the document, signers and viewers alike, whatever has become of the process.
// A signature that lands while it is opened is in what is read and in its number, or in neither.
func TestOpen(t *testing.T) {
	racy := new(reading)
	s := newService(t, wiring{store: func(store portal.Store) portal.Store {
		racy.Store = store
		return racy
	}})
	anna, jon := s.person("Anna", "0101302989", "1"), s.person("Jón", "0202302129", "2")
	v := s.mustCreate(s.draft(3))
	s.opened(v, 0, 0)
	racy.once = func() { s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID)) }
	s.opened(v, 3, 1)
	racy.once = func() {
		racy.once = func() { s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[1].ID, jon.ID)) }
	}
	s.opened(v, 3, 1) // it lands when the document was opened already
	s.opened(v, 3, 2)
	s.must(s.DeclineAs(t.Context(), s.account, v.ID, v.Participants[2].ID, ""))
	s.opened(v, 2, 2)

	_, err := s.Open(t.Context(), v.ID, "nobody")
	s.wants(portal.ErrNotFound, err)
	racy.once = func() { s.must(s.Delete(t.Context(), s.account, v.ID)) }
	_, err = s.Open(t.Context(), v.ID, v.Participants[0].ID)
	s.wants(portal.ErrNotFound, err)
	_, err = s.Open(t.Context(), v.ID, v.Participants[0].ID)
	s.wants(portal.ErrNotFound, err)
}

// restless is a store in which everybody signs all the time.
type restless struct {
	portal.Store
	reads int
}

func (r *restless) Process(ctx context.Context, id string) (portal.Process, error) {
	p, err := r.Store.Process(ctx, id)
	for i := range min(r.reads, len(p.Participants)) {
		p.Participants[i].Signature = new(portal.Signature)
	}
	r.reads++
	return p, err
}

// What does not come to rest is given up.
func TestOpenWithoutEnd(t *testing.T) {
	s := newService(t, wiring{store: func(store portal.Store) portal.Store { return &restless{Store: store} }})
	v := s.mustCreate(s.draft(8))
	_, err := s.Open(t.Context(), v.ID, v.Participants[0].ID)
	s.wants(portal.ErrChanged, err)
}
