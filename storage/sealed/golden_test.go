package sealed

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Each of these stores has one value.
type (
	oneAuthority struct {
		sandbox.Store
		value []byte
	}
	oneCertificate struct {
		signing.Store
		value []byte
	}
	oneRecord struct {
		storage.Records
		value []byte
	}
)

func (s oneAuthority) Authority(context.Context) ([]byte, error) { return s.value, nil }

func (s oneCertificate) KeptCertificate(_ context.Context, person string) (signing.KeptCertificate, error) {
	return signing.KeptCertificate{Person: person, Certificate: s.value}, nil
}

func (s oneRecord) Record(_ context.Context, key []byte) (storage.Record, error) {
	return storage.Record{Key: key, Value: s.value}, nil
}

// goldenKinds has each kind of secret, with the name of its record. open opens a value as the
// stores of this package do.
var goldenKinds = map[kind]struct {
	record string
	open   func(ctx context.Context, k *Keys, value []byte) ([]byte, error)
}{
	userKey: {"user", func(_ context.Context, k *Keys, value []byte) ([]byte, error) {
		u, err := sandboxStore{keys: k}.open(sandbox.User{ID: "user", Key: value}, nil)
		return u.Key, err
	}},
	authorityKeys: {"", func(ctx context.Context, k *Keys, value []byte) ([]byte, error) {
		return sandboxStore{oneAuthority{value: value}, k}.Authority(ctx)
	}},
	stateSecret: {"request", func(_ context.Context, k *Keys, value []byte) ([]byte, error) {
		r, err := requestStore{keys: k}.open(signing.Request{ID: "request", State: idp.State{Secret: value}}, nil)
		return r.State.Secret, err
	}},
	certificate: {"person", func(ctx context.Context, k *Keys, value []byte) ([]byte, error) {
		c, err := requestStore{oneCertificate{value: value}, k}.KeptCertificate(ctx, "person")
		return c.Certificate, err
	}},
	subscriptionSecret: {"subscription", func(_ context.Context, k *Keys, value []byte) ([]byte, error) {
		s, err := webhookStore{keys: k}.open(delivery.Subscription{ID: "subscription", Secret: value}, nil)
		return s.Secret, err
	}},
	signingKey: {"12", func(_ context.Context, k *Keys, value []byte) ([]byte, error) {
		one, err := k.openSigningKey(delivery.SigningKey{Number: 12, Private: value})
		return one.Private, err
	}},
	linkToken: {"process/participant", func(_ context.Context, k *Keys, value []byte) ([]byte, error) {
		p := processStore{keys: k}.open(portal.Process{ID: "process", Participants: []portal.Participant{{Participant: process.Participant{ID: "participant", Link: portal.Link{Token: value}}}}})
		return p.Participants[0].Link.Token, nil
	}},
	pageRecord: {"00ff", func(ctx context.Context, k *Keys, value []byte) ([]byte, error) {
		r, err := pageStore{oneRecord{value: value}, k}.Record(ctx, []byte{0x00, 0xff})
		return r.Value, err
	}},
}

// A value of each kind that version 1 sealed opens, also with a key that is not the first.
func TestGoldenKinds(t *testing.T) {
	content := testenv.Golden(t, "testdata/sealed-1.golden.json", func() []byte {
		values := make(map[kind][]byte)
		for of, golden := range goldenKinds {
			values[of] = keysOf(t, 'a').seal(of, golden.record, []byte("secret of the "+of))
		}
		encoded, err := json.MarshalIndent(values, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		return append(encoded, '\n')
	})
	var values map[kind][]byte
	if err := json.Unmarshal(content, &values); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for of := range values {
		kinds = append(kinds, string(of))
	}
	slices.Sort(kinds)
	if diff := cmp.Diff(testenv.Constants(t, "kind", ""), kinds); diff != "" {
		t.Errorf("kinds of the package -, of the file +:\n%s", diff)
	}
	for of, value := range values {
		if !Is(value) {
			t.Errorf("%s: the value is not sealed", of)
		}
		open := goldenKinds[of].open
		if open == nil {
			t.Errorf("%s is no kind", of)
			continue
		}
		if secret, err := open(t.Context(), keysOf(t, 'b', 'a'), value); string(secret) != "secret of the "+string(of) || err != nil {
			t.Errorf("%s: %q, %v", of, secret, err)
		}
	}
}
