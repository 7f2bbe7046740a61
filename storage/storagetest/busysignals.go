package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/storage"
)

var busySignals = tests{
	"an unknown signal is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for _, unknown := range []string{"", "s", id("s"), "\x00"} {
			_, err := b.BusySignals.Signal(t.Context(), unknown)
			checkError(t, err, storage.ErrNotFound)
		}
		doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error {
			return b.BusySignals.UpdateSignal(ctx, exampleSignal("s"))
		})
	},

	"an ID exists once": func(t *testing.T, open func(*testing.T) Backend) {
		b, s := open(t), exampleSignal("s")
		do(t, b, func(ctx context.Context) error { return b.BusySignals.AddSignal(ctx, s) })
		again := s
		again.Account = id("another")
		doFailing(t, b, storage.ErrExists, func(ctx context.Context) error { return b.BusySignals.AddSignal(ctx, again) })
		got, err := b.BusySignals.Signal(t.Context(), s.ID)
		checkRead(t, got, err, s)
	},

	"a holder is stored with all fields": func(t *testing.T, open func(*testing.T) Backend) {
		user, empty := "Jón ünd 漢字 \" \\", ""
		for name, holder := range map[string]*busysignal.Holder{
			"none":               nil,
			"without a user":     {ID: id("request"), Since: base},
			"with a user":        {ID: id("request"), UserID: &user, Since: base},
			"with an empty user": {ID: id("request"), UserID: &empty, Since: base},
		} {
			t.Run(name, func(t *testing.T) {
				b, s := open(t), exampleSignal("s")
				do(t, b, func(ctx context.Context) error { return b.BusySignals.AddSignal(ctx, s) })
				s.Holder, s.UsedAt = holder, base.Add(time.Second)
				do(t, b, func(ctx context.Context) error { return b.BusySignals.UpdateSignal(ctx, s) })
				got, err := b.BusySignals.Signal(t.Context(), s.ID)
				checkRead(t, got, err, s)
			})
		}
	},

	"unused signals are deleted in batches": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for i, name := range []string{"0", "1", "2", "3"} {
			s := exampleSignal(name)
			s.UsedAt = base.Add(time.Duration(i) * time.Second)
			do(t, b, func(ctx context.Context) error { return b.BusySignals.AddSignal(ctx, s) })
		}
		used := exampleSignal("0") // used again since
		used.UsedAt = base.Add(time.Hour)
		do(t, b, func(ctx context.Context) error { return b.BusySignals.UpdateSignal(ctx, used) })

		for _, want := range []int{1, 1, 0} {
			deleted := -1
			do(t, b, func(ctx context.Context) (err error) {
				deleted, err = b.BusySignals.DeleteUnusedSignals(ctx, base.Add(2*time.Second), 1)
				return err
			})
			if deleted != want {
				t.Errorf("deleted %d, want %d", deleted, want)
			}
		}
		for name, want := range map[string]error{"0": nil, "1": storage.ErrNotFound, "2": storage.ErrNotFound, "3": nil} {
			_, err := b.BusySignals.Signal(t.Context(), id(name))
			checkError(t, err, want)
		}
	},
}
