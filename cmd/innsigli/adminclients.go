package main

import (
	"context"
	"net/http"
	"slices"

	"github.com/innsigli/innsigli/account"
)

// The arguments and results of the calls about clients, as JSON.
type (
	newClient struct {
		AccountID, Name string
		Scopes          []string
	}
	madeClient struct {
		Client account.Client
		Secret string
	}
	addedSecret struct {
		Added  account.Secret
		Secret string
	}
	secretOf struct{ Client, Secret string }
)

// clientCalls serves the calls of a [socketClient] that are about clients. Of secrets there is nothing in
// the answers that a guess could be held against.
func clientCalls(mux *http.ServeMux, o direct) {
	mux.HandleFunc("POST /create-client", answer(func(ctx context.Context, c newClient) (madeClient, error) {
		made, secret, err := o.CreateClient(ctx, c.AccountID, c.Name, c.Scopes)
		made.Secrets = withoutHashes(made.Secrets)
		return madeClient{made, secret}, err
	}))
	mux.HandleFunc("POST /clients", answer(func(ctx context.Context, account string) ([]account.Client, error) {
		clients, err := o.Clients(ctx, account)
		for i := range clients {
			clients[i].Secrets = withoutHashes(clients[i].Secrets)
		}
		return clients, err
	}))
	mux.HandleFunc("POST /delete-client", answer(func(ctx context.Context, id string) (nothing, error) { return nothing{}, o.DeleteClient(ctx, id) }))
	mux.HandleFunc("POST /secrets", answer(func(ctx context.Context, client string) ([]account.Secret, error) {
		secrets, err := o.Secrets(ctx, client)
		return withoutHashes(secrets), err
	}))
	mux.HandleFunc("POST /add-secret", answer(func(ctx context.Context, client string) (addedSecret, error) {
		added, secret, err := o.AddSecret(ctx, client)
		added.Hash = nil
		return addedSecret{added, secret}, err
	}))
	mux.HandleFunc("POST /remove-secret", answer(func(ctx context.Context, s secretOf) (nothing, error) {
		return nothing{}, o.RemoveSecret(ctx, s.Client, s.Secret)
	}))
}

func withoutHashes(secrets []account.Secret) []account.Secret {
	secrets = slices.Clone(secrets)
	for i := range secrets {
		secrets[i].Hash = nil
	}
	return secrets
}

func (c socketClient) CreateClient(ctx context.Context, accountID, name string, scopes []string) (account.Client, string, error) {
	made, err := call[madeClient](ctx, c, "create-client", newClient{accountID, name, scopes})
	return made.Client, made.Secret, err
}

func (c socketClient) Clients(ctx context.Context, accountID string) ([]account.Client, error) {
	return call[[]account.Client](ctx, c, "clients", accountID)
}

func (c socketClient) DeleteClient(ctx context.Context, id string) error {
	_, err := call[nothing](ctx, c, "delete-client", id)
	return err
}

func (c socketClient) Secrets(ctx context.Context, client string) ([]account.Secret, error) {
	return call[[]account.Secret](ctx, c, "secrets", client)
}

func (c socketClient) AddSecret(ctx context.Context, client string) (account.Secret, string, error) {
	added, err := call[addedSecret](ctx, c, "add-secret", client)
	return added.Added, added.Secret, err
}

func (c socketClient) RemoveSecret(ctx context.Context, client, secret string) error {
	_, err := call[nothing](ctx, c, "remove-secret", secretOf{client, secret})
	return err
}
