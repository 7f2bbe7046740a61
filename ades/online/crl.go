package online

import (
	"context"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/crl"
)

// byCRL looks into one list. It is fetched anew for a signer and shared by all other
// certificates of the issuer while it is in force.
func (r *Revocation) byCRL(ctx context.Context, address string, q question) (finding, error) {
	list, err := r.list(ctx, address, q)
	if err != nil {
		return finding{}, err
	}
	if err := q.current(list.ThisUpdate, list.NextUpdate, time.Now()); err != nil {
		return finding{}, err
	}
	entry, err := list.Find(q.cert)
	if err != nil {
		return finding{}, err
	}
	found := finding{proof: ades.Proof{CRL: list.Raw}}
	if entry != nil {
		found.revoked = &ades.RevokedError{Certificate: q.cert, At: entry.RevokedAt, Reason: entry.Reason}
	}
	return found, nil
}

func (r *Revocation) list(ctx context.Context, address string, q question) (*crl.List, error) {
	fetch := func(ctx context.Context) (fetched[*crl.List], error) { return r.fetchList(ctx, address, q) }
	if !q.notBefore.IsZero() {
		list, err := fetch(ctx)
		return list.value, err
	}
	return r.lists.get(ctx, key(address, q.issuer), fetch)
}

// fetchList returns a list that the issuer signed. One without nextUpdate, which RFC
// 5280 5.1.2.5 requires, is not kept.
func (r *Revocation) fetchList(ctx context.Context, address string, q question) (fetched[*crl.List], error) {
	body, err := exchange{
		url:     address,
		accepts: "application/pkix-crl, */*;q=0.5",
		limit:   crl.MaxSize,
		timeout: largeTimeout,
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
	return fetched[*crl.List]{list, int64(len(list.Raw)), list.NextUpdate}, nil
}
