package evidence_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/evidence"
)

var base = time.Date(2026, 3, 1, 12, 30, 15, 123456000, time.UTC)

// open returns an empty log, and a chain over it whose clock stands still.
func open(t testing.TB) (*bolt.DB, evidence.Chain) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db, evidence.Chain{Log: db.EvidenceLog(), Tx: db, Clock: func(context.Context) time.Time { return base }}
}

func record(t testing.TB, db *bolt.DB, subject string, n int) {
	t.Helper()
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		for i := range n {
			e := storage.Entry{Subject: subject, Account: "a", Kind: "signature.asked", At: base.Add(time.Duration(i)), Facts: json.RawMessage(fmt.Sprintf(`{"n":%d, "text":"<þ>"}`, i))}
			if err := db.EvidenceLog().Record(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func token(_ context.Context, sum []byte) ([]byte, error) { return sum, nil }

// verified fails the test unless a log is as it was recorded.
func verified(t testing.TB, db *bolt.DB) evidence.Result {
	t.Helper()
	result, err := evidence.Verify(evidence.Export(t.Context(), db.EvidenceLog()), evidence.Options{})
	if err != nil || result.First != nil {
		t.Fatalf("%+v, %v, %v", result, result.First, err)
	}
	return result
}

var errCrash = errors.New("crash")

// crashing is a store whose calls fail from one of them on. The last call that is made may be that of a commit, which then
// succeeds or does not.
type crashing struct {
	storage.EvidenceLog
	tx    storage.Transactor
	calls *int // that are left
}

func (c crashing) crashed() error {
	if *c.calls--; *c.calls < 0 {
		return errCrash
	}
	return nil
}

func (c crashing) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if err := c.crashed(); err != nil {
		return err
	}
	err := c.tx.InTx(ctx, func(ctx context.Context) error { return errors.Join(fn(ctx), c.crashed()) })
	return errors.Join(err, c.crashed())
}

func (c crashing) Record(ctx context.Context, entries ...storage.Entry) error {
	return errors.Join(c.crashed(), c.EvidenceLog.Record(ctx, entries...))
}

func (c crashing) EntriesAfter(ctx context.Context, seq int64, limit int) ([]storage.Entry, error) {
	entries, err := c.EvidenceLog.EntriesAfter(ctx, seq, limit)
	return entries, errors.Join(err, c.crashed())
}

func (c crashing) AddBatch(ctx context.Context, b storage.Batch, salts [][]byte) error {
	return errors.Join(c.EvidenceLog.AddBatch(ctx, b, salts), c.crashed())
}

func (c crashing) DeleteEntries(ctx context.Context, seqs ...int64) error {
	return errors.Join(c.EvidenceLog.DeleteEntries(ctx, seqs...), c.crashed())
}

func (c crashing) DeleteBatch(ctx context.Context, number int64) error {
	return errors.Join(c.EvidenceLog.DeleteBatch(ctx, number), c.crashed())
}

// A crash between any two steps leaves a log that verifies, and the next calls do the rest.
func TestCrashes(t *testing.T) {
	steps := func(c evidence.Chain) error {
		state, err := c.Extend(context.Background(), evidence.State{})
		if err == nil {
			_, err = c.Checkpoint(context.Background(), state, 0, token)
		}
		if err == nil {
			_, err = c.Erase(context.Background(), "erased")
		}
		if err == nil {
			_, err = c.Prune(context.Background(), base.Add(time.Hour), 0)
		}
		return err
	}
	crashes := 0
	for calls := 0; ; calls++ {
		db, chain := open(t)
		for range 3 {
			record(t, db, "kept", 1001)
			record(t, db, "erased", 2)
		}
		left := calls
		store := crashing{db.EvidenceLog(), db, &left}
		err := steps(evidence.Chain{Log: store, Tx: store, Clock: chain.Clock})
		verified(t, db)
		if err == nil {
			break
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
		crashes++
		if err := steps(chain); err != nil {
			t.Fatal(err)
		}
		if entries, err := db.EvidenceLog().Entries(t.Context(), "erased"); err != nil || len(entries) > 0 {
			t.Errorf("after a crash at call %d: %d entries are not erased, %v", calls, len(entries), err)
		}
		result := verified(t, db)
		if result.Unchained > 0 || result.Pruned == 0 || result.Entries > 3 {
			t.Errorf("after a crash at call %d: %+v", calls, result)
		}
		db.Close()
	}
	if crashes < 20 {
		t.Errorf("only %d crashes: the test sees too little", crashes)
	}
}

// An idle log gets no second checkpoint, and a busy one gets them no more often than asked for.
func TestCheckpointsAreOfWhatIsNew(t *testing.T) {
	db, chain := open(t)
	now := base
	chain.Clock = func(context.Context) time.Time { return now }
	for i, step := range []struct {
		entries int
		pass    time.Duration
		want    bool
	}{{0, 0, false}, {1, 0, true}, {0, 2 * time.Hour, false}, {1, 0, true}, {1, time.Minute, false}, {0, time.Hour, true}, {0, 5 * time.Hour, false}} {
		now = now.Add(step.pass)
		record(t, db, "s", step.entries)
		state, err := chain.Extend(t.Context(), evidence.State{})
		if err != nil {
			t.Fatal(err)
		}
		if done, err := chain.Checkpoint(t.Context(), state, time.Hour, token); done != step.want || err != nil {
			t.Errorf("step %d: %v, %v", i, done, err)
		}
	}
	down := errors.New("the authority is down")
	record(t, db, "s", 1)
	state, err := chain.Extend(t.Context(), evidence.State{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = chain.Checkpoint(t.Context(), state, 0, func(context.Context, []byte) ([]byte, error) { return nil, down })
	if !errors.Is(err, down) {
		t.Error(err)
	}
	verified(t, db)
}

// written returns the lines of records.
func written(t testing.TB, records func(func(evidence.Record, error) bool)) []byte {
	t.Helper()
	var out bytes.Buffer
	for r, err := range records {
		if err == nil {
			err = evidence.WriteRecord(&out, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

// A file has the same records as the log, and a change of any of its lines is found.
func TestExportedLines(t *testing.T) {
	db, chain := open(t)
	for range 3 {
		record(t, db, "one", 2)
		record(t, db, "other", 2)
		state, err := chain.Extend(t.Context(), evidence.State{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := chain.Checkpoint(t.Context(), state, 0, token); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := chain.Extend(t.Context(), evidence.State{}); err != nil {
		t.Fatal(err)
	}
	whole := written(t, evidence.Export(t.Context(), db.EvidenceLog()))
	checkpoints := map[string]int64{"the log": 3, "one subject": 1} // the last one, over all
	for name, file := range map[string][]byte{"the log": whole, "one subject": written(t, evidence.ExportSubject(t.Context(), db.EvidenceLog(), "one"))} {
		result, err := evidence.Verify(evidence.ReadRecords(bytes.NewReader(file)), evidence.Options{})
		if err != nil || result.First != nil || result.Partial != (name == "one subject") || result.Checkpoints != checkpoints[name] {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
		if again := written(t, evidence.ReadRecords(bytes.NewReader(file))); !bytes.Equal(again, file) {
			t.Errorf("%s is read as something else: %s", name, cmp.Diff(string(file), string(again)))
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(file), "\n"), "\n")
		for i, line := range lines {
			for _, edit := range []string{strings.Replace(line, "1", "2", 1), strings.Replace(line, `"`, ` "`, 1), "", line + line} {
				if edit == "" && (name == "one subject" || i == len(lines)-1) {
					continue // what was left out cannot be missed
				}
				changed := strings.Join(lines[:i], "") + edit + strings.Join(lines[i+1:], "")
				result, err := evidence.Verify(evidence.ReadRecords(strings.NewReader(changed)), evidence.Options{})
				if err == nil && result.First == nil {
					t.Errorf("%s: line %d as %q was not found", name, i+1, edit)
				}
			}
		}
	}
}

// The program in docs/reference/evidence.md, which knows the format from that page alone, verifies an export, and finds a
// change.
func TestTheProgramInTheHandbook(t *testing.T) {
	db, chain := open(t)
	record(t, db, "one", 3)
	state, err := chain.Extend(t.Context(), evidence.State{})
	if err != nil {
		t.Fatal(err)
	}
	record(t, db, "other", 2)
	if state, err = chain.Extend(t.Context(), state); err != nil {
		t.Fatal(err)
	}
	program := testenv.Blocks(t, "docs/reference/evidence.md", "python")[0]
	export := written(t, evidence.Export(t.Context(), db.EvidenceLog()))
	for _, test := range []struct {
		file []byte
		want string
	}{
		{export, fmt.Sprintf("digests and heads are right up to head %x", state.Head.Sum)},
		{bytes.Replace(export, []byte("signature.asked"), []byte("signature.made"), 1), "AssertionError: entry 1"},
		{bytes.Replace(export, []byte(`"total":5`), []byte(`"total":6`), 1), "AssertionError: batch 2"},
	} {
		path := filepath.Join(t.TempDir(), "evidence.jsonl")
		if err := os.WriteFile(path, test.file, 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(testenv.Program(t, "python3"), "-c", program, path).CombinedOutput()
		if !strings.Contains(string(out), test.want) {
			t.Errorf("it says %s, want %s", out, test.want)
		}
	}
}

// FuzzReadRecords reads files as no export is, and verifies them.
func FuzzReadRecords(f *testing.F) {
	db, chain := open(f)
	record(f, db, "one", 2)
	if _, err := chain.Extend(f.Context(), evidence.State{}); err != nil {
		f.Fatal(err)
	}
	f.Add(written(f, evidence.Export(f.Context(), db.EvidenceLog())))
	f.Add([]byte(`{"batch":-1,"entries":[{"seq":1,"digest":""}]}`))
	f.Add([]byte(`{"seq":9223372036854775807,"facts":{},"salt":"00"}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		result, err := evidence.Verify(evidence.ReadRecords(bytes.NewReader(file)), evidence.Options{})
		if err == nil && result.Entries > int64(bytes.Count(file, []byte("\n"))+1) {
			t.Errorf("more entries than lines: %+v", result)
		}
	})
}

// BenchmarkVerify verifies a log of 100,000 entries, which has to take less than 5 seconds.
func BenchmarkVerify(b *testing.B) {
	db, chain := open(b)
	for i := range 100 {
		record(b, db, fmt.Sprint(i), 1000)
	}
	if _, err := chain.Extend(b.Context(), evidence.State{}); err != nil {
		b.Fatal(err)
	}
	file := written(b, evidence.Export(b.Context(), db.EvidenceLog()))
	for name, records := range map[string]func() func(func(evidence.Record, error) bool){
		"store": func() func(func(evidence.Record, error) bool) { return evidence.Export(b.Context(), db.EvidenceLog()) },
		"file":  func() func(func(evidence.Record, error) bool) { return evidence.ReadRecords(bytes.NewReader(file)) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				result, err := evidence.Verify(records(), evidence.Options{})
				if err != nil || result.First != nil || result.Entries != 100_000 {
					b.Fatalf("%+v, %v", result, err)
				}
			}
			if each := b.Elapsed() / time.Duration(b.N); each > 5*time.Second {
				b.Errorf("verifying 100,000 entries took %v", each)
			}
		})
	}
}
