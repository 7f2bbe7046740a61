package operator

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/server/internal/notify"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/sealed"
)

// processInviter returns the server's service of processes. Without a server it makes one that only invites:
// it seals links with the first key of the file and queues mail, which a server on the store sends.
func (s *Service) processInviter(ctx context.Context, masterKeyFile string) (*portal.Service, error) {
	if s.options.Processes != nil {
		return s.options.Processes, nil
	}
	keys, err := sealed.ReadFile(masterKeyFile)
	if err != nil {
		return nil, fmt.Errorf("--master-key-file: %w", err)
	}
	if err := s.checkMasterKey(ctx, keys); err != nil {
		return nil, fmt.Errorf("--master-key-file: %w", err)
	}
	return portal.New(s.newOwner(sealed.Processes(s.store.Processes(), keys)), nil), nil // nil: no signing
}

// checkMasterKey checks the master key: it must open the webhook keys that servers have sealed. A server could not
// open a link that was sealed with the key of another store.
func (s *Service) checkMasterKey(ctx context.Context, keys *sealed.Keys) error {
	_, err := sealed.Webhooks(s.store.Webhooks(), keys).Keys(ctx)
	return err
}

// processRemover returns the server's service of processes. Without a server it makes one that only removes them.
func (s *Service) processRemover() *portal.Service {
	if s.options.Processes != nil {
		return s.options.Processes
	}
	return s.newRemovers().processes
}

// removers only remove processes and cancel signing requests. Nothing that they store is sealed.
type removers struct {
	processes *portal.Service
	requests  *signing.Service
}

func (s *Service) newRemovers() removers {
	owner := s.newOwner(s.store.Processes())
	signals := busysignal.New(s.store.BusySignals(), s.store, busysignal.Options{})
	requests := signing.New(s.store.Requests(), s.store, s.store.Documents(), s.store.Jobs(), s.store.EvidenceLog(),
		nil, signals, signing.Options{Owner: owner}) // nil: no identity provider, because they ask no person to sign
	return removers{portal.New(owner, requests), requests}
}

// newOwner returns the owner of processes. processes is the Service's store of them, with or without sealing.
func (s *Service) newOwner(processes portal.Store) *portal.Owner {
	mail := &notify.Mailer{Queue: notify.Queue{Tx: s.store, Jobs: s.store.Jobs()}}
	return portal.NewOwner(processes, s.store, s.store.Documents(), s.store.EvidenceLog(), PortalAccounts{s.Service}, portal.Options{Mail: mail})
}

// PortalAccounts are the accounts of a store as package portal knows them.
type PortalAccounts struct{ *account.Service }

// Terms implements [portal.Accounts]. A closed account is reported as not found.
func (a PortalAccounts) Terms(ctx context.Context, id string) (portal.Terms, error) {
	found, err := a.Service.Terms(ctx, id)
	if errors.Is(err, account.ErrClosed) || errors.Is(err, account.ErrNotFound) {
		err = fmt.Errorf("%w: %w", portal.ErrNotFound, err)
	}
	return portal.Terms(found), err
}
