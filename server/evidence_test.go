package server

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
)

// down is a timestamp authority that does not answer until it is up.
type down struct{ up ades.Timestamper }

func (d *down) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	if d.up == nil {
		return nil, errors.New("the authority is down")
	}
	return d.up.Timestamp(ctx, h, sum)
}

// A server chains what is recorded, and has it timestamped when the authority answers; its log has the head either way.
func TestEvidenceIsChainedAndTimestamped(t *testing.T) {
	var log bytes.Buffer
	authority := &down{}
	s, db := newServer(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.Sources = func() ades.Sources { return ades.Sources{Time: authority} }
	})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.RootPEM())
	verify := func(roots *x509.CertPool, head *evidence.Head) evidence.Result {
		t.Helper()
		result, err := operator.VerifyEvidence(evidence.Export(t.Context(), db.EvidenceLog()), head, roots, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	record := func() {
		t.Helper()
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			return db.EvidenceLog().Record(ctx, storage.Entry{Subject: "request", Kind: "signature.asked", At: time.Now(), Facts: json.RawMessage(`{"kennitala":"0101302989"}`)})
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	record()
	s.evidence.tick(t.Context())
	if r := verify(roots, nil); r.First != nil || r.Entries != 1 || r.Checkpoints != 0 {
		t.Errorf("while the authority is down: %+v", r)
	}
	for _, want := range []string{"checkpoint of the evidence log postponed", "the authority is down", `"evidence log chained" entries=1 head=1:`, "timestamped=false"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q: %s", want, &log)
		}
	}
	authority.up = s.people.authority.Sources().Time
	record()
	s.evidence.stop(t.Context())
	_, logged, _ := strings.Cut(log.String(), "entries=2 head=")
	logged, _, _ = strings.Cut(logged, " ")
	head, err := evidence.ParseHead(logged)
	if err != nil {
		t.Fatalf("%v in %s", err, &log)
	}
	if r := verify(roots, &head); r.First != nil || r.Entries != 3 || r.Unchained != 0 || r.Checkpoints != 1 || r.TimestampedBatch != 2 || r.Timestamped.IsZero() {
		t.Errorf("with the authority: %+v, %v", r, r.First)
	}
	if r := verify(nil, nil); r.First != nil || r.Checkpoints != 1 {
		t.Errorf("without roots: %+v, %v", r, r.First)
	}
	if r := verify(x509.NewCertPool(), nil); r.First == nil {
		t.Error("with other roots no checkpoint is wrong")
	}
	head.Sum[0] ^= 1
	if r := verify(nil, &head); r.First == nil {
		t.Error("another head is in the chain")
	}
	if strings.Contains(log.String(), "0101302989") {
		t.Error("the log has a kennitala")
	}
}

// forbidden is a log from which the server may not delete.
type forbidden struct{ Backend }

func (f forbidden) EvidenceLog() storage.EvidenceLog { return forbiddenLog{f.Backend.EvidenceLog()} }

type forbiddenLog struct{ storage.EvidenceLog }

func (forbiddenLog) DeleteBatch(context.Context, int64) error { return storage.ErrNotPermitted }

// A server whose role may not delete evidence says once a day that entries are due, and changes nothing.
func TestPruningThatIsNotPermitted(t *testing.T) {
	var log bytes.Buffer
	s, db := newServer(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) {
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		c.Backend = forbidden{c.Backend}
	})
	old := storage.Entry{Subject: "request", Kind: "signature.asked", At: time.Now().AddDate(-10, 0, -1), Facts: json.RawMessage(`{}`)}
	if err := db.InTx(t.Context(), func(ctx context.Context) error { return db.EvidenceLog().Record(ctx, old) }); err != nil {
		t.Fatal(err)
	}
	s.cleanup(t.Context())
	s.cleanup(t.Context())
	if n := strings.Count(log.String(), "run innsigli evidence prune"); n != 1 || strings.Contains(log.String(), "cleanup failed") {
		t.Errorf("said %d times: %s", n, &log)
	}
	if entries, err := db.EvidenceLog().EntriesAfter(t.Context(), 0, 10); err != nil || len(entries) != 1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}
