package sealed_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync"
	"testing"

	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// records are the stores of a backend that have secrets.
type records interface {
	storage.Transactor
	Requests() signing.Store
	Sandbox() sandbox.Store
	Webhooks() delivery.Store
	Processes() portal.Store
	Pages() storage.Records
	AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error]
	AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error]
	AllUnopened(ctx context.Context) iter.Seq2[portal.Process, error]
}

// reported collects the errors that stores report.
type reported struct {
	mu   sync.Mutex
	errs []error
}

func (r *reported) add(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

func (r *reported) take() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() { r.errs = nil }()
	return errors.Join(r.errs...)
}

// Stores refuse a secret that was stored without sealing, and report the record.
func TestPlainSecretsAreRefused(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) records{
		"bolt": func(t *testing.T) records { return newDeployment(t).db },
		"postgres": func(t *testing.T) records {
			url := postgrestest.Database(t)
			if _, _, err := postgres.Migrate(t.Context(), url, postgres.Options{}); err != nil {
				t.Fatal(err)
			}
			db, err := postgres.Open(t.Context(), url, postgres.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { db.Close() })
			return db
		},
	} {
		t.Run(name, func(t *testing.T) { refusesPlain(t, open(t)) })
	}
}

func refusesPlain(t *testing.T, db records) {
	var seen reported
	k := keys(t, newKey()).WithReport(seen.add)
	hook, hookKey, asked, user := subscription("s"), signingKey(1), request("r", signing.Waiting, []byte("chosen")), sandbox.User{ID: "u", Account: owner, Key: []byte("chosen")}
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		return errors.Join(
			db.Sandbox().CreateUser(ctx, user),
			db.Sandbox().SaveAuthority(ctx, []byte("chosen")),
			db.Requests().CreateRequest(ctx, asked),
			db.Requests().KeepCertificate(ctx, signing.KeptCertificate{Person: "0123456789abcdef", Certificate: []byte("chosen"), Expires: expires}),
			db.Webhooks().CreateSubscription(ctx, hook, 1),
			db.Webhooks().CreateKey(ctx, hookKey),
			db.Processes().CreateProcess(ctx, newProcess("p")),
			db.Pages().PutRecord(ctx, storage.Record{Key: []byte{0xab, 0xcd}, Value: []byte("chosen"), Expires: expires}),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]struct {
		do   func(ctx context.Context) (secret []byte, err error)
		want error // nil: the record is returned without its secret
	}{
		"(sandbox user u)": {func(ctx context.Context) ([]byte, error) {
			u, err := sealed.Sandbox(db.Sandbox(), k).User(ctx, owner, "u")
			return u.Key, err
		}, sealed.ErrPlain},
		"(sandbox authority)": {func(ctx context.Context) ([]byte, error) {
			return sealed.Sandbox(db.Sandbox(), k).Authority(ctx)
		}, sealed.ErrPlain},
		"(signing request r)": {func(ctx context.Context) ([]byte, error) {
			r, err := sealed.Requests(db.Requests(), k).Request(ctx, "r")
			return r.State.Secret, err
		}, sealed.ErrPlain},
		"(kept certificate 01234567)": {func(ctx context.Context) ([]byte, error) {
			c, err := sealed.Requests(db.Requests(), k).KeptCertificate(ctx, "0123456789abcdef")
			return c.Certificate, err
		}, storage.ErrNotFound},
		"(webhook subscription s)": {func(ctx context.Context) ([]byte, error) {
			s, err := sealed.Webhooks(db.Webhooks(), k).Subscription(ctx, "s")
			return s.Secret, err
		}, sealed.ErrPlain},
		"(webhook key 1)": {func(ctx context.Context) ([]byte, error) {
			list, err := sealed.Webhooks(db.Webhooks(), k).Keys(ctx)
			if len(list) == 0 {
				return nil, err
			}
			return list[0].Private, err
		}, sealed.ErrPlain},
		"(link of a process p/p-1)": {func(ctx context.Context) ([]byte, error) {
			p, err := sealed.Processes(db.Processes(), k).Process(ctx, "p")
			return p.Participants[1].Link.Token, err
		}, nil},
		"(record of the signing page abcd)": {func(ctx context.Context) ([]byte, error) {
			r, err := sealed.Pages(db.Pages(), k).Record(ctx, []byte{0xab, 0xcd})
			return r.Value, err
		}, storage.ErrNotFound},
	} {
		secret, err := read.do(t.Context())
		if len(secret) > 0 || !errors.Is(err, read.want) {
			t.Errorf("%s: %q, %v, want %v", name, secret, err, read.want)
		}
		if err := seen.take(); !errors.Is(err, sealed.ErrPlain) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: reported %v", name, err)
		}
	}
	// Lists return records without the secrets, and report them too.
	hooks, err := sealed.Webhooks(db.Webhooks(), k).Subscriptions(t.Context(), owner)
	if err != nil || len(hooks) != 1 || len(hooks[0].Secret) > 0 || !errors.Is(seen.take(), sealed.ErrPlain) {
		t.Errorf("subscriptions: %+v, %v", hooks, err)
	}
	requests, err := sealed.Requests(db.Requests(), k).RequestsBefore(t.Context(), asked.CreatedAt.AddDate(1, 0, 0), 1)
	if err != nil || len(requests) != 1 || len(requests[0].State.Secret) > 0 || !errors.Is(seen.take(), sealed.ErrPlain) {
		t.Errorf("requests: %+v, %v", requests, err)
	}
	refusesToReseal(t, db, k, &seen)
}

