package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Client is an Operator that has a running server do its calls.
type Client struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	http *http.Client
}

// NewClient returns a client of the server that listens on the socket at a path.
func NewClient(path string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}
	return &Client{dial, &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Answers reports whether a server listens. It has the lock on the store then: it takes
// that first, and a socket that a dead server left refuses connections.
func (c *Client) Answers(ctx context.Context) bool {
	conn, err := c.dial(ctx, "", "")
	if err != nil {
		return false
	}
	conn.Close()
	return true
}

// post makes a call, and returns its answer when it has gone well.
func (c *Client) post(ctx context.Context, name string, argument any) (*http.Response, error) {
	body, err := json.Marshal(argument)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server/"+name, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, fmt.Errorf("a server uses the store and does not answer: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		if response.StatusCode == http.StatusNotFound {
			return nil, errors.New("the server that uses the store has another version than this program, and does not know the call")
		}
		text, _ := io.ReadAll(io.LimitReader(response.Body, 4<<10))
		return nil, errors.New(string(bytes.TrimSpace(text)))
	}
	return response, nil
}

func call[R any](ctx context.Context, c *Client, name string, argument any) (result R, err error) {
	response, err := c.post(ctx, name, argument)
	if err != nil {
		return result, err
	}
	defer response.Body.Close()
	return result, json.NewDecoder(response.Body).Decode(&result)
}

// run makes a call without a result.
func run(ctx context.Context, c *Client, name string, argument any) error {
	_, err := call[nothing](ctx, c, name, argument)
	return err
}

// CreateAccount implements [Operator].
func (c *Client) CreateAccount(ctx context.Context, name string) (account.Account, error) {
	return call[account.Account](ctx, c, "create-account", name)
}

// Accounts implements [Operator].
func (c *Client) Accounts(ctx context.Context) ([]account.Account, error) {
	return call[[]account.Account](ctx, c, "accounts", nothing{})
}

// SetPaymentMethod implements [Operator].
func (c *Client) SetPaymentMethod(ctx context.Context, id string, onFile bool) error {
	return run(ctx, c, "set-account", accountSetting{ID: id, PaymentMethod: &onFile})
}

// SetQuota implements [Operator].
func (c *Client) SetQuota(ctx context.Context, id string, bytes int64) error {
	return run(ctx, c, "set-account", accountSetting{ID: id, Quota: &bytes})
}

// SetAdmins implements [Operator].
func (c *Client) SetAdmins(ctx context.Context, id string, addresses []string) error {
	return run(ctx, c, "set-account", accountSetting{ID: id, Admins: &addresses})
}

// SetDocuments implements [Operator].
func (c *Client) SetDocuments(ctx context.Context, id string, policy inspect.Policy) error {
	return run(ctx, c, "set-account", accountSetting{ID: id, Documents: &policy})
}

// Statement implements [Operator].
func (c *Client) Statement(ctx context.Context, id string, month time.Time) (account.Statement, error) {
	return call[account.Statement](ctx, c, "statement", monthOf{id, month})
}

// CreateClient implements [Operator].
func (c *Client) CreateClient(ctx context.Context, accountID, name string, scopes []string) (account.Client, string, error) {
	made, err := call[madeClient](ctx, c, "create-client", newClient{accountID, name, scopes})
	return made.Client, made.Secret, err
}

// Clients implements [Operator].
func (c *Client) Clients(ctx context.Context, accountID string) ([]account.Client, error) {
	return call[[]account.Client](ctx, c, "clients", accountID)
}

// DeleteClient implements [Operator].
func (c *Client) DeleteClient(ctx context.Context, id string) error {
	return run(ctx, c, "delete-client", id)
}

// Secrets implements [Operator].
func (c *Client) Secrets(ctx context.Context, client string) ([]account.Secret, error) {
	return call[[]account.Secret](ctx, c, "secrets", client)
}

// AddSecret implements [Operator].
func (c *Client) AddSecret(ctx context.Context, client string) (account.Secret, string, error) {
	added, err := call[addedSecret](ctx, c, "add-secret", client)
	return added.Added, added.Secret, err
}

// RemoveSecret implements [Operator].
func (c *Client) RemoveSecret(ctx context.Context, client, secret string) error {
	return run(ctx, c, "remove-secret", secretOf{client, secret})
}

// Process implements [Operator].
func (c *Client) Process(ctx context.Context, id string) (Process, error) {
	return call[Process](ctx, c, "process", id)
}

