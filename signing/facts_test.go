package signing_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/signing"
)

// kinds are what the evidence log tells of a request.
func (s service) kinds(id string) (kinds []string) {
	s.t.Helper()
	entries, err := s.db.EvidenceLog().Entries(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// allKinds are what it tells of all requests.
func (s service) allKinds() (kinds []string) {
	s.t.Helper()
	entries, err := s.db.EvidenceLog().EntriesAfter(s.t.Context(), 0, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range entries {
		kinds = append(kinds, e.Kind)
	}
	return kinds
}

// facts are those of an entry, as a reader of the log has them.
type facts = map[string]any

func (s service) facts(id string) map[string]facts {
	s.t.Helper()
	entries, err := s.db.EvidenceLog().Entries(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	all := make(map[string]facts)
	for _, e := range entries {
		if e.Subject != id || e.Account != account || e.At.IsZero() || all[e.Kind] != nil {
			s.t.Errorf("%+v", e)
		}
		var f facts
		if err := json.Unmarshal(e.Facts, &f); err != nil {
			s.t.Fatal(err)
		}
		all[e.Kind] = f
	}
	return all
}

func sha256Of(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// spec 7.3: who was asked, by whom, over which digest, with which certificate, and
// when; no document.
func TestEvidenceOfASignature(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{Code: "0042"}, nil }
		s := newService(t, p, signing.Options{})
		document := pdftest.Build(pdftest.Options{})
		began := time.Now().UTC()
		started, err := s.startWith(document, func(in *signing.Start) {
			in.Client, in.Level, in.City, in.Country = "a client", ades.LT, "Akureyri", "IS"
			in.Person = idp.Person{Method: idp.SIM, Kennitala: kennitala, Phone: "555 0101"}
		})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		var value []byte
		p.poll = func(state idp.State) (idp.State, idp.Event, error) {
			signed := p.signed()
			value = signed.(idp.Signed).Values[0]
			return state, signed, nil
		}
		signed := s.poll(started.ID).Document
		want := map[string]facts{
			"signature.asked": {
				"client": "a client", "method": "IdpSim", "kennitala": kennitala, "phone": "555 0101",
				"document": "contract.pdf", "reason": "Undirritun", "place": "Akureyri, IS", "level": "LT",
				"sha256": sha256Of(document), "size": float64(len(document)), "warnings": []any{},
			},
			"signature.prepared": {
				"provider":    "phone",
				"certificate": base64.StdEncoding.EncodeToString(p.cert.Raw),
				"algorithm":   "ECDSA", "hash": "SHA-256", "digest": hex.EncodeToString(p.digests[0].Sum),
			},
			"signature.made": {
				"value": base64.StdEncoding.EncodeToString(value), "code": "0042",
				"askedAt": began.Format(time.RFC3339Nano), "signedAt": began.Add(3 * time.Second).Format(time.RFC3339Nano),
			},
			"signature.completed": {"level": "LT", "sha256": sha256Of(signed), "size": float64(len(signed))},
			"signature.delivered": {},
		}
		if diff := cmp.Diff(want, s.facts(started.ID)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// What comes to nothing is told too.
func TestEvidenceOfAFailure(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	s := newService(t, p, signing.Options{})
	id := s.mustStart()
	p.poll = func(state idp.State) (idp.State, idp.Event, error) {
		return state, idp.Failed{Failure: idp.Failure{Code: idp.UserCancelled}}, nil
	}
	s.poll(id)
	if diff := cmp.Diff([]string{"signature.asked", "signature.prepared", "signature.failed"}, s.kinds(id)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(facts{"provider": "phone", "code": "UserCancelled"}, s.facts(id)["signature.failed"]); diff != "" {
		t.Error(diff)
	}

	p.begin = func() (idp.Event, error) {
		return idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound}}, nil
	}
	_, _ = s.start() // refused, see TestStartThatComesToNothing
	if diff := cmp.Diff([]string{"signature.asked", "signature.failed"}, s.allKinds()[3:]); diff != "" {
		t.Error("refused at once:", diff)
	}
}

// A completion that is tried several times is told of once, and a person who turns out to
// have another certificate is asked twice.
func TestEvidenceOfRepetitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		o := newOutage(p.ca)
		s := newService(t, p, signing.Options{Sources: o.sources, IgnoreInterval: true})
		id := s.atLevel(ades.LT)
		answer := p.poll
		p.key, p.cert = p.issue(kennitala)
		p.poll = func(state idp.State) (idp.State, idp.Event, error) { return state, p.needDigest(), nil }
		s.pending(id, "another certificate")
		s.pending(id, "the same again")
		p.poll = answer
		o.cut(nil, errResponderDown)
		for range 3 {
			s.pending(id, "no responder")
			time.Sleep(time.Minute)
		}
		o.cut(nil, nil)
		signed := s.poll(id).Document
		s.checkSigned(signed)
		want := []string{
			"signature.asked", "signature.prepared", "signature.prepared", "signature.made", "signature.completed", "signature.delivered",
		}
		if diff := cmp.Diff(want, s.kinds(id)); diff != "" {
			t.Error(diff)
		}
		entries, err := s.db.EvidenceLog().Entries(t.Context(), id)
		if err != nil || !bytes.Contains(entries[4].Facts, []byte(sha256Of(signed))) {
			t.Errorf("%s, %v", entries[4].Facts, err)
		}
	})
}
