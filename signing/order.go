package signing

import (
	"context"
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// ErrUnwanted is an [Owner]'s refusal of a signature that would come too late. The request ends
// without it.
var ErrUnwanted = errors.New("signing: the owner of the document does not take the signature")

// Order has a request sign a document of somebody else's, which several people sign one after
// another. Nobody polls such a request: a job drives it to its end, which the [Owner] is told of.
type Order struct {
	// ID is what the owner knows the order by. A fencing number belongs in it: the owner may
	// then tell what comes of it from what came of an earlier one.
	ID    string
	Stamp *Stamp // as [Service.Plan] planned it; nil: the signature is not visible
	// Accept is called in the transaction that stores the request, with the ID of the request:
	// there the owner sees to it that no other is accepted before this one has ended. Its error is
	// that of [Service.Start].
	Accept func(ctx context.Context, request string) error
}

// Owner has documents that are signed to order. Its methods join the transaction of their context,
// which may be run more than once.
type Owner interface {
	// Signed is called in the transaction in which the signature becomes a part of the
	// document. An error keeps it out: with [ErrUnwanted] for good, with another until it is
	// tried again.
	Signed(ctx context.Context, order string, s Signature) error
	// Ended is called once for an order that was accepted, in the transaction in which its
	// request ends, after Signed if that was called: nothing comes of the order any more.
	Ended(ctx context.Context, order, request string) error
}

// Signature is what a person signed with.
type Signature struct {
	Request     string // ID
	Certificate *x509.Certificate
	Value       []byte    // as the identity provider gave it
	At          time.Time // when it was given
	Bytes       int64     // that the document grew by
}

// Ledger counts signatures. Signed joins the transaction in which a signed document is stored, the
// last but for [Owner.Ended] to do so; ordered says that it was signed to order.
type Ledger interface {
	Signed(ctx context.Context, account, request string, ordered bool, at time.Time) error
}

// unowned is the Owner of a service that has none.
type unowned struct{}

func (unowned) Signed(context.Context, string, Signature) error { return ErrUnwanted }
func (unowned) Ended(context.Context, string, string) error     { return nil }

// orderPatience is completeFor of an order, whose client does not wait in a call: a signature that
// was given is put into the document also after a long outage of what its evidence comes from.
// While that lasts, nobody else's signature could be completed either.
const orderPatience = 12 * time.Hour

func (r *Request) ordered() bool { return r.Order != "" }

// completeFor is how long a stored value has to be completed.
func (r *Request) completeFor() time.Duration {
	if r.ordered() {
		return orderPatience
	}
	return completeFor
}

// order has the owner accept the order of a request, and a job drive it. Nobody else signs the
// document from then on: it is as it was found.
func (s *Service) order(ctx context.Context, r *Request, o *Order) (found content, err error) {
	if err := o.Accept(ctx, r.ID); err != nil {
		return found, err
	}
	if err := s.enqueue(ctx, DriveKind, r, r.CreatedAt.Add(s.options.Interval)); err != nil {
		return found, err
	}
	return s.uploaded(ctx, r.Document)
}

// unwanted is the failure of a signature that the owner does not take, or the document.
var unwanted = &idp.Failure{Code: idp.InternalError, Description: "The document does not take the signature any more."}

// handOver tells whom a signed document concerns: its owner, and then whoever counts signatures. A
// request that was ordered ends there, since nobody comes for the result.
func (t *turn) handOver(ctx context.Context, r *Request, signed finished) error {
	if r.ordered() {
		if err := t.options.Owner.Signed(ctx, r.Order, signed.signature(r)); err != nil {
			return err
		}
	}
	if ledger := t.options.Ledger; ledger != nil {
		if err := ledger.Signed(ctx, r.Account, r.ID, r.ordered(), now()); err != nil {
			return err
		}
	}
	if r.ordered() {
		return t.end(ctx, r)
	}
	return nil
}

func (f finished) signature(r *Request) Signature {
	unsigned, _ := f.draft.base()
	return Signature{Request: r.ID, Certificate: f.signer.Certificate, Value: r.Value, At: r.SignedAt, Bytes: f.content.Size - unsigned}
}

// Cancel removes the request of an order whatever it is at; one that does not exist is no error.
// It joins the transaction of its context, and calls [Owner.Ended] in it. A signature that the person
// gives from then on goes nowhere.
func (s *Service) Cancel(ctx context.Context, request string) error {
	return s.inTx(ctx, func(ctx context.Context) error {
		r, err := s.store.Request(ctx, request)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return s.remove(ctx, r)
	})
}

// cancelled says whether an error is that its request is gone.
func (s *Service) cancelled(ctx context.Context, request string, err error) bool {
	if !errors.Is(err, storage.ErrNotFound) {
		return false
	}
	_, err = s.store.Request(context.WithoutCancel(ctx), request)
	return errors.Is(err, storage.ErrNotFound)
}
