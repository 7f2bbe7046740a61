// Package operator is what the commands of a server's operator do: accounts, API clients and their secrets, signing
// processes, signatures that could not be completed, webhooks, jobs, the evidence log and backups.
//
// A [Service] works on a store that the program has open. A [Client] makes the same calls to a server that has the store
// open, over a socket that only the server's user can connect to: a bbolt file is locked by the process that has it.
package operator

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Operator is implemented by *[Service] and *[Client].
type Operator interface {
	CreateAccount(ctx context.Context, name string) (account.Account, error)
	Accounts(ctx context.Context) ([]account.Account, error)
	SetPaymentMethod(ctx context.Context, account string, onFile bool) error
	SetQuota(ctx context.Context, account string, bytes int64) error
	SetAdmins(ctx context.Context, account string, addresses []string) error
	// SetDocuments sets what becomes of an account's documents with warnings.
	SetDocuments(ctx context.Context, account string, policy inspect.Policy) error
	// Statement returns what an account owes for the month in which the time is.
	Statement(ctx context.Context, account string, month time.Time) (account.Statement, error)

	// DeleteAccount deletes an account with all that belongs to it but the evidence log, or counts that. Unless the
	// options say otherwise it refuses while a person's signature would be lost. It calls progress with what it has
	// deleted so far, repeatedly and at the end. After an error it may be called again, and goes on.
	DeleteAccount(ctx context.Context, account string, options Deletion, progress func(AccountContent) error) error

	CreateClient(ctx context.Context, account, name string, scopes []string) (account.Client, string, error)
	Clients(ctx context.Context, account string) ([]account.Client, error)
	DeleteClient(ctx context.Context, id string) error
	Secrets(ctx context.Context, client string) ([]account.Secret, error)
	AddSecret(ctx context.Context, client string) (added account.Secret, value string, err error)
	RemoveSecret(ctx context.Context, client, secret string) error

	// Process returns a process of any account and origin as it is now.
	Process(ctx context.Context, id string) (Process, error)
	// Processes calls each with the processes that a filter chooses, account by account and those of each in the order
	// of creation.
	Processes(ctx context.Context, filter ProcessFilter, each func(ListedProcess) error) error
	// DeleteProcess deletes a process with its document, as the API does, and returns what it was.
	DeleteProcess(ctx context.Context, id string) (ListedProcess, error)
	// ResendProcess makes the invitations of a process again, and returns how many. The links are
	// sealed with the first key of the file, or by the server.
	ResendProcess(ctx context.Context, masterKeyFile, id string) (int, error)
	// ProcessEvents calls each with the entries of the evidence log about a process and its
	// signing requests, in their order.
	ProcessEvents(ctx context.Context, id string, each func(storage.Entry) error) error

	// CompleteSigning completes the signature of a signing request that failed because its validation data was not
	// available in time, and writes the signed document to w: signing.Service.Recover. It may be repeated. When it
	// fails, w may have a part of the document, and the evidence log may have an entry of it.
	CompleteSigning(ctx context.Context, request string, w io.Writer) error

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

	// Jobs returns a page of jobs in the order of their IDs, those behind the ID given; empty: the first page. A page
	// without jobs is the end.
	Jobs(ctx context.Context, f JobFilter, after string) ([]Job, error)
	Job(ctx context.Context, id string) (Job, error)
	// RetryJob has a job tried again now that is parked or waits.
	RetryJob(ctx context.Context, id string) error
	// DropJob deletes a job, whatever its state.
	DropJob(ctx context.Context, id string) error
	// ParkedJobs returns how many jobs of each kind are parked.
	ParkedJobs(ctx context.Context) (map[string]int, error)

	// Evidence calls each with the entries about a request and what proves them, or with the whole log when it is empty.
	Evidence(ctx context.Context, request string, each func(evidence.Record) error) error
	// EraseEvidence erases the entries about a request or a process, and returns how many.
	EraseEvidence(ctx context.Context, request string) (int, error)
	// PruneEvidence deletes the entries from before a time, and returns how many.
	PruneEvidence(ctx context.Context, before time.Time) (int64, error)

	// Backup writes an archive of the store as it is at this moment, as bolt.DB.Backup does. It and
	// Compact are for stores of bbolt; others have an error.
	Backup(ctx context.Context, w io.Writer) error
	// Compact makes the store's file as small as what is in it, and returns its sizes.
	Compact(ctx context.Context) (FileSizes, error)
}

var (
	_ Operator = (*Service)(nil)
	_ Operator = (*Client)(nil)
)

// Store is what a Service needs of a store; *bolt.DB and *postgres.DB have it.
type Store interface {
	storage.Transactor
	Accounts() account.Store
	BusySignals() busysignal.Store
	Requests() signing.Store
	Sandbox() sandbox.Store
	Processes() portal.Store
	Documents() storage.Documents
	Webhooks() delivery.Store
	Jobs() storage.Jobs
	EvidenceLog() storage.EvidenceLog
}

// Signing completes signatures that could not be completed in time; *signing.Service is one.
type Signing interface {
	Recover(ctx context.Context, request string, w io.Writer) error
}

// Options are what a Service has beside the store. The zero value is right for a program that has no server.
type Options struct {
	Webhooks  *delivery.Service // the server's
	Processes *portal.Service   // the server's
	Signing   Signing           // the server's, or one of its configuration; nil: CompleteSigning fails
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

// now returns the time, in the form that backends keep.
func now(ctx context.Context) time.Time { return storage.Clock(nil).Now(ctx) }

func noAccount(id string) error { return fmt.Errorf("there is no account %q", id) }

// CompleteSigning implements [Operator].
func (s *Service) CompleteSigning(ctx context.Context, request string, w io.Writer) error {
	if s.options.Signing == nil {
		return errNoSigning
	}
	return s.options.Signing.Recover(ctx, request, w)
}

var errNoSigning = errors.New("completing a signature requires the configuration of a server: give --environment and --config")

func eachOf(entries []storage.Entry, each func(storage.Entry) error) error {
	for _, e := range entries {
		if err := each(e); err != nil {
			return err
		}
	}
	return nil
}

// FileSizes are sizes of a store's file in bytes.
type FileSizes struct{ Before, After int64 }

// file is a store of bbolt.
type file interface {
	Backup(ctx context.Context, w io.Writer) error
	Compact(ctx context.Context) (before, after int64, err error)
}

func (s *Service) file() (file, error) {
	if f, ok := s.store.(file); ok {
		return f, nil
	}
	return nil, errors.New("the store is a database, not a file: use the tools of the database")
}

// Backup implements [Operator].
func (s *Service) Backup(ctx context.Context, w io.Writer) error {
	f, err := s.file()
	if err != nil {
		return err
	}
	return f.Backup(ctx, w)
}

// Compact implements [Operator].
func (s *Service) Compact(ctx context.Context) (sizes FileSizes, err error) {
	f, err := s.file()
	if err != nil {
		return FileSizes{}, err
	}
	sizes.Before, sizes.After, err = f.Compact(ctx)
	return sizes, err
}
