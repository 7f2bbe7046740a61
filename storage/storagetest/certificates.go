package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// exampleCertificate is a certificate of a person.
func exampleCertificate(person string) signing.KeptCertificate {
	sum := sha256.Sum256([]byte(person))
	return signing.KeptCertificate{Person: hex.EncodeToString(sum[:]), Certificate: []byte{0x30, 0x82, 0, 255, 'a'}, Expires: base}
}

func keep(t *testing.T, b Backend, certificates ...signing.KeptCertificate) {
	t.Helper()
	for _, c := range certificates {
		do(t, b, func(ctx context.Context) error { return b.Requests.KeepCertificate(ctx, c) })
	}
}

// expiring is a certificate that expires so many seconds after base.
func expiring(person string, seconds int) signing.KeptCertificate {
	c := exampleCertificate(person)
	c.Expires = base.Add(time.Duration(seconds) * time.Second)
	return c
}

// drop drops certificates and fails the test unless there were so many.
func drop(t *testing.T, b Backend, before time.Time, limit, want int) {
	t.Helper()
	dropped := -1
	do(t, b, func(ctx context.Context) (err error) {
		dropped, err = b.Requests.DropCertificates(ctx, before, limit)
		return err
	})
	if dropped != want {
		t.Errorf("dropped %d, want %d", dropped, want)
	}
}

var certificates = tests{
	"a certificate is kept whole": func(t *testing.T, open func(*testing.T) Backend) {
		b, c, other := open(t), exampleCertificate("jon"), exampleCertificate("anna")
		other.Certificate = bytes.Repeat([]byte{0, 0xff}, 4096)
		keep(t, b, c, other)
		b = b.Reopen(t)
		for _, want := range []signing.KeptCertificate{c, other} {
			got, err := b.Requests.KeptCertificate(t.Context(), want.Person)
			found(t, got, err, want)
		}
	},

	"that of an unknown person is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b, c := open(t), exampleCertificate("jon")
		keep(t, b, c)
		for _, unknown := range []string{"", c.Person[1:], c.Person + "0", "\x00", "\xff"} {
			_, err := b.Requests.KeptCertificate(t.Context(), unknown)
			failed(t, err, storage.ErrNotFound)
		}
	},

	"a later one takes the place of the earlier": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, seconds := range []int{10, 20, 0} {
			c := expiring("jon", seconds)
			c.Certificate = []byte{byte(seconds)}
			keep(t, b, c)
			got, err := b.Requests.KeptCertificate(t.Context(), c.Person)
			found(t, got, err, c)
		}
		drop(t, b, after(1000), 10, 1)
	},

	"those that have expired are dropped, so many at a time": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third, fourth := expiring("1", 1), expiring("2", 2), expiring("3", 3), expiring("4", 4)
		keep(t, b, third, first, fourth, second, expiring("1", 10)) // the first was renewed
		drop(t, b, after(4), 0, 0)
		drop(t, b, after(4), -1, 0)
		for _, want := range []int{1, 1, 0} {
			drop(t, b, after(4), 1, want)
		}
		for c, want := range map[string]error{first.Person: nil, second.Person: storage.ErrNotFound, third.Person: storage.ErrNotFound, fourth.Person: nil} {
			_, err := b.Requests.KeptCertificate(t.Context(), c)
			failed(t, err, want)
		}
		drop(t, b, after(4).Add(time.Microsecond), 10, 1)
		drop(t, b, after(100), 10, 1)
	},

	"of several that are kept at once one stays whole": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const writers, rounds = 8, 10
		var group errgroup.Group
		for i := range writers {
			c := expiring("jon", i)
			c.Certificate = bytes.Repeat([]byte{byte(i)}, 100)
			group.Go(func() error {
				return repeat(rounds, func() error {
					return b.InTx(t.Context(), func(ctx context.Context) error { return b.Requests.KeepCertificate(ctx, c) })
				})
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		got, err := b.Requests.KeptCertificate(t.Context(), exampleCertificate("jon").Person)
		if err != nil {
			t.Fatal(err)
		}
		want := expiring("jon", int(got.Certificate[0]))
		want.Certificate = bytes.Repeat(got.Certificate[:1], 100)
		found(t, got, err, want)
		drop(t, b, after(100), 10, 1)
	},
}
