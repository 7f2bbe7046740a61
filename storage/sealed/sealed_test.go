package sealed

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// keysOf are the keys of bytes that repeat, the first sealing.
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
	secret := []byte("what nobody is to see")
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
		"as sealed":           {a, testKind, "record", value, secret, nil},
		"the second key":      {keysOf(t, 'b', 'a'), testKind, "record", value, secret, nil},
		"another key":         {keysOf(t, 'b'), testKind, "record", value, nil, ErrKey},
		"another record":      {a, testKind, "recorder", value, nil, ErrDamaged},
		"another kind":        {a, "tes", "record", value, nil, ErrDamaged},
		"the kind as an ID":   {a, "", "test\x00record", value, nil, ErrDamaged},
		"cut off":             {a, testKind, "record", value[:len(value)-1], nil, ErrDamaged},
		"the header alone":    {a, testKind, "record", value[:header], nil, ErrDamaged},
		"the magic alone":     {a, testKind, "record", []byte(magic), nil, ErrDamaged},
		"of a later version":  {a, testKind, "record", slices.Concat([]byte(magic), []byte{version + 1}, value[len(magic)+1:]), nil, ErrDamaged},
		"from before sealing": {a, testKind, "record", secret, secret, nil},
		"empty":               {a, testKind, "record", []byte{}, []byte{}, nil},
		"none":                {a, testKind, "record", nil, nil, nil},
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
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
}

// Whatever bit of a value is changed, nothing is read from it but an error. Only where the
// magic is gone is it taken for a value that was never sealed.
func TestEveryBitCounts(t *testing.T) {
	keys := keysOf(t, 'a')
	secret := []byte("secret")
	value := keys.seal(testKind, "record", secret)
	for i := range value {
		for bit := range 8 {
			changed := bytes.Clone(value)
			changed[i] ^= 1 << bit
			got, err := keys.open(testKind, "record", changed)
			if i < len(magic) {
				if err != nil || bytes.Contains(got, secret) {
					t.Fatalf("bit %d of byte %d: %q, %v", bit, i, got, err)
				}
			} else if err == nil {
				t.Fatalf("bit %d of byte %d: opened to %q", bit, i, got)
			}
		}
	}
}

func TestTheSameSecretIsNeverSealedAlike(t *testing.T) {
	keys := keysOf(t, 'a')
	one, other := keys.seal(testKind, "record", []byte("secret")), keys.seal(testKind, "record", []byte("secret"))
	if bytes.Equal(one, other) {
		t.Error("two equal values")
	}
	if want := header + 12 + len("secret") + 16; len(one) != want {
		t.Errorf("%d bytes, want %d", len(one), want)
	}
}

// What the first version sealed stays readable.
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
		if err == nil && !Is(value) && !bytes.Equal(secret, value) {
			t.Errorf("%q became %q", value, secret)
		}
	})
}

// The record of a fault is named where there is more than one of its kind.
func TestFaultsNameTheRecord(t *testing.T) {
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
