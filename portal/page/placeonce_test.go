package page

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// begun is what several do at once that is to be done once.
type begun struct {
	s     *scene
	takes time.Duration
	err   error // of the first
	done  int
	asked int // whether it may be done
}

func (b *begun) may(context.Context) error {
	b.asked++
	return nil
}

func (b *begun) do(context.Context) (string, error) {
	b.done++
	time.Sleep(b.takes) // time: in bubbles alone
	err := b.err
	b.err = nil
	return "/sign/there", err
}

func (b *begun) once(ctx context.Context) (string, error) {
	return b.s.page.once(ctx, recordKey("test", "one"), b.may, b.do)
}

func inBubble(t *testing.T, test func(t *testing.T, b *begun)) {
	synctest.Test(t, func(t *testing.T) { test(t, &begun{s: newScene(t), takes: 2 * time.Second}) })
}

// Who comes while it is done, or soon after, goes where it led.
func TestOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *begun) {
		for range 3 {
			go func() {
				if to, err := b.once(t.Context()); to != "/sign/there" || err != nil {
					t.Error(to, err)
				}
			}()
		}
		time.Sleep(b.takes + 2*oncePollInterval)
		synctest.Wait()
		if to, err := b.once(t.Context()); to != "/sign/there" || err != nil || b.done != 1 || b.asked != 1 {
			t.Error(to, err, b.done, b.asked)
		}
		time.Sleep(onceResultTime)
		if _, err := b.once(t.Context()); err != nil || b.done != 2 {
			t.Error(err, b.done)
		}
	})
}

// What has failed is done again by whoever waited for it.
func TestOnceAfterFailure(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *begun) {
		b.err = errors.New("failed")
		go func() {
			if _, err := b.once(t.Context()); err == nil {
				t.Error("no error")
			}
		}()
		time.Sleep(b.takes / 2)
		start := time.Now()
		if to, err := b.once(t.Context()); to != "/sign/there" || err != nil || b.done != 2 {
			t.Error(to, err, b.done)
		}
		if waited := time.Since(start); waited > 2*b.takes {
			t.Error(waited)
		}
	})
}

// The first click's request is given up by the browser at the second one, and what it began goes on.
func TestOnceWhenFirstHangsUp(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *begun) {
		ctx, cancel := context.WithCancel(t.Context())
		go b.once(ctx)
		time.Sleep(b.takes / 2)
		cancel()
		if to, err := b.once(t.Context()); to != "/sign/there" || err != nil || b.done != 1 {
			t.Error(to, err, b.done)
		}
		waiting, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.Sleep(onceResultTime)
		go b.once(t.Context())
		time.Sleep(oncePollInterval)
		if _, err := b.once(waiting); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		time.Sleep(b.takes)
	})
}

// A server that died while it did it does not keep others from it for long.
func TestOnceAfterCrash(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *begun) {
		key := recordKey("test", "one")
		b.s.must(b.s.db.InTx(t.Context(), func(ctx context.Context) error {
			return b.s.page.saveOnce(ctx, key, onceRecord{}, onceLease)
		}))
		start := time.Now()
		if to, err := b.once(t.Context()); to != "/sign/there" || err != nil || b.done != 1 {
			t.Error(to, err, b.done)
		}
		if waited := time.Since(start) - b.takes; waited < onceLease || waited > onceLease+time.Second {
			t.Error(waited)
		}
	})
}

// What may not be done is not begun, and keeps nobody from it.
func TestOnceMayNot(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, b *begun) {
		refuse := func(context.Context) error { return errRateLimited }
		if _, err := b.s.page.once(t.Context(), recordKey("test", "one"), refuse, b.do); !errors.Is(err, errRateLimited) {
			t.Error(err)
		}
		start := time.Now()
		if _, err := b.once(t.Context()); err != nil || b.done != 1 || time.Since(start) != b.takes {
			t.Error(err, b.done, time.Since(start))
		}
	})
}
