package account

import "context"

// Close is the beginning of the deletion of an account: from then on it has no new clients and no new signing processes,
// and its clients have no secret and so no token that works, on every server. A second call closes what came in between.
// also, unless nil, is called in the transaction that closes the account first. Error: [ErrNotFound].
func (s *Service) Close(ctx context.Context, id string, also func(ctx context.Context) error) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		a, err := s.store.Account(ctx, id)
		if err != nil || !a.ClosedAt.IsZero() {
			return err
		}
		a.ClosedAt = s.now(ctx)
		if err := s.store.UpdateAccount(ctx, a); err != nil || also == nil {
			return err
		}
		return also(ctx)
	})
	if err != nil {
		return fault("closing the account", err)
	}
	clients, err := s.Clients(ctx, id)
	if err != nil {
		return err
	}
	for _, one := range clients {
		err := s.tx.InTx(ctx, func(ctx context.Context) error {
			c, err := s.store.Client(ctx, one.ID)
			if err != nil || len(c.Secrets) == 0 {
				return err
			}
			c.Secrets = nil
			return s.store.UpdateClient(ctx, c)
		})
		if err = fault("closing a client", err); err != nil && err != ErrNotFound {
			return err
		}
	}
	return nil
}
