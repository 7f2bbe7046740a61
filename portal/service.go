package portal

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// Signing signs the documents of processes; *signing.Service is one. What each method does is said there.
type Signing interface {
	Plan(ctx context.Context, document string, page int, c stamp.Corner, signers int) ([]*signing.Stamp, error)
	Start(ctx context.Context, in signing.Start) (signing.Started, error)
	Drive(ctx context.Context, request string) (signing.Progress, error)
	Progress(ctx context.Context, request string) (signing.Progress, error)
	Cancel(ctx context.Context, request string) error
	Discard(ctx context.Context, document string) error
}

// Accounts knows what accounts may and owe. Its methods join the transaction of their context.
type Accounts interface {
	// Terms are those of an account, which stay as they are until the transaction ends. The error of an account that is
	// being deleted wraps [ErrNotFound].
	Terms(ctx context.Context, account string) (Terms, error)
	// Stored notes that the documents of an account have grown by so many bytes, or shrunk.
	Stored(ctx context.Context, account string, bytes int64) error
}

// Terms are what an account may use.
type Terms struct {
	PaymentMethod bool
	Free          int   // signatures that cost nothing, of those that were not yet made
	Quota         int64 // bytes of documents that there is room for; less than 0: there are too many
}

// Events sends events to whoever has subscribed to them, if the transaction of its context is
// committed; *delivery.Service is one.
type Events interface {
	Emit(ctx context.Context, account, eventType string, at time.Time, data any) error
}

// Mail tells people what concerns them. Its methods join the transaction of their context: what is
// sent, is sent later.
type Mail interface {
	// Invite sends an invitation, with what [Process.Path] then is.
	Invite(ctx context.Context, p Process, to Participant) error
	// Completed tells the participants that all have signed.
	Completed(ctx context.Context, p Process) error
	// Declined tells the admins of the account who has declined.
	Declined(ctx context.Context, p Process, by Participant) error
	// Withdraw has what was not yet sent of a process not sent any more.
	Withdraw(ctx context.Context, process string) error
}

// TestUsers are those of a sandbox.
type TestUsers interface {
	// TestUser returns a test user of an account; [ErrNotFound]. ready says that the user
	// signs at once.
	TestUser(ctx context.Context, account, id string) (p idp.Person, ready bool, err error)
}

// Options are a service's choices.
type Options struct {
	// Events gets those of processes that were made with the API. nil: nobody does.
	Events Events
	// Mail is nil where nobody is told, as in a sandbox (spec 6).
	Mail Mail
	// TestUsers is nil in production.
	TestUsers TestUsers
	// KeepKeys is for how long a repetition with the same idempotency key is known as one; 0 is 24 h
	// (spec 1.8).
	KeepKeys time.Duration
	// Now tells the time; nil is the machine's clock.
	Now storage.Clock
}

// records is what the methods that store processes need.
type records struct {
	store     Store
	tx        storage.Transactor
	documents storage.Documents
	log       storage.EvidenceLog
	accounts  Accounts
	options   Options
}

// Owner is the part of a portal service that package signing calls: [Owner.Begun], [Owner.Signed] and [Owner.Ended]. It
// may be used by several goroutines, and by several processes on one store.
type Owner struct{ records }

var _ signing.Owner = (*Owner)(nil)

// NewOwner returns the owner for the options of the signing service, with which [New] is called then.
func NewOwner(store Store, tx storage.Transactor, documents storage.Documents, log storage.EvidenceLog, accounts Accounts, options Options) *Owner {
	if options.KeepKeys <= 0 {
		options.KeepKeys = defaultKeepKeys
	}
	return &Owner{records{store: store, tx: tx, documents: documents, log: log, accounts: accounts, options: options}}
}

// Service is the rules of processes over a [Store]. It may be used by several goroutines, and by
// several processes on one store.
type Service struct {
	records
	signing Signing
}

// New returns a service whose signatures are made by the signing service that calls the owner.
func New(owner *Owner, signing Signing) *Service { return &Service{owner.records, signing} }

func (s *records) now(ctx context.Context) time.Time { return s.options.Now.Now(ctx) }
