package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// spec 5.1
func TestCreate(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s, err := h.hooks.Create(h.Context(), account, endpoint, []string{signed, completed, signed})
		if err != nil {
			h.Fatal(err)
		}
		now := time.Now().UTC()
		want := delivery.Subscription{
			ID: s.ID, Account: account, URL: endpoint, EventTypes: []string{signed, completed},
			CreatedAt: now, UpdatedAt: now, Secret: s.Secret,
		}
		if diff := cmp.Diff(want, s); diff != "" {
			h.Errorf("(-want +got):\n%s", diff)
		}
		if other := h.created(signed); len(s.Secret) != 32 || cmp.Equal(other.Secret, s.Secret) || other.ID == s.ID {
			h.Errorf("secrets are %d bytes; those of two: %v", len(s.Secret), cmp.Equal(other.Secret, s.Secret))
		}
		h.emit(account, signed)
		h.mustBeWatched(s, false)
		if len(h.sent(s, signed)) > 0 {
			h.Error("it got an event before it was active")
		}
	})
}

// spec 5.1: the error names all faults.
func TestInvalid(t *testing.T) {
	t.Parallel()
	bad, long := "http://hooks.example.com/", "https://hooks.example.com/"
	for len(long) <= 512 {
		long += "x"
	}
	for name, test := range map[string]struct {
		url   string
		types []string
		want  []string // fields
	}{
		"right":       {endpoint, []string{declined}, nil},
		"no types":    {endpoint, nil, []string{"eventTypes"}},
		"a ping":      {endpoint, []string{signed, webhook.PingType}, []string{"eventTypes[1]"}},
		"not https":   {bad, []string{signed}, []string{"url"}},
		"too long":    {long, []string{signed}, []string{"url"}},
		"all of this": {bad, []string{"", signed, "PROCESS.COMPLETED"}, []string{"url", "eventTypes[0]", "eventTypes[2]"}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, delivery.Options{}, func(h *harness) {
				_, err := h.hooks.Create(h.Context(), account, test.url, test.types)
				if (err == nil) != (test.want == nil) {
					h.Errorf("create: %v", err)
				}
				if diff := cmp.Diff(test.want, fields(err)); diff != "" {
					h.Errorf("create (-want +got):\n%s", diff)
				}
				before := h.created(signed)
				types := append([]string{}, test.types...)
				_, err = h.hooks.Update(h.Context(), account, before.ID, delivery.Change{URL: &test.url, EventTypes: types})
				if diff := cmp.Diff(test.want, fields(err)); diff != "" {
					h.Errorf("update (-want +got):\n%s", diff)
				}
				if test.want != nil && !cmp.Equal(before, h.now(before)) {
					h.Errorf("after a refusal it is %+v", h.now(before))
				}
			})
		})
	}
}

// fields returns the fields in an error.
func fields(err error) (list []string) {
	var invalid *delivery.InvalidError
	if !errors.As(err, &invalid) {
		return nil
	}
	for _, f := range invalid.Faults {
		if f.Message == "" {
			list = append(list, "nothing is said of:")
		}
		list = append(list, f.Field)
	}
	return list
}

func TestTooMany(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{MaxSubscriptions: 2}, func(h *harness) {
		first := h.created(signed)
		h.created(signed)
		if _, err := h.hooks.Create(h.Context(), account, endpoint, []string{signed}); !errors.Is(err, delivery.ErrTooMany) {
			h.Errorf("a third: %v", err)
		}
		if _, err := h.hooks.Create(h.Context(), "another account", endpoint, []string{signed}); err != nil {
			h.Errorf("another account's: %v", err)
		}
		if err := h.hooks.Delete(h.Context(), account, first.ID); err != nil {
			h.Fatal(err)
		}
		h.created(signed)
	})
}

// spec 5.1: only Activate makes a subscription active, and a change is made as a whole or not at all.
func TestUpdateDoesNotActivate(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		on, url := true, "https://hooks.example.com/new"
		for _, s := range []delivery.Subscription{h.created(signed), h.activated()} {
			if _, err := h.hooks.Update(h.Context(), account, s.ID, delivery.Change{URL: &url, Active: &on}); err != delivery.ErrActivate {
				h.Errorf("%v", err)
			}
			if diff := cmp.Diff(s, h.now(s)); diff != "" {
				h.Errorf("it changed (-want +got):\n%s", diff)
			}
		}
	})
}

func TestDelete(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		s := h.activated()
		if err := h.hooks.Delete(h.Context(), account, s.ID); err != nil {
			h.Fatal(err)
		}
		if err := h.hooks.Delete(h.Context(), account, s.ID); err != delivery.ErrNotFound {
			h.Errorf("twice: %v", err)
		}
		h.emit(account, signed)
		h.mustBeWatched(s, false)
	})
}

func TestSubscriptionsAreInOrder(t *testing.T) {
	t.Parallel()
	bubble(t, delivery.Options{}, func(h *harness) {
		var want []delivery.Subscription
		for i := range 5 {
			time.Sleep(time.Second)
			s, err := h.hooks.Create(h.Context(), account, fmt.Sprintf("%s/%d", endpoint, i), []string{signed})
			if err != nil {
				h.Fatal(err)
			}
			want = append(want, s)
		}
		got, err := h.hooks.Subscriptions(context.Background(), account)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			h.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if none, err := h.hooks.Subscriptions(h.Context(), "another account"); len(none) > 0 || err != nil {
			h.Errorf("another account has %v, %v", none, err)
		}
	})
}
