package portal_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// A new process waits, for those whom the draft names, in its order; all are invited, signers have a
// place for their stamp, and the account has less room.
func TestCreate(t *testing.T) {
	s := newService(t, wiring{})
	d := s.draft(2, func(d *portal.Draft) {
		d.Participants[0].Kennitala, d.Participants[0].Phone = "0101302989", "5551234"
	})
	v := s.mustCreate(d)
	want := portal.ProcessView{Status: portal.Waiting, Process: portal.Process{Account: s.account, Origin: portal.API, FileName: "Contract.pdf", Document: d.Document}}
	for _, in := range d.Participants {
		one := portal.Participant{Participant: process.Participant{Role: in.Role, Kennitala: in.Kennitala}, Name: in.Name, Email: in.Email, Phone: in.Phone}
		status := portal.Waiting
		if in.Role == portal.Viewer {
			status = process.None
		}
		want.Participants = append(want.Participants, portal.ParticipantState{Participant: one, Status: status})
	}
	ignore := []cmp.Option{
		cmpopts.IgnoreFields(portal.Process{}, "ID", "CreatedAt", "Participants"),
		cmpopts.IgnoreFields(portal.Participant{}, "ID", "Link", "Stamp"),
		cmpopts.IgnoreFields(portal.ParticipantState{}, "Path"),
	}
	if d := cmp.Diff(want, v, ignore...); d != "" {
		t.Error(d)
	}
	read, err := s.Process(t.Context(), s.account, v.ID)
	s.must(err)
	if d := cmp.Diff(v, read); d != "" {
		t.Error("as it was stored:", d)
	}
	var letters []letter
	for i, one := range v.Participants {
		letters = append(letters, letter{"invitation", v.ID, one.Email, one.Path})
		if !strings.HasPrefix(one.Path, "/sign/") || len(one.Path) != len("/sign/")+43 {
			t.Error(one.Path)
		}
		if (one.Stamp != nil) != (one.Role == portal.Signer) || i == 1 && one.Stamp.Rect == v.Participants[0].Stamp.Rect {
			t.Errorf("%+v", one.Stamp)
		}
	}
	if d := cmp.Diff(letters, s.news.letters("invitation")); d != "" {
		t.Error(d)
	}
	s.stores(int64(len(s.read(v.ID))))
	if n := s.unkept(); n != 0 {
		t.Errorf("%d documents are not kept", n)
	}
}

// stores says how many bytes the account is to have.
func (s *service) stores(want int64) {
	s.t.Helper()
	a, err := s.accounts.Account(s.t.Context(), s.account)
	s.must(err)
	if a.Stored != want {
		s.t.Errorf("%d bytes are stored, want %d", a.Stored, want)
	}
}

// Nothing is kept of a process that is refused (spec 4.1).
func TestRefusedCreation(t *testing.T) {
	s := newService(t, wiring{})
	poor := s.newAccount(false)
	small := pdftest.Build(pdftest.Options{})
	for name, test := range map[string]struct {
		signers int
		content []byte
		change  func(*portal.Draft)
		want    error
	}{
		"no PDF":            {1, []byte("This is no PDF."), nil, ades.ErrUnreadable},
		"page 0":            {1, nil, func(d *portal.Draft) { d.Page = 0 }, stamp.ErrNoPage},
		"page -1":           {1, nil, func(d *portal.Draft) { d.Page = -1 }, stamp.ErrNoPage},
		"page 2 of 1":       {1, nil, func(d *portal.Draft) { d.Page = 2 }, stamp.ErrNoPage},
		"too many":          {99, nil, nil, portal.ErrTooMany},
		"not paid for":      {4, nil, func(d *portal.Draft) { d.Account = poor }, portal.ErrPayment},
		"unknown account":   {1, nil, func(d *portal.Draft) { d.Account = "nobody" }, errAny},
		"no such document":  {1, nil, func(d *portal.Draft) { d.Document = "none" }, storage.ErrNotFound},
		"one byte too many": {1, append(small[:len(small):len(small)], '\n'), nil, portal.ErrQuota},
	} {
		t.Run(name, func(t *testing.T) {
			s.t = t
			defer s.stores(0)
			s.must(s.accounts.SetQuota(t.Context(), s.account, int64(len(small))))
			content := test.content
			if content == nil {
				content = small
			}
			d := s.draft(test.signers, func(d *portal.Draft) { d.Document = s.upload(content) })
			if test.change != nil {
				test.change(&d)
			}
			d.Key = &portal.DraftKey{Value: "a key", Fingerprint: name}
			_, err := s.Create(t.Context(), d)
			if err == nil || test.want != errAny && !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
			if n := s.unkept(); n != 0 && name != "no such document" {
				t.Errorf("%d documents are left", n)
			}
			_, err = s.db.Processes().Key(t.Context(), d.Client, "a key")
			s.wants(storage.ErrNotFound, err)
			if letters := s.news.letters("invitation"); len(letters) > 0 {
				t.Error(letters)
			}
		})
	}
}

// errAny is any error.
var errAny = errors.New("any")

func TestInvalidDraft(t *testing.T) {
	s := newService(t, wiring{})
	_, err := s.Create(t.Context(), s.draft(1, func(d *portal.Draft) { d.FileName = "" }))
	var invalid *portal.InvalidError
	if !errors.As(err, &invalid) || invalid.Faults[0].Field != "file.name" || s.unkept() != 0 {
		t.Error(err)
	}
}

// The evidence log has what was sent to whom, and not the document.
func TestCreationIsRecorded(t *testing.T) {
	s := newService(t, wiring{})
	v := s.mustCreate(s.draft(1, func(d *portal.Draft) { d.Participants[0].Kennitala = "0101302989" }))
	entries, err := s.db.EvidenceLog().Entries(t.Context(), v.ID)
	s.must(err)
	if len(entries) != 1 || entries[0].Kind != "process.created" || entries[0].Account != s.account {
		t.Fatalf("%+v", entries)
	}
	var got map[string]any
	s.must(json.Unmarshal(entries[0].Facts, &got))
	want := map[string]any{
		"client": "a client", "origin": "api", "document": "Contract.pdf", "size": float64(len(s.read(v.ID))),
		"participants": []any{map[string]any{
			"participant": v.Participants[0].ID, "role": "Signer", "name": "Signer 1", "email": "signer1@example.is", "kennitala": "0101302989",
		}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// What nobody waits for any more is not made.
func TestCreationThatNobodyWaitsFor(t *testing.T) {
	s := newService(t, wiring{})
	ctx, cancel := context.WithCancel(t.Context())
	d := s.draft(1)
	cancel()
	_, err := s.Create(ctx, d)
	s.wants(context.Canceled, err)
	waiting, err := s.db.Processes().Waiting(t.Context(), s.account, time.Time{}, 1)
	if len(waiting) > 0 || err != nil || s.unkept() != 0 {
		t.Error(waiting, err)
	}
}
