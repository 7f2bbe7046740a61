package portal

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// Signing signs the documents of processes. *signing.Service implements it and documents the methods.
type Signing interface {
	Plan(ctx context.Context, account, document string, page int, c stamp.Corner, signers int) ([]*signing.Stamp, error)
	Warnings(ctx context.Context, account, document string) ([]inspect.Warning, error)
	Start(ctx context.Context, in signing.Start) (signing.Started, error)
	Drive(ctx context.Context, request string) (signing.Progress, error)
	Progress(ctx context.Context, request string) (signing.Progress, error)
	Cancel(ctx context.Context, request string) error
	Discard(ctx context.Context, document string) error
}

// Accounts knows the terms of accounts. Its methods join the transaction of their context.
type Accounts interface {
	// Terms returns the terms of an account, which do not change until the transaction ends. The error wraps
	// [ErrNotFound] if the account is being deleted.
	Terms(ctx context.Context, account string) (Terms, error)
	// AddStoredBytes adds to the size of the documents that an account stores. bytes may be negative.
	AddStoredBytes(ctx context.Context, account string, bytes int64) error
}

// Terms are what an account may use.
type Terms struct {
	PaymentMethod bool
	FreeLeft      int            // signatures that cost nothing and were not made yet
	StorageLeft   int64          // bytes that the account may still store; negative if it stores too many
	Documents     inspect.Policy // what becomes of documents with warnings
}

// Events sends events to the subscribers of an account. An event is sent only if the transaction of its context is
// committed. *delivery.Service implements it.
type Events interface {
	Emit(ctx context.Context, account, eventType string, at time.Time, data any) error
}

// Mail sends messages to participants and to the admins of accounts. Its methods join the transaction of their context
// and store the messages, which are sent later.
type Mail interface {
	// Invite sends an invitation with the participant's [Process.Path].
	Invite(ctx context.Context, p Process, to Participant) error
	// Completed tells the participants that all signers have signed.
	Completed(ctx context.Context, p Process) error
	// Declined tells the admins of the account that a participant has declined.
	Declined(ctx context.Context, p Process, by Participant) error
	// Withdraw removes the messages about a process that were not sent yet.
	Withdraw(ctx context.Context, process string) error
}

// SandboxUsers finds sandbox users.
type SandboxUsers interface {
	// SandboxUser returns a sandbox user of an account, and ready reports whether the user signs at once when asked.
	// [ErrNotFound] if the account has no such sandbox user.
	SandboxUser(ctx context.Context, account, id string) (p idp.Person, ready bool, err error)
}

// Options configures a service.
type Options struct {
	// Events gets the events of processes that were created with the API. nil: no events are sent.
	Events Events
	// Mail is nil if no mail is sent, as in a sandbox (spec 6).
	Mail Mail
	// SandboxUsers is nil in production.
	SandboxUsers SandboxUsers
	// KeyRetention is how long an idempotency key is stored, so that a repeated request is recognized. 0 is 24 h
	// (spec 1.8).
	KeyRetention time.Duration
	// Now returns the time. nil is the machine's clock.
	Now storage.Clock
}

// core has the dependencies that [Owner] and [Service] share, and the methods that both need.
type core struct {
	store     Store
	tx        storage.Transactor
	documents storage.Documents
	log       storage.EvidenceLog
	accounts  Accounts
	options   Options
}

func (s *core) now(ctx context.Context) time.Time { return s.options.Now.Now(ctx) }

// Owner is the part of a portal service that package signing calls when a signature is made and when its request ends.
// It may be used by several goroutines, and by several servers on one store.
type Owner struct{ core }

var _ signing.Owner = (*Owner)(nil)

// NewOwner returns the owner for the options of the signing service. The caller passes both to [New].
func NewOwner(store Store, tx storage.Transactor, documents storage.Documents, log storage.EvidenceLog, accounts Accounts, options Options) *Owner {
	if options.KeyRetention <= 0 {
		options.KeyRetention = defaultKeyRetention
	}
	return &Owner{core{store: store, tx: tx, documents: documents, log: log, accounts: accounts, options: options}}
}

// Service runs the processes of a [Store]. It may be used by several goroutines, and by several servers on one store.
type Service struct {
	core
	signing Signing
}

// New returns a service. The signing service has to call the owner.
func New(owner *Owner, signing Signing) *Service { return &Service{owner.core, signing} }
