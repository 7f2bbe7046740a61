package portal

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// goldenTime has digits that are rounded.
var goldenTime = time.Date(2026, 3, 2, 10, 0, 0, 123456000, time.UTC)

// entries is an evidence log that has the facts of the last entry of each kind.
type entries struct {
	storage.EvidenceLog
	facts map[string][]byte // by kind
}

func (e *entries) Record(_ context.Context, all ...storage.Entry) error {
	for _, one := range all {
		e.facts[one.Kind] = one.Facts
	}
	return nil
}

// goldenFacts has facts of each kind of entry.
var goldenFacts = map[string]any{
	createdEntry: createdFacts{
		Client: "client", Origin: API, Document: "Samningur.pdf", Size: 1024,
		Participants: []inviteeFacts{{"signer", Signer, "Jóna Prófdóttir", "jona@example.com", "0101302989"}, {"viewer", Viewer, "Viewer", "viewer@example.com", ""}},
		Warnings:     &[]inspect.Warning{{Code: inspect.JavaScript, Detail: "An action runs JavaScript (object 12).", Page: 2}},
	},
	invitedEntry:   invitedFacts{[]string{"signer", "viewer"}},
	loggedInEntry:  loggedInFacts{"signer", "Jóna Prófdóttir", "0101302989", nil},
	begunEntry:     begunFacts{"signer", "request", "3,7-9"},
	signedEntry:    personFacts{"signer", "Jóna Prófdóttir", "0101302989", "request"},
	declinedEntry:  declinedFacts{"signer", "0101302989", "Nei, <takk> & bless"},
	completedEntry: struct{}{},
	deletedEntry:   struct{}{},
}

// firstFacts are facts as version 1 encoded them, which had no warnings about documents.
func firstFacts() map[string]any {
	first := maps.Clone(goldenFacts)
	created, begun := first[createdEntry].(createdFacts), first[begunEntry].(begunFacts)
	created.Warnings, begun.NotShown = nil, ""
	first[createdEntry], first[begunEntry] = created, begun
	return first
}

// TestGoldenFacts checks that facts are encoded as version 2 encoded them, and decodes them and those of version 1.
func TestGoldenFacts(t *testing.T) {
	if diff := cmp.Diff(testenv.Constants(t, "string", "Entry"), slices.Sorted(maps.Keys(goldenFacts))); diff != "" {
		t.Errorf("kinds of entries -, with an example +:\n%s", diff)
	}
	log := entries{facts: make(map[string][]byte)}
	s := core{log: &log}
	for kind, facts := range goldenFacts {
		if err := s.record(t.Context(), &Process{ID: "process"}, kind, facts); err != nil {
			t.Fatal(err)
		}
	}
	for _, kind := range []string{createdEntry, invitedEntry, begunEntry, signedEntry, declinedEntry} {
		testenv.Filled(t, goldenFacts[kind])
	}
	sameFacts(t, goldenFacts, testenv.SameAsGoldenJSON(t, "testdata/facts-2.golden.json", log.facts))
	var first map[string]json.RawMessage
	testenv.NoError(t, json.Unmarshal(testenv.ReadFile(t, "testdata/facts-1.golden.json"), &first))
	sameFacts(t, firstFacts(), first)
}

// sameFacts decodes facts and compares them.
func sameFacts(t *testing.T, want map[string]any, encoded map[string]json.RawMessage) {
	t.Helper()
	if len(encoded) != len(want) {
		t.Errorf("%d kinds, want %d", len(encoded), len(want))
	}
	for kind, facts := range encoded {
		got := reflect.New(reflect.TypeOf(want[kind]))
		if err := json.Unmarshal(facts, got.Interface()); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want[kind], got.Elem().Interface()); diff != "" {
			t.Errorf("%s -want +got:\n%s", kind, diff)
		}
	}
}

// sent has the data of events by type, as webhook/delivery encodes it.
type sent map[string][]byte

func (s sent) Emit(_ context.Context, _, eventType string, _ time.Time, data any) error {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(data)
	s[eventType] = bytes.TrimSpace(text.Bytes())
	return err
}

// TestGoldenEvents checks that the data of each type of event is what version 1 sent. A test of webhook/delivery sends the
// data of this file.
func TestGoldenEvents(t *testing.T) {
	signed := Participant{
		Participant: process.Participant{
			Role:      Signer,
			Signature: &Signature{Name: "Jóna Prófdóttir", Kennitala: "0101302989", Value: []byte("value"), At: goldenTime},
		},
		Name: "Jóna", Email: "jona@example.com", Phone: "555 0101",
	}
	declined := Participant{
		Participant: process.Participant{
			Role:    Signer,
			Decline: &Decline{Reason: "Nei, <takk> & bless", Kennitala: "0202302129", At: goldenTime},
		},
		Name: "Jón", Email: "jon@example.com", Phone: "555 0102",
	}
	p := Process{ID: "0f8fad5b-d9cb-469f-a165-70867728950e", Origin: API, Participants: []Participant{signed, {Participant: process.Participant{Role: Viewer}}, signed}}
	data := make(sent)
	s := core{options: Options{Events: data}}
	err := errors.Join(s.emitSigned(t.Context(), &p, &signed), s.emitDeclined(t.Context(), &p, &declined), s.emitCompleted(t.Context(), &p))
	if err != nil {
		t.Fatal(err)
	}
	golden := testenv.SameAsGoldenJSON(t, "testdata/events-1.golden.json", data)
	for _, eventType := range EventTypes() {
		if golden[eventType] == nil {
			t.Errorf("%s is not in the file", eventType)
		}
	}
	if len(golden) != len(EventTypes()) {
		t.Errorf("the file has %d types of events", len(golden))
	}
}

// TestGoldenNames checks that the ID of a turn and the hash of a link are what version 1 stored.
func TestGoldenNames(t *testing.T) {
	is := turnID{participantRef{"0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"}, 12}
	golden := testenv.SameAsGoldenJSON(t, "testdata/names-1.golden.json", map[string][]byte{
		"order": []byte(`"` + is.String() + `"`),
		"link":  []byte(`"` + hex.EncodeToString(hashToken("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8")) + `"`),
	})
	var text string
	if err := json.Unmarshal(golden["order"], &text); err != nil {
		t.Fatal(err)
	}
	if got, err := parseTurnID(text); got != is || err != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
