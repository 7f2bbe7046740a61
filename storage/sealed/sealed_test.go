package sealed

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
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

// keysOf returns keys, each of which consists of one repeated byte.
func keysOf(t testing.TB, repeated ...byte) *Keys {
	t.Helper()
	var text []byte
	for _, b := range repeated {
		text = append(base64.StdEncoding.AppendEncode(text, bytes.Repeat([]byte{b}, keyLen)), '\n')
	}
	keys, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

const testKind kind = "test"

func TestSealAndOpen(t *testing.T) {
	secret := []byte("plaintext of the record")
	a := keysOf(t, 'a')
	value := a.seal(testKind, "record", secret)
	for name, test := range map[string]struct {
		keys  *Keys
		kind  kind
		id    string
		value []byte
		want  []byte
		err   error
	}{
		"as sealed":          {a, testKind, "record", value, secret, nil},
		"the second key":     {keysOf(t, 'b', 'a'), testKind, "record", value, secret, nil},
		"another key":        {keysOf(t, 'b'), testKind, "record", value, nil, ErrKey},
		"another record":     {a, testKind, "recorder", value, nil, ErrDamaged},
		"another kind":       {a, "tes", "record", value, nil, ErrDamaged},
		"the kind as an ID":  {a, "", "test\x00record", value, nil, ErrDamaged},
		"cut off":            {a, testKind, "record", value[:len(value)-1], nil, ErrDamaged},
		"the header alone":   {a, testKind, "record", value[:header], nil, ErrDamaged},
		"the magic alone":    {a, testKind, "record", []byte(magic), nil, ErrDamaged},
		"of a later version": {a, testKind, "record", slices.Concat([]byte(magic), []byte{version + 1}, value[len(magic)+1:]), nil, ErrDamaged},
		"not sealed":         {a, testKind, "record", secret, nil, ErrPlain},
		"empty":              {a, testKind, "record", []byte{}, nil, ErrPlain},
		"none":               {a, testKind, "record", nil, nil, ErrPlain},
		"empty, as it may":   {a, linkToken, "record", []byte{}, []byte{}, nil},
		"none, as it may":    {a, stateSecret, "record", nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.keys.open(test.kind, test.id, test.value)
			if !errors.Is(err, test.err) || (err == nil) != (test.err == nil) {
				t.Fatalf("error %v, want %v", err, test.err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if err != nil && bytes.Contains([]byte(err.Error()), secret) {
				t.Errorf("the error contains the secret: %v", err)
			}
		})
	}
}

// A value does not open after a change of any bit.
func TestChangedBits(t *testing.T) {
	keys := keysOf(t, 'a')
	secret := []byte("secret")
	value := keys.seal(testKind, "record", secret)
	for i := range value {
		for bit := range 8 {
			changed := bytes.Clone(value)
			changed[i] ^= 1 << bit
			if got, err := keys.open(testKind, "record", changed); err == nil {
				t.Fatalf("bit %d of byte %d: opened to %q", bit, i, got)
			}
		}
	}
}

func TestSealIsRandomized(t *testing.T) {
	keys := keysOf(t, 'a')
	one, other := keys.seal(testKind, "record", []byte("secret")), keys.seal(testKind, "record", []byte("secret"))
	if bytes.Equal(one, other) {
		t.Error("two equal values")
	}
	if want := header + 12 + len("secret") + 16; len(one) != want {
		t.Errorf("%d bytes, want %d", len(one), want)
	}
}

// A value that version 1 sealed opens.
func TestGolden(t *testing.T) {
	value, err := base64.StdEncoding.DecodeString(golden)
	if err != nil {
		t.Fatal(err)
	}
	got, err := keysOf(t, 'b', 'a').open("sandbox user", "0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11", value)
	if err != nil || string(got) != "secret of version 1" {
		t.Errorf("%q, %v", got, err)
	}
}

const golden = "aW5uc2VhbGVkAVqbmBGwyW0w/7dZkn3sbUa1cPnUmYakHbgr1tOl3LpD4UwQkwMWuDPuDznmP9v/L7uceCfKDhI="

func FuzzOpen(f *testing.F) {
	keys := keysOf(f, 'a', 'b')
	f.Add([]byte(nil))
	f.Add([]byte(magic))
	f.Add(keys.seal(testKind, "record", []byte("secret")))
	f.Add(keysOf(f, 'c').seal(testKind, "record", []byte("secret")))
	f.Fuzz(func(t *testing.T, value []byte) {
		secret, err := keys.open(testKind, "record", value)
		if err == nil && !Is(value) {
			t.Errorf("%q was opened to %q", value, secret)
		}
	})
}

// Errors name the kind and the record.
func TestErrorsNameTheRecord(t *testing.T) {
	a, b := keysOf(t, 'a'), keysOf(t, 'b')
	for id, want := range map[string]string{"record": "(test record)", "": "(test)"} {
		value := a.seal(testKind, id, []byte("secret"))
		if _, err := b.open(testKind, id, value); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("with another key: %v, want %s", err, want)
		}
		if _, err := a.open(testKind, id, value[:len(value)-1]); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("damaged: %v, want %s", err, want)
		}
	}
}

// These stores have one value each.
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

// goldenKinds has an entry for each kind of secret, with the ID of its record. open opens a value like the stores
// of this package.
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
			t.Errorf("%s is not a kind", of)
			continue
		}
		if secret, err := open(t.Context(), keysOf(t, 'b', 'a'), value); string(secret) != "secret of the "+string(of) || err != nil {
			t.Errorf("%s: %q, %v", of, secret, err)
		}
	}
}
