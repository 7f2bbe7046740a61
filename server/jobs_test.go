package server

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/server/internal/notify"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
)

// unreadable is a payload that makes jobs of all kinds fail. What it names must not be shown.
const unreadable = `{"version":99,"request":"6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11","name":"Jón Jónsson","secret":"0101302989"}`

// A job of each kind that always fails is parked, with a line in the log for each attempt. An operator sees it, has it
// tried again, and drops it.
func TestJobsOfEachKindThatAlwaysFail(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		s, db := newServer(t, store, func(c *Config) { c.Log = slog.New(slog.NewJSONHandler(&log, nil)) })
		s.mailer = &notify.Mailer{Queue: s.queue}
		kinds := s.kinds()
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			var jobs []storage.Job
			for _, k := range kinds { // two attempts are left to each
				jobs = append(jobs, storage.Job{Kind: k.Name, Group: "g", Unique: "u", Due: time.Now(), Payload: []byte(unreadable), Failures: k.MaxAttempts - 2})
			}
			return db.Jobs().Enqueue(ctx, jobs...)
		})
		if err != nil {
			t.Fatal(err)
		}
		s.runFor(t, time.Hour)
		linesOfJobs(t, &log, map[string]int{"job failed": 2, "job parked: see innsigli job show": 1}, len(kinds))

		o := operator.New(db, operator.Options{})
		parked, err := o.Jobs(t.Context(), operator.JobFilter{State: storage.JobParked}, "")
		if err != nil || len(parked) != len(kinds) {
			t.Fatalf("%d jobs are parked, want %d; error %v", len(parked), len(kinds), err)
		}
		for _, j := range parked {
			if j.Attempts != 2 || j.LastError == "" || strings.ContainsAny(j.LastError, "ó\n") || strings.Contains(j.LastError, "0101302989") {
				t.Errorf("parked: %+v", j)
			}
			if diff := cmp.Diff([]string{"request=6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11"}, j.IDs); diff != "" || j.PayloadBytes != len(unreadable) {
				t.Errorf("%d bytes, IDs in the payload (-want +got):\n%s", j.PayloadBytes, diff)
			}
			if err := o.RetryJob(t.Context(), j.ID); err != nil {
				t.Error(err)
			}
		}
		s.runFor(t, time.Second)
		linesOfJobs(t, &log, map[string]int{"job failed": 1}, len(kinds))
		for _, j := range parked {
			now, err := o.Job(t.Context(), j.ID)
			if err != nil || now.State != storage.JobWaiting || now.Attempts != 3 || now.Failures != 1 {
				t.Errorf("after another attempt: %+v, error %v", now, err)
			}
			if err := o.DropJob(t.Context(), j.ID); err != nil {
				t.Error(err)
			}
		}
		if left, err := o.Jobs(t.Context(), operator.JobFilter{}, ""); err != nil || len(left) > 0 {
			t.Errorf("left: %v, error %v", left, err)
		}
	})
}

// runFor lets the server do jobs for so long.
func (s *Server) runFor(t *testing.T, long time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	if err := s.runner().Run(ctx); err != nil {
		t.Error(err)
	}
}

// linesOfJobs empties a log and fails the test unless it has so many lines of each message about each of so many jobs, whose kind,
// ID and failures they name, and nothing of what the jobs carry.
func linesOfJobs(t *testing.T, log *bytes.Buffer, want map[string]int, jobs int) {
	t.Helper()
	if text := log.String(); strings.Contains(text, "Jónsson") || strings.Contains(text, "0101302989") {
		t.Errorf("the log names people: %s", text)
	}
	lines := make(map[string]map[string]int) // by ID and message
	for decoder := json.NewDecoder(log); decoder.More(); {
		var line struct {
			Msg, Kind, Job string
			Failures       int
		}
		if err := decoder.Decode(&line); err != nil {
			t.Fatal(err)
		}
		if line.Kind == "" || line.Failures == 0 {
			t.Errorf("a line without a kind or a number: %+v", line)
		}
		if lines[line.Job] == nil {
			lines[line.Job] = make(map[string]int)
		}
		lines[line.Job][line.Msg]++
	}
	log.Reset()
	if len(lines) != jobs {
		t.Errorf("lines about %d jobs, want %d", len(lines), jobs)
	}
	for id, got := range lines {
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("lines about %s (-want +got):\n%s", id, diff)
		}
	}
}

// counting counts what a backend is asked: transactions, and reads of jobs outside of them.
type counting struct {
	Backend
	asked atomic.Int64
}

func (c *counting) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	c.asked.Add(1)
	return c.Backend.InTx(ctx, fn)
}

func (c *counting) Jobs() storage.Jobs { return countingJobs{c.Backend.Jobs(), c} }

type countingJobs struct {
	storage.Jobs
	*counting
}

func (c countingJobs) NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error) {
	c.asked.Add(1)
	return c.Jobs.NextDue(ctx, kinds...)
}

// An idle server asks its store less than once a second in all.
func TestIdleServer(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store.db")
	synctest.Test(t, func(t *testing.T) {
		var c *counting
		s, _ := newServer(t, store, func(config *Config) {
			c = &counting{Backend: config.Backend}
			config.Backend = c
		})
		const long = 10 * time.Minute
		ctx, cancel := context.WithTimeout(t.Context(), long)
		defer cancel()
		c.asked.Store(0)
		if err := s.Run(ctx); err != nil {
			t.Error(err)
		}
		asked := c.asked.Load()
		t.Logf("figure: an idle server asks its store %.2f times a second", float64(asked)/long.Seconds())
		if asked > int64(long/time.Second) || asked < 60 {
			t.Errorf("asked %d times in %v", asked, long)
		}
	})
}