// refusesToReseal checks that resealing seals no plain value. One such record does not stop the server; that of the whole
// service does.
func refusesToReseal(t *testing.T, db records, k *sealed.Keys, seen *reported) {
	for name, reseal := range map[string]struct {
		do   func(ctx context.Context) (int, error)
		want error
	}{
		"authority": {func(ctx context.Context) (int, error) {
			return sealed.Reseal(ctx, db, db.Sandbox(), k, nil)
		}, sealed.ErrPlain},
		"certificates": {func(ctx context.Context) (int, error) {
			return sealed.ResealCertificates(ctx, db, db.Requests(), db.AllCertificates(ctx), k)
		}, nil},
		"webhook keys": {func(ctx context.Context) (int, error) {
			return sealed.ResealWebhooks(ctx, db, db.Webhooks(), db.AllSubscriptions(ctx), k)
		}, sealed.ErrPlain},
		"processes": {func(ctx context.Context) (int, error) {
			return sealed.ResealProcesses(ctx, db, db.Processes(), db.AllUnopened(ctx), k)
		}, nil},
	} {
		n, err := reseal.do(t.Context())
		if n != 0 || !errors.Is(err, reseal.want) || (err == nil) != (reseal.want == nil) {
			t.Errorf("resealing %s: %d, %v, want %v", name, n, err, reseal.want)
		}
		if err := seen.take(); !errors.Is(err, sealed.ErrPlain) {
			t.Errorf("resealing %s: reported %v", name, err)
		}
	}
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		return errors.Join(
			db.Webhooks().DeleteKey(ctx, 1),
			sealed.Sandbox(db.Sandbox(), k).UpdateAuthority(ctx, []byte("authority")),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := sealed.ResealWebhooks(t.Context(), db, db.Webhooks(), db.AllSubscriptions(t.Context()), k)
	if n != 0 || err != nil || !errors.Is(seen.take(), sealed.ErrPlain) {
		t.Errorf("resealing subscriptions: %d, %v", n, err)
	}
	n, err = sealed.Reseal(t.Context(), db, db.Sandbox(), k, []string{owner})
	if n != 0 || err != nil || !errors.Is(seen.take(), sealed.ErrPlain) {
		t.Errorf("resealing users: %d, %v", n, err)
	}
}
