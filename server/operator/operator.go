// Package operator is what the commands of a server's operator do: accounts, API clients and their secrets, signing
// processes, webhooks, the evidence log and backups.
//
// A [Service] works on a store that the program has open. A [Client] makes the same calls to a server that has the store
// open, over a socket that only the server's user can connect to: a bbolt file is locked by the process that has it.
package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Operator is implemented by *[Service] and *[Client].
type Operator interface {
	CreateAccount(ctx context.Context, name string) (account.Account, error)
	Accounts(ctx context.Context) ([]account.Account, error)
	SetPaymentMethod(ctx context.Context, account string, onFile bool) error
	SetQuota(ctx context.Context, account string, bytes int64) error
	SetAdmins(ctx context.Context, account string, addresses []string) error
	// Statement returns what an account owes for the month in which the time is.
	Statement(ctx context.Context, account string, month time.Time) (account.Statement, error)

	CreateClient(ctx context.Context, account, name string, scopes []string) (account.Client, string, error)
	Clients(ctx context.Context, account string) ([]account.Client, error)
	DeleteClient(ctx context.Context, id string) error
	Secrets(ctx context.Context, client string) ([]account.Secret, error)
	AddSecret(ctx context.Context, client string) (added account.Secret, value string, err error)
	RemoveSecret(ctx context.Context, client, secret string) error

	// Process returns a process of any account and origin as it is now.
	Process(ctx context.Context, id string) (Process, error)
	// ResendProcess makes the invitations of a process again, and returns how many. The links are
	// sealed with the first key of the file, or by the server.
	ResendProcess(ctx context.Context, masterKeyFile, id string) (int, error)
	// ProcessEvents calls each with the entries of the evidence log about a process and its
	// signing requests, in their order.
	ProcessEvents(ctx context.Context, id string, each func(storage.Entry) error) error

	// Subscriptions returns those of an account, without their secrets.
	Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error)
	// Attempts returns those of a subscription, the latest first and at most so many.
	Attempts(ctx context.Context, subscription string, most int) ([]delivery.Attempt, error)
	// Dropped returns the events that were given up for a subscription.
	Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error)
	// SendAgain has one of them sent again.
	SendAgain(ctx context.Context, subscription, event string) error
	// WebhookKeys returns the keys that sign now; none before a server has started on the store.
	WebhookKeys(ctx context.Context) ([]PublicKey, error)
	// SealedKeys returns all keys as the store has them: sealed with the master key.
	SealedKeys(ctx context.Context) ([]delivery.SigningKey, error)
	// RotateWebhookKey makes another key, beside which those before it sign for the time of the
	// overlap. It is sealed with the first key of the file, or by the server.
	RotateWebhookKey(ctx context.Context, masterKeyFile string, overlap time.Duration) error

	// Evidence calls each with the entries about a request, or with all when it is empty.
	Evidence(ctx context.Context, request string, each func(storage.Entry) error) error

	// Hold keeps documents that are deleted, until release is called, and returns the
	// folder in which they are; empty: they are in the store's file.
	Hold(ctx context.Context) (documents string, release func(), err error)
	// Backup writes the store's file as it is at this moment. It and Hold are for stores
	// that are a bbolt file; others have an error.
	Backup(ctx context.Context, w io.Writer) error
}

var (
	_ Operator = (*Service)(nil)
	_ Operator = (*Client)(nil)
)

// Store is what a Service needs of a store; *bolt.DB and *postgres.DB have it.
type Store interface {
	storage.Transactor
	Accounts() account.Store
	Processes() portal.Store
	Documents() storage.Documents
	Webhooks() delivery.Store
	Jobs() storage.Jobs
	EvidenceLog() storage.EvidenceLog
	Sandbox() sandbox.Store
}

// Options are what a Service has beside the store. The zero value is right for a program that has no server.
type Options struct {
	DocumentFolder string            // of a bbolt store; empty: documents are in its file
	Webhooks       *delivery.Service // the server's
	Processes      *portal.Service   // the server's
	// PaymentMethod says whether accounts that are created have a payment method, as those of a sandbox do (spec 6.5).
	// nil: they do in a store of tests, which is one with the authority that a sandbox makes at its first start. A
	// trial's store is one too, so that a server says what it is.
	PaymentMethod *bool
}

// Service is an Operator on a store that this program has open.
type Service struct {
	*account.Service
	store   Store
	options Options
}

// New returns a service on a store.
func New(store Store, o Options) *Service {
	return &Service{account.New(store.Accounts(), store, account.Options{}), store, o}
}

// CreateAccount implements [Operator].
func (s *Service) CreateAccount(ctx context.Context, name string) (account.Account, error) {
	paymentMethod, err := s.paymentMethod(ctx)
	if err != nil {
		return account.Account{}, err
	}
	return s.EnsureAccount(ctx, uuid.NewString(), name, paymentMethod)
}

// paymentMethod reports whether a new account has a payment method.
func (s *Service) paymentMethod(ctx context.Context) (bool, error) {
	if s.options.PaymentMethod != nil {
		return *s.options.PaymentMethod, nil
	}
	_, err := s.store.Sandbox().Authority(ctx)
	if errors.Is(err, storage.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// Statement implements [Operator].
func (s *Service) Statement(ctx context.Context, id string, month time.Time) (account.Statement, error) {
	found, err := s.Service.Statement(ctx, id, month)
	if errors.Is(err, account.ErrNotFound) {
		err = noAccount(id)
	}
	return found, err
}

func noAccount(id string) error { return fmt.Errorf("there is no account %q", id) }

// evidencePage is how many entries are in memory at once.
const evidencePage = 500

// Evidence implements [Operator].
func (s *Service) Evidence(ctx context.Context, request string, each func(storage.Entry) error) error {
	log := s.store.EvidenceLog()
	if request != "" {
		entries, err := log.Entries(ctx, request)
		if err != nil {
			return err
		}
		return eachOf(entries, each)
	}
	for seq := int64(0); ; {
		entries, err := log.EntriesAfter(ctx, seq, evidencePage)
		if err != nil || len(entries) == 0 {
			return err
		}
		if err := eachOf(entries, each); err != nil {
			return err
		}
		seq = entries[len(entries)-1].Seq
	}
}

func eachOf(entries []storage.Entry, each func(storage.Entry) error) error {
	for _, e := range entries {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// file is a store that is a bbolt file.
type file interface {
	Backup() (*bolt.Backup, error)
	HoldDeletions() (release func())
}

func (s *Service) file() (file, error) {
	if f, ok := s.store.(file); ok {
		return f, nil
	}
	return nil, errors.New("the store is no file: copy it with the tools of its database")
}

// Hold implements [Operator].
func (s *Service) Hold(context.Context) (documents string, release func(), err error) {
	f, err := s.file()
	if err == nil && s.options.DocumentFolder != "" { // the caller may have another working directory
		documents, err = filepath.Abs(s.options.DocumentFolder)
	}
	if err != nil {
		return "", nil, err
	}
	return documents, f.HoldDeletions(), nil
}

// Backup implements [Operator].
func (s *Service) Backup(_ context.Context, w io.Writer) error {
	return s.backup(w, func(int64) {})
}

// backup calls size with the number of bytes before it writes them.
func (s *Service) backup(w io.Writer, size func(bytes int64)) error {
	f, err := s.file()
	if err != nil {
		return err
	}
	b, err := f.Backup()
	if err != nil {
		return err
	}
	size(b.Size())
	_, err = b.WriteTo(w)
	return errors.Join(err, b.Close())
}
