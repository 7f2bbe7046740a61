package main

import (
	"bytes"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/storage"
)

// see checks what a client sees of a process at the end.
func (s *scene) see(of *played, deleted bool) {
	s.t.Helper()
	a, err := s.client.call(s.t.Context(), http.MethodGet, processesPath+"/"+of.ProcessID+"/document", nil)
	if deleted {
		if err != nil || a.Status != http.StatusNotFound {
			s.t.Errorf("the document of what is deleted: %v, %v", a, err)
		}
		of.signed = 1
	} else {
		s.checkDocument(a, err, of.signed)
		of.size = int64(len(a.Content))
	}
	s.seen = append(s.seen, *of)
}

func (s *scene) checkDocument(a reply, err error, signatures int) {
	s.t.Helper()
	if err != nil || a.Status != http.StatusOK || !bytes.HasPrefix(a.Content, document) {
		s.t.Fatalf("the document: %v, %v", a, err)
	}
	report, err := pades.Verify(s.t.Context(), pades.Document{ReaderAt: bytes.NewReader(a.Content), Size: int64(len(a.Content))},
		ades.VerifyOptions{Roots: rootPool(s.t, s.server.RootCertificate)})
	if err != nil {
		s.t.Fatal(err)
	}
	var by []string
	for _, one := range report.Signatures {
		by = append(by, one.Certificate.Subject.CommonName)
	}
	want := []string{people[0].name, people[1].name}[:signatures]
	if diff := cmp.Diff(want, by); diff != "" || !report.Passed() {
		s.t.Errorf("the document is signed by (-want +got):\n%s\npassed: %v", diff, report.Passed())
	}
}

// events are those that there are to be of a process.
func (of *played) events() (want []string) {
	for _, p := range people[:of.signed] {
		want = append(want, "participant.signed "+p.phone+"@example.is")
	}
	switch {
	case of.declined:
		want = append(want, "participant.declined "+people[1].phone+"@example.is")
	case of.signed == 2:
		want = append(want, "process.completed")
	}
	slices.Sort(want)
	return want
}

// check checks what is told of the processes, and what they leave in the store.
func (s *scene) check() {
	s.t.Helper()
	for _, of := range s.seen { // what a server died with is sent again when its lease is over
		testenv.Wait(s.t, "the events of a process", func() bool { return len(s.receive.of(of.ProcessID)) >= len(of.events()) })
	}
	if rest, err := s.server.stop(); err != nil || rest != "" {
		s.t.Errorf("the end of the server: %q, %v\n%s", rest, err, s.server.talk())
	}
	var size, signatures int64
	there := 0
	for _, of := range s.seen {
		if diff := cmp.Diff(of.events(), s.receive.of(of.ProcessID)); diff != "" {
			s.t.Errorf("the events (-want +got):\n%s", diff)
		}
		if size, signatures = size+of.size, signatures+int64(of.signed); of.size > 0 {
			there++
		}
	}
	checkPlace(s.t, s.place, there, size, signatures)
}

// checkPlace is checkLeft of a store that no server has.
func checkPlace(t *testing.T, at string, processes int, size, signatures int64) {
	t.Helper()
	place, err := config.ParseStore(at)
	if err != nil {
		t.Fatal(err)
	}
	var db config.DB
	testenv.Wait(t, "the database", func() bool {
		db, err = place.Open(t.Context(), "")
		return !errors.Is(err, storage.ErrUnavailable) // which a busy machine makes it
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	checkLeft(t, db, processes, size, signatures)
}

// checkLeft checks what processes that were signed leave in a store: signatures, each with its line
// in the ledger, and documents of so many bytes that count for the account; no turn, no request and
// no job.
func checkLeft(t *testing.T, db config.DB, processes int, size, signatures int64) {
	t.Helper()
	ctx := t.Context()
	a, err := db.Accounts().Account(ctx, sandboxAccount)
	if err != nil || a.Stored != size || a.Signatures != signatures {
		t.Errorf("%d signatures and %d bytes of the account, want %d and %d: %v", a.Signatures, a.Stored, signatures, size, err)
	}
	free := 0
	lines := make(map[string]bool)
	for line, err := range db.Accounts().Lines(ctx, sandboxAccount, time.Time{}, time.Now().Add(time.Hour)) {
		if err != nil || line.API != account.PortalAPI || lines[line.ID] {
			t.Errorf("%+v, %v", line, err)
		}
		if lines[line.ID] = true; line.Free {
			free++
		}
	}
	if int64(len(lines)) != signatures || int64(free) != min(signatures, account.FreeSignatures) {
		t.Errorf("%d lines in the ledger, %d of them free, for %d signatures", len(lines), free, signatures)
	}
	there := 0
	for p, err := range db.AllProcesses(ctx) {
		if there++; err != nil || p.Turn != nil {
			t.Errorf("%+v, %v", p.Turn, err)
		}
	}
	if there != processes {
		t.Errorf("%d processes, want %d", there, processes)
	}
	if open, err := db.Requests().Unfinished(ctx, time.Now().Add(time.Hour), 10); err != nil || len(open) > 0 {
		t.Errorf("requests that have not ended: %+v, %v", open, err)
	}
	for _, kind := range []string{"signing.drive", "signing.complete", "signing.complete.order", "signing.news"} {
		if due, err := db.Jobs().NextDue(ctx, kind); err != nil || len(due) > 0 {
			t.Errorf("%s is due at %v, %v", kind, due, err)
		}
	}
}
