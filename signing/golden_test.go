package signing

import (
	"context"
	"crypto"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/xades"
)

// goldenTime is a time that shows whether microseconds are kept.
var goldenTime = time.Date(2026, 3, 2, 10, 0, 0, 123456000, time.UTC)

// taken notes the jobs and the entries of the evidence log that a service stores.
type taken struct {
	storage.Jobs
	storage.EvidenceLog
	jobs    []storage.Job
	entries []storage.Entry
}

func (s *taken) Enqueue(_ context.Context, jobs ...storage.Job) error {
	s.jobs = append(s.jobs, jobs...)
	return nil
}

func (s *taken) Record(_ context.Context, entries ...storage.Entry) error {
	s.entries = append(s.entries, entries...)
	return nil
}

// Jobs that version 1 stored are made the same way, and are read.
func TestGoldenJobs(t *testing.T) {
	const id = "2f0c1d9e-7a34-4c5b-8f6e-0d1a2b3c4d5e"
	var store taken
	s := &Service{jobs: &store}
	all := Request{ID: id, Account: "account", SignedAt: goldenTime}
	ordered, xml := all, all
	ordered.Order, xml.Format = "order", XML
	for _, r := range []*Request{&all, &ordered, &xml} {
		if err := s.enqueueCompletion(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{notifiedKind, DriveKind} {
		if err := s.enqueue(t.Context(), kind, &all, goldenTime); err != nil {
			t.Fatal(err)
		}
	}
	payloads := make(map[string][]byte)
	for _, job := range store.jobs {
		payloads[job.Kind] = job.Payload
	}
	golden := testenv.SameAsGoldenJSON(t, "testdata/jobs-1.golden.json", payloads)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(s.Handlers())), slices.Sorted(maps.Keys(golden))); diff != "" {
		t.Errorf("kinds of the handlers -, of the file +:\n%s", diff)
	}
	for kind, encoded := range golden {
		if got, err := requestOf(storage.Job{Kind: kind, Payload: encoded}); got != id || err != nil {
			t.Errorf("%s: %q, %v", kind, got, err)
		}
	}
}

// goldenFacts are the facts of each kind of entry.
var goldenFacts = map[string]any{
	askedEntryKind: askedEntry{
		Client: "client", Method: idp.SIM, Kennitala: "0101302989", Phone: "555 0101",
		Document: "Samningur.xml", Reason: "Undirritun", Place: "Reykjavík, Ísland", Level: ades.LT.String(),
		Packing: xades.Enveloping.String(), content: content{"00ff", 1024},
		Warnings: &[]inspect.Warning{{Code: inspect.JavaScript, Detail: "An action runs JavaScript (object 12).", Page: 2}},
	},
	preparedEntryKind: preparedEntry{
		Provider: "provider", Certificate: []byte("certificate"), Algorithm: ades.ECDSA.String(), Hash: crypto.SHA256.String(), Digest: "01fe",
	},
	madeEntryKind:      madeEntry{[]byte("value"), "0042", goldenTime, goldenTime.Add(time.Minute)},
	completedEntryKind: completedEntry{ades.LTA.String(), content{"02fd", 2048}},
	failedEntryKind:    failedEntry{Provider: "provider", Code: idp.InternalError, Reason: "the OCSP responder at ocsp.example refused the request"},
	recoveredEntryKind: recoveredEntry{ades.LT.String(), content{"03fc", 4096}},
	deliveredEntryKind: struct{}{},
	abandonedEntryKind: abandonedEntry{Waiting},
}

