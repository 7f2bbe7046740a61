package sealed_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// subscription returns a subscription with a secret.
func subscription(id string) delivery.Subscription {
	s := delivery.Subscription{ID: id, Account: owner, URL: "https://x.example", EventTypes: []string{"e"}, CreatedAt: expires, UpdatedAt: expires, Secret: make([]byte, 32)}
	rand.Read(s.Secret)
	return s
}

func signingKey(number int) delivery.SigningKey {
	k := delivery.SigningKey{Number: number, Public: []byte("public"), Private: make([]byte, 32), CreatedAt: expires, EndsAt: expires.Add(time.Duration(number) * time.Hour)}
	rand.Read(k.Private)
	return k
}

func (d deployment) add(t *testing.T, store delivery.Store, k delivery.SigningKey, list ...delivery.Subscription) {
	t.Helper()
	err := d.db.InTx(t.Context(), func(ctx context.Context) error {
		errs := []error{store.CreateKey(ctx, k)}
		for _, s := range list {
			errs = append(errs, store.CreateSubscription(ctx, s, 1000))
		}
		return errors.Join(errs...)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// hooks are the records of a webhook store.
type hooks struct {
	Keys          []delivery.SigningKey
	Subscriptions []delivery.Subscription
}

// wantHooks fails the test unless the store returns these records.
func (d deployment) wantHooks(t *testing.T, k *sealed.Keys, want hooks) {
	t.Helper()
	store := sealed.Webhooks(d.db.Webhooks(), k)
	keys, keysErr := store.Keys(t.Context())
	list, listErr := store.Subscriptions(t.Context(), owner)
	if err := errors.Join(keysErr, listErr); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, hooks{keys, list}); diff != "" {
		t.Error(diff)
	}
}

func (d deployment) resealHooks(t *testing.T, k *sealed.Keys) (int, error) {
	return sealed.ResealWebhooks(t.Context(), d.db, d.db.Webhooks(), d.db.AllSubscriptions(t.Context()), k)
}

// After a rotation all secrets of webhooks are sealed with the new key, and open without the old one. The error of
// a missing key names the record.
func TestResealWebhooks(t *testing.T) {
	d := newDeployment(t)
	a, b := newKey(), newKey()
	onlyA, both, onlyB := keys(t, a), keys(t, b, a), keys(t, b)
	var all hooks
	for i := range 300 {
		all.Subscriptions = append(all.Subscriptions, subscription(fmt.Sprint("s", i)))
	}
	all.Keys = []delivery.SigningKey{signingKey(1), signingKey(2), signingKey(3)}
	d.add(t, sealed.Webhooks(d.db.Webhooks(), onlyA), all.Keys[0], all.Subscriptions[:298]...)
	d.add(t, sealed.Webhooks(d.db.Webhooks(), onlyA), all.Keys[1], all.Subscriptions[298])
	d.add(t, sealed.Webhooks(d.db.Webhooks(), both), all.Keys[2], all.Subscriptions[299])
	d.wantHooks(t, both, all)

	if _, err := d.resealHooks(t, onlyB); !errors.Is(err, sealed.ErrKey) || !strings.Contains(err.Error(), "(webhook key 1)") {
		t.Errorf("without the old key: %v", err)
	}
	for _, want := range []int{301, 0} {
		if n, err := d.resealHooks(t, both); n != want || err != nil {
			t.Errorf("%d were sealed, want %d: %v", n, want, err)
		}
	}
	d.wantHooks(t, onlyB, all)

	lost := sealed.Webhooks(d.db.Webhooks(), onlyA)
	_, one := lost.Subscription(t.Context(), "s7")
	list, err := lost.Subscriptions(t.Context(), owner)
	if err != nil || len(list) != len(all.Subscriptions) || list[7].ID != "s7" || list[7].Secret != nil {
		t.Errorf("%d subscriptions without their secrets, %v", len(list), err)
	}
	_, signing := lost.Keys(t.Context())
	for want, err := range map[string]error{"(webhook subscription s7)": one, "(webhook key 1)": signing} {
		if !errors.Is(err, sealed.ErrKey) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("with the old key: %v, want %s", err, want)
		}
	}
	d.db.Close()
	if _, err := d.resealHooks(t, onlyB); err == nil {
		t.Error("ResealWebhooks of a closed store returned no error")
	}
}

// A secret opens in its own record only.
func TestWebhookSecretsAreBoundToTheirRecord(t *testing.T) {
	d, k := newDeployment(t), keys(t, newKey())
	store := sealed.Webhooks(d.db.Webhooks(), k)
	d.add(t, store, signingKey(1), subscription("s"))
	stored, err := d.db.Webhooks().Subscription(t.Context(), "s")
	signing, keyErr := d.db.Webhooks().Keys(t.Context())
	if err := errors.Join(err, keyErr); err != nil {
		t.Fatal(err)
	}
	stored.ID, signing[0].Number = "other", 2
	d.add(t, d.db.Webhooks(), signing[0], stored)
	_, err = store.Subscription(t.Context(), "other")
	_, keyErr = store.Keys(t.Context())
	for _, err := range []error{err, keyErr} {
		if !errors.Is(err, sealed.ErrDamaged) {
			t.Errorf("in another record: %v", err)
		}
	}
}
