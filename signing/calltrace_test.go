//go:build failpoints

package signing_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// Each answer is traced once it is stored, and one that could not be stored is not.
func TestTraceOfAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	t.Setenv("INNSIGLI_TRACE", path)
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		tx := &shaky{Transactor: db, outing: outing{at: -1, err: storage.ErrUnavailable}}
		s := wired(t, db, db.Requests(), tx, p, signing.Options{IgnoreInterval: true})
		id := s.mustStart()
		answer := p.poll
		p.poll = func(state idp.State) (idp.State, idp.Event, error) { return state, nil, errors.New("no answer") }
		s.pending(id, "no answer")
		p.poll = func(state idp.State) (idp.State, idp.Event, error) {
			tx.until = time.Now().Add(35 * time.Second)
			return answer(state)
		}
		err := s.Poll(t.Context(), account, id, func(signing.Answer) error { return nil })
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Error(err)
		}
		time.Sleep(20 * time.Second)
		p.poll = answer
		s.checkSigned(s.poll(id).Document)
		p.begin = func() (idp.Event, error) { return idp.Failed{Failure: idp.Failure{Code: idp.UserNotFound}}, nil }
		_, _ = s.start() // refused
	})
	want := []string{
		"begin call", "begin return needdigest", "begin stored", "sign call", "sign return waiting", "sign stored",
		"poll call", "poll return error", "poll stored",
		"poll call", "poll return signed",
		"poll call", "poll return signed", "poll stored",
		"begin call", "begin return failed", "begin stored",
	}
	if diff := cmp.Diff(want, traced(t, path)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// traced is what a trace says without requests, processes and times.
func traced(t *testing.T, path string) (lines []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		field := strings.Fields(line)
		said := field[0] + " " + field[2]
		if field[2] == "return" {
			said += " " + field[4]
		}
		lines = append(lines, said)
	}
	return lines
}