// Processes implements [Operator].
func (c *Client) Processes(ctx context.Context, filter ProcessFilter, each func(ListedProcess) error) error {
	return streamedLines(ctx, c, "processes", filter, each)
}

// DeleteProcess implements [Operator].
func (c *Client) DeleteProcess(ctx context.Context, id string) (ListedProcess, error) {
	return call[ListedProcess](ctx, c, "process-delete", id)
}

// DeleteAccount implements [Operator].
func (c *Client) DeleteAccount(ctx context.Context, id string, options Deletion, progress func(AccountContent) error) error {
	return streamedLines(ctx, c, "delete-account", accountDeletion{id, options}, progress)
}

// ResendProcess implements [Operator]. The server has its own master key.
func (c *Client) ResendProcess(ctx context.Context, _, id string) (int, error) {
	return call[int](ctx, c, "process-resend", id)
}

// ProcessEvents implements [Operator].
func (c *Client) ProcessEvents(ctx context.Context, id string, each func(storage.Entry) error) error {
	return c.records(ctx, "process-events", id, func(r evidence.Record) error {
		if r.Entry == nil {
			return nil
		}
		return each(*r.Entry)
	})
}

// CompleteSigning implements [Operator].
func (c *Client) CompleteSigning(ctx context.Context, request string, w io.Writer) error {
	response, err := c.post(ctx, "complete-signing", request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(w, response.Body) // an answer that is cut off is an error
	return err
}

// Subscriptions implements [Operator].
func (c *Client) Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error) {
	return call[[]delivery.Subscription](ctx, c, "webhook-subscriptions", account)
}

// Attempts implements [Operator].
func (c *Client) Attempts(ctx context.Context, subscription string, most int) ([]delivery.Attempt, error) {
	return call[[]delivery.Attempt](ctx, c, "webhook-attempts", attemptsQuery{subscription, most})
}

// Dropped implements [Operator].
func (c *Client) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	return call[[]delivery.Dropped](ctx, c, "webhook-dropped", subscription)
}

// SendAgain implements [Operator].
func (c *Client) SendAgain(ctx context.Context, subscription, event string) error {
	return run(ctx, c, "webhook-send-again", eventOf{subscription, event})
}

// WebhookKeys implements [Operator].
func (c *Client) WebhookKeys(ctx context.Context) ([]PublicKey, error) {
	return call[[]PublicKey](ctx, c, "webhook-keys", nothing{})
}

// SealedKeys implements [Operator].
func (c *Client) SealedKeys(ctx context.Context) ([]delivery.SigningKey, error) {
	return call[[]delivery.SigningKey](ctx, c, "webhook-sealed-keys", nothing{})
}

// RotateWebhookKey implements [Operator]. The server has its own master key.
func (c *Client) RotateWebhookKey(ctx context.Context, _ string, overlap time.Duration) error {
	return run(ctx, c, "webhook-rotate-key", rotation{overlap})
}

// Evidence implements [Operator].
func (c *Client) Evidence(ctx context.Context, request string, each func(evidence.Record) error) error {
	return c.records(ctx, "evidence", request, each)
}

// EraseEvidence implements [Operator].
func (c *Client) EraseEvidence(ctx context.Context, request string) (int, error) {
	return call[int](ctx, c, "evidence-erase", request)
}

// PruneEvidence implements [Operator].
func (c *Client) PruneEvidence(ctx context.Context, before time.Time) (int64, error) {
	return call[int64](ctx, c, "evidence-prune", before)
}

// records makes a call that answers with records of the evidence log.
func (c *Client) records(ctx context.Context, name, argument string, each func(evidence.Record) error) error {
	response, err := c.post(ctx, name, argument)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	return eachRecord(evidence.ReadRecords(response.Body), each)
}

// streamedLines makes a call that answers with a stream of JSON values. An answer that breaks off is an error.
func streamedLines[T any](ctx context.Context, c *Client, name string, argument any, each func(T) error) error {
	response, err := c.post(ctx, name, argument)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	for lines := json.NewDecoder(response.Body); ; {
		var line T
		if err := lines.Decode(&line); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if err := each(line); err != nil {
			return err
		}
	}
}

// Backup implements [Operator].
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	response, err := c.post(ctx, "archive", nothing{})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(w, response.Body) // an answer that breaks off is an error
	return err
}

// Compact implements [Operator].
func (c *Client) Compact(ctx context.Context) (FileSizes, error) {
	return call[FileSizes](ctx, c, "compact", nothing{})
}