// Facts of version 3 are made the same way, and are read; so are those that versions 1 and 2 recorded.
func TestGoldenFacts(t *testing.T) {
	if diff := cmp.Diff(testenv.Constants(t, "string", "EntryKind"), slices.Sorted(maps.Keys(goldenFacts))); diff != "" {
		t.Errorf("kinds of entries -, with an example +:\n%s", diff)
	}
	var store taken
	s := &Service{log: &store}
	for kind, facts := range goldenFacts {
		if err := s.record(t.Context(), &Request{ID: "request"}, kind, facts); err != nil {
			t.Fatal(err)
		}
		if kind != deliveredEntryKind {
			testenv.Filled(t, facts)
		}
	}
	encoded := make(map[string][]byte)
	for _, entry := range store.entries {
		encoded[entry.Kind] = entry.Facts
	}
	readFacts(t, testenv.SameAsGoldenJSON(t, "testdata/facts-3.golden.json", encoded), goldenFacts)

	want := maps.Clone(goldenFacts)
	asked := want[askedEntryKind].(askedEntry)
	asked.Warnings = nil
	want[askedEntryKind] = asked
	readFacts(t, earlierFacts(t, "testdata/facts-2.golden.json"), want)
	want[failedEntryKind] = failedEntry{Provider: "provider", Code: idp.UserCancelled}
	readFacts(t, earlierFacts(t, "testdata/facts-1.golden.json"), want)
}

// earlierFacts reads the facts that an earlier version recorded.
func earlierFacts(t *testing.T, path string) (facts map[string]json.RawMessage) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(content, &facts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

func readFacts(t *testing.T, encoded map[string]json.RawMessage, want map[string]any) {
	t.Helper()
	all := cmp.Exporter(func(reflect.Type) bool { return true })
	for kind, facts := range encoded {
		got := reflect.New(reflect.TypeOf(want[kind]))
		if err := json.Unmarshal(facts, got.Interface()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[kind], got.Elem().Interface(), all); diff != "" {
			t.Errorf("%s -want +got:\n%s", kind, diff)
		}
	}
}

// What version 1 kept of a try is stored the same way, and is restored. A kept certificate has the
// same name.
func TestGoldenKept(t *testing.T) {
	pdf := []storage.Revision{{Base: 7, Bytes: []byte("revision"), Hashed: []storage.Midstate{{Hash: storedHash, Offset: 15, State: []byte("state")}}}}
	xml := []xades.Revision{{Base: 7, Pieces: []xades.Piece{{From: 1, To: 5, Base64: true}, {Bytes: []byte("<ds:Signature/>")}}}}
	order := Request{Order: "order"}
	encoded := make(map[string][]byte)
	for name, d := range map[string]draft{"pdf": &pdfDraft{revisions: pdf}, "xml": &xmlDraft{revisions: xml}} {
		r := order
		if err := d.keep(t.Context(), nil, &r); err != nil {
			t.Fatal(err)
		}
		encoded[name] = r.Draft
	}
	whose, err := json.Marshal(personDigest(idp.Person{Account: "account", Method: idp.SIM, Kennitala: "0101302989", Phone: "5550101"}))
	if err != nil {
		t.Fatal(err)
	}
	encoded["certificate"] = whose

	golden := testenv.SameAsGoldenJSON(t, "testdata/kept-1.golden.json", encoded)
	var gotPDF pdfDraft
	var gotXML xmlDraft
	for name, d := range map[string]draft{"pdf": &gotPDF, "xml": &gotXML} {
		if err := d.restore(golden[name]); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(pdf, gotPDF.revisions); diff != "" {
		t.Errorf("pdf -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(xml, gotXML.revisions); diff != "" {
		t.Errorf("xml -want +got:\n%s", diff)
	}
}

// docs/xml.md lists each reason why XML cannot be signed.
func TestXMLFailuresAreDocumented(t *testing.T) {
	_, table, _ := strings.Cut(string(testenv.ReadFile(t, filepath.Join(testenv.Root(t), "docs", "xml.md"))), "| | `errorDescription` |\n|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if rows := strings.Count(table, "\n") + 1; rows != len(xmlFailures) {
		t.Errorf("%d rows for %d reasons", rows, len(xmlFailures))
	}
	for _, f := range xmlFailures {
		if !strings.Contains(table, " | "+f.why+" |") {
			t.Errorf("no row says %q", f.why)
		}
	}
}
