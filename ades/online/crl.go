package online

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
)

// byCRL looks into one list. It is fetched anew for a signer and shared by all other
// certificates of the issuer while it is in force.
func (r *Revocation) byCRL(ctx context.Context, address string, q question) (finding, error) {
	asked := time.Now()
	list, err := r.list(ctx, address, q)
	if err != nil {
		return finding{}, err
	}
	if err := q.accepts(list, asked); err != nil {
		return finding{}, err
	}
	entry, err := list.Find(q.cert)
	if err != nil {
		return finding{}, err
	}
	found := finding{proof: ades.RevocationData{CRL: list.Raw}}
	if entry != nil {
		found.revoked = &ades.RevokedError{Certificate: q.cert, At: entry.RevokedAt, Reason: entry.Reason}
	}
	return found, nil
}

// accepts checks that a list is in force and covers the time that is asked for (RFC 5280 6.3.3).
func (q question) accepts(list *crl.List, asked time.Time) error {
	t := term{list.ThisUpdate, list.NextUpdate}
	if err := t.inForce(asked); err != nil {
		return err
	}
	return t.covers(q.notBefore)
}

func (r *Revocation) list(ctx context.Context, address string, q question) (*crl.List, error) {
	fetch := func(ctx context.Context) (fetched[*crl.List], error) { return r.fetchList(ctx, address, q) }
	if !q.notBefore.IsZero() {
		list, err := fetch(ctx)
		return list.value, err
	}
	return r.lists.get(ctx, key(address, q.issuer), fetch)
}

// fetchList returns a list that the issuer signed. One that does not say when the next
// comes, as RFC 5280 5.1.2.5 requires, may be of any age.
func (r *Revocation) fetchList(ctx context.Context, address string, q question) (fetched[*crl.List], error) {
	body, err := exchange{
		url:     address,
		accepts: "application/pkix-crl, */*;q=0.5",
		limit:   crl.MaxSize,
		timeout: largeTimeout,
		large:   &r.large,
	}.do(ctx, r.guarded.client(r.Client))
	if err != nil {
		return fetched[*crl.List]{}, err
	}
	list, err := crl.Parse(body)
	if err != nil {
		return fetched[*crl.List]{}, err
	}
	if err := list.Verify(q.issuer); err != nil {
		return fetched[*crl.List]{}, fmt.Errorf("verifying the CRL: %w", err)
	}
	if list.NextUpdate.IsZero() {
		return fetched[*crl.List]{}, errors.New("CRL without nextUpdate")
	}
	return fetched[*crl.List]{list, int64(len(list.Raw)), list.NextUpdate}, nil
}
