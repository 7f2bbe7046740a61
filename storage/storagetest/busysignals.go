package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/storage"
)

var busySignals = recordType[busysignal.Signal]{
	examples: goldenSignals(),
	changed: func(s busysignal.Signal) busysignal.Signal {
		user := "Jón ünd 漢字 \" \\"
		s.UsedAt, s.Holder = after(1), &busysignal.Holder{ID: id("request"), UserID: &user, Since: base}
		return s
	},
	others: withOtherIDs("s", func(s *busysignal.Signal, id string) { s.ID = id }),
	get: func(ctx context.Context, b Backend, s busysignal.Signal) (busysignal.Signal, error) {
		return b.BusySignals.Signal(ctx, s.ID)
	},
	add: func(ctx context.Context, b Backend, s busysignal.Signal) error {
		return b.BusySignals.AddSignal(ctx, s)
	},
	update: func(ctx context.Context, b Backend, s busysignal.Signal) error {
		return b.BusySignals.UpdateSignal(ctx, s)
	},
	remove: func(ctx context.Context, b Backend, s busysignal.Signal) error {
		return b.BusySignals.DeleteSignal(ctx, s.ID)
	},
	unknown: storage.ErrNotFound,
}.and(tests{
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
})
