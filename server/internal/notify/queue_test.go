package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// mailboxes are a transport; what is known of an address is what becomes of mail to it.
type mailboxes struct {
	fault map[string]error
	mu    sync.Mutex
	tried []string
}

func (m *mailboxes) Send(_ context.Context, message mail.Message) error {
	to := strings.Join(message.To, " ")
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tried = append(m.tried, to)
	return m.fault[to]
}

// Each recipient gets a separate message: a mailbox that is gone does not affect the others, and one
// whose server is away gets it later, while the others get it once.
func TestMailToSeveral(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var log bytes.Buffer
		boxes := &mailboxes{fault: map[string]error{"gone": fmt.Errorf("%w: 550", mail.ErrRefused), "away": errors.New("not now")}}
		m := Queue{Tx: db, Jobs: db.Jobs(), Out: boxes, Log: slog.New(slog.NewTextHandler(&log, nil)), Evidence: db.EvidenceLog()}
		message := mail.Message{ID: "i", To: []string{"gone", "away", "there"}}
		for range 2 { // told again, because the first answer was lost
			if err := m.Enqueue(t.Context(), "account", message); err != nil {
				t.Fatal(err)
			}
		}
		work := func(long time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), long)
			defer cancel()
			r := queue.Runner{Jobs: db.Jobs(), Tx: db, Kinds: []queue.Kind{{Name: MessageKind, Do: m.Send}}}
			if err := r.Run(ctx); err != nil {
				t.Error(err)
			}
		}
		work(time.Minute)
		counted := func(to string) int {
			return len(slices.DeleteFunc(slices.Clone(boxes.tried), func(one string) bool { return one != to }))
		}
		if counted("gone") != 1 || counted("there") != 1 || counted("away") < 3 {
			t.Errorf("tried: %v", boxes.tried)
		}
		if strings.Count(log.String(), "message not sent") != 1 || strings.Contains(log.String(), "gone") {
			t.Errorf("the log: %s", &log)
		}
		boxes.fault["away"] = nil
		work(5 * time.Minute)
		before := len(boxes.tried)
		work(10 * time.Minute)
		if boxes.tried[before-1] != "away" || len(boxes.tried) != before {
			t.Errorf("tried: %v", boxes.tried)
		}

		// It is given up after five days.
		for since, given := range map[time.Duration]bool{giveUpAfter: false, giveUpAfter + time.Second: true} {
			boxes.fault["away"] = errors.New("not now")
			payload, err := json.Marshal(messageJob{messageVersion, mail.Message{ID: "i", To: []string{"away"}}, time.Now().Add(-since)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Send(t.Context(), storage.Job{Payload: payload}); (err == nil) != given {
				t.Errorf("after %v: %v", since, err)
			}
		}
	})
}
