package portal_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/portal"
)

// draft is one of a process with so many signers and, if there is more than one, a viewer.
func (s *service) draft(signers int, change ...func(*portal.Draft)) portal.Draft {
	d := portal.Draft{Account: s.account, Client: "a client", FileName: "Contract.pdf", Page: 1}
	for i := range signers {
		d.Participants = append(d.Participants, portal.Invitee{
			Name: fmt.Sprintf("Signer %d", i+1), Email: fmt.Sprintf("signer%d@example.is", i+1), Role: portal.Signer,
		})
	}
	if signers > 1 {
		d.Participants = append(d.Participants, portal.Invitee{Name: "A viewer", Email: "viewer@example.is", Role: portal.Viewer})
	}
	for _, c := range change {
		c(&d)
	}
	if d.Document == "" {
		d.Document = s.upload(nil)
	}
	return d
}

func (s *service) mustCreate(d portal.Draft) portal.ProcessView {
	s.t.Helper()
	v, err := s.Create(s.t.Context(), d)
	s.must(err)
	return v
}

// show is a process of either origin, as it is now.
func (s *service) show(id string) portal.ProcessView {
	s.t.Helper()
	p, err := s.db.Processes().Process(s.t.Context(), id)
	s.must(err)
	v := portal.ProcessView{Process: p, Status: p.Status(time.Now())}
	for _, one := range p.Participants {
		v.Participants = append(v.Participants, portal.ParticipantState{Participant: one, Status: one.Status(), Path: p.Path(one, time.Now())})
	}
	return v
}

// In the sandbox, from creation to the last signature (spec 6.4).
func TestSignersOfTheSandbox(t *testing.T) {
	s := newService(t, wiring{})
	anna := s.person("Anna Jónsdóttir", "0101302989", "5550101")
	jon := s.person("Jón Jónsson", "020202-2020", "5550202")
	v := s.mustCreate(s.draft(2, func(d *portal.Draft) {
		d.Participants[0].Kennitala, d.Participants[1].Phone = "0101302989", "5551234"
	}))
	base := s.read(v.ID)
	s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[0].ID, anna.ID))
	s.must(s.SignAs(t.Context(), s.account, v.ID, v.Participants[1].ID, jon.ID))

	got, err := s.Process(t.Context(), s.account, v.ID)
	s.must(err)
	if got.Status != portal.Completed || got.Turn != nil || got.Turns != 2 {
		t.Errorf("%v, turn %+v of %d", got.Status, got.Turn, got.Turns)
	}
	content := s.read(v.ID)
	if !bytes.HasPrefix(content, base) {
		t.Error("the document was changed")
	}
	s.signedTimes(v.ID, 2)
	want := []string{portal.SignedEvent, portal.SignedEvent, portal.CompletedEvent}
	if d := cmp.Diff(want, s.news.types()); d != "" {
		t.Error(d)
	}
	a, err := s.accounts.Account(t.Context(), s.account)
	s.must(err)
	if a.Signatures != 2 || a.Stored != int64(len(content)) {
		t.Errorf("%d signatures, %d bytes of %d", a.Signatures, a.Stored, len(content))
	}
}

// signedTimes checks that a document has so many signatures, which all are valid.
func (s *service) signedTimes(id string, want int) {
	s.t.Helper()
	content := s.read(id)
	doc := pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	report, err := pades.Verify(s.t.Context(), doc, ades.VerifyOptions{Roots: s.people.Roots()})
	s.must(err)
	if len(report.Signatures) != want || want > 0 && !report.Passed() {
		s.t.Fatalf("want %d signatures: %+v", want, report.Signatures)
	}
	for _, signature := range report.Signatures {
		if signature.Format != "PAdES-BASELINE-LT" {
			s.t.Error(signature.Format)
		}
	}
}
