package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/pades/inspect"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/evidence"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Listen listens on a socket at a path that only this user can connect to. It makes the socket in a folder of mode 0700 and
// changes the socket's mode before it moves it to the path, so that at no moment other users could connect. It replaces a
// socket that a dead server left: the caller has the lock on the store.
func Listen(path string) (net.Listener, error) {
	if old, err := os.Lstat(path); err == nil && old.Mode().Type() != fs.ModeSocket {
		return nil, fmt.Errorf("opening the operator's socket: %s exists and is not a socket: move it away", path)
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), ".s-*")
	if err != nil {
		return nil, fmt.Errorf("opening the operator's socket: %w", err)
	}
	defer os.RemoveAll(folder)
	made := filepath.Join(folder, "s")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("opening the operator's socket beside the store (the path may be too long for a socket): %w", err)
	}
	listener.SetUnlinkOnClose(false) // it has another name by then
	if err = os.Chmod(made, 0o600); err == nil {
		err = os.Rename(made, path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("protecting the operator's socket: %w", err), listener.Close())
	}
	return listener, nil
}

// The arguments and results of the calls, as JSON.
type (
	accountSetting struct {
		ID            string
		PaymentMethod *bool
		Quota         *int64
		Admins        *[]string
		Documents     *inspect.Policy
	}
	accountDeletion struct {
		ID      string
		Options Deletion
	}
	monthOf struct {
		Account string
		Month   time.Time
	}
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
	secretOf      struct{ Client, Secret string }
	attemptsQuery struct {
		Subscription string
		Most         int
	}
	eventOf  struct{ Subscription, Event string }
	rotation struct{ Overlap time.Duration }
	nothing  struct{}
)

// Handler serves the calls of a [Client].
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	s.accountCalls(mux)
	s.clientCalls(mux)
	mux.HandleFunc("POST /process", answer(s.Process))
	mux.HandleFunc("POST /processes", streamed(func(ctx context.Context, filter ProcessFilter, w *stream) error {
		lines := json.NewEncoder(w)
		return s.Processes(ctx, filter, func(p ListedProcess) error { return lines.Encode(p) })
	}))
	mux.HandleFunc("POST /process-delete", answer(s.DeleteProcess))
	mux.HandleFunc("POST /process-resend", answer(func(ctx context.Context, id string) (int, error) { return s.ResendProcess(ctx, "", id) }))
	mux.HandleFunc("POST /process-events", streamed(func(ctx context.Context, id string, w *stream) error {
		return s.ProcessEvents(ctx, id, func(e storage.Entry) error { return evidence.WriteEntry(w, e) })
	}))
	mux.HandleFunc("POST /complete-signing", streamed(func(ctx context.Context, request string, w *stream) error {
		return s.CompleteSigning(ctx, request, w)
	}))
	s.webhookCalls(mux)
	s.jobCalls(mux)
	mux.HandleFunc("POST /evidence", streamed(func(ctx context.Context, request string, w *stream) error {
		return s.Evidence(ctx, request, func(r evidence.Record) error { return evidence.WriteRecord(w, r) })
	}))
	mux.HandleFunc("POST /evidence-erase", answer(s.EraseEvidence))
	mux.HandleFunc("POST /evidence-prune", answer(s.PruneEvidence))
	mux.HandleFunc("POST /archive", streamed(func(ctx context.Context, _ nothing, w *stream) error { return s.Backup(ctx, w) }))
	mux.HandleFunc("POST /compact", answer(func(ctx context.Context, _ nothing) (FileSizes, error) { return s.Compact(ctx) }))
	return mux
}

func (s *Service) accountCalls(mux *http.ServeMux) {
	mux.HandleFunc("POST /create-account", answer(s.CreateAccount))
	mux.HandleFunc("POST /accounts", answer(func(ctx context.Context, _ nothing) ([]account.Account, error) { return s.Accounts(ctx) }))
	mux.HandleFunc("POST /set-account", answer(func(ctx context.Context, a accountSetting) (nothing, error) {
		switch {
		case a.PaymentMethod != nil:
			return nothing{}, s.SetPaymentMethod(ctx, a.ID, *a.PaymentMethod)
		case a.Quota != nil:
			return nothing{}, s.SetQuota(ctx, a.ID, *a.Quota)
		case a.Admins != nil:
			return nothing{}, s.SetAdmins(ctx, a.ID, *a.Admins)
		case a.Documents != nil:
			return nothing{}, s.SetDocuments(ctx, a.ID, *a.Documents)
		}
		return nothing{}, nil
	}))
	mux.HandleFunc("POST /delete-account", streamed(func(ctx context.Context, d accountDeletion, w *stream) error {
		lines := json.NewEncoder(w)
		return s.DeleteAccount(ctx, d.ID, d.Options, func(done AccountContent) error {
			if err := lines.Encode(done); err != nil {
				return err
			}
			return w.control.Flush()
		})
	}))
	mux.HandleFunc("POST /statement", answer(func(ctx context.Context, m monthOf) (account.Statement, error) {
		return s.Statement(ctx, m.Account, m.Month)
	}))
}

// clientCalls serves the calls that are about clients. Their answers have no hash of a secret, against which guesses
// could be tried.
func (s *Service) clientCalls(mux *http.ServeMux) {
	mux.HandleFunc("POST /create-client", answer(func(ctx context.Context, c newClient) (madeClient, error) {
		made, secret, err := s.CreateClient(ctx, c.AccountID, c.Name, c.Scopes)
		made.Secrets = withoutHashes(made.Secrets)
		return madeClient{made, secret}, err
	}))
	mux.HandleFunc("POST /clients", answer(func(ctx context.Context, account string) ([]account.Client, error) {
		clients, err := s.Clients(ctx, account)
		for i := range clients {
			clients[i].Secrets = withoutHashes(clients[i].Secrets)
		}
		return clients, err
	}))
	mux.HandleFunc("POST /delete-client", answer(func(ctx context.Context, id string) (nothing, error) { return nothing{}, s.DeleteClient(ctx, id) }))
	mux.HandleFunc("POST /secrets", answer(func(ctx context.Context, client string) ([]account.Secret, error) {
		secrets, err := s.Secrets(ctx, client)
		return withoutHashes(secrets), err
	}))
	mux.HandleFunc("POST /add-secret", answer(func(ctx context.Context, client string) (addedSecret, error) {
		added, secret, err := s.AddSecret(ctx, client)
		added.Hash = nil
		return addedSecret{added, secret}, err
	}))
	mux.HandleFunc("POST /remove-secret", answer(func(ctx context.Context, of secretOf) (nothing, error) {
		return nothing{}, s.RemoveSecret(ctx, of.Client, of.Secret)
	}))
}

func withoutHashes(secrets []account.Secret) []account.Secret {
	secrets = slices.Clone(secrets)
	for i := range secrets {
		secrets[i].Hash = nil
	}
	return secrets
}

func (s *Service) webhookCalls(mux *http.ServeMux) {
	mux.HandleFunc("POST /webhook-subscriptions", answer(s.Subscriptions))
	mux.HandleFunc("POST /webhook-attempts", answer(func(ctx context.Context, a attemptsQuery) ([]delivery.Attempt, error) {
		return s.Attempts(ctx, a.Subscription, a.Most)
	}))
	mux.HandleFunc("POST /webhook-dropped", answer(s.Dropped))
	mux.HandleFunc("POST /webhook-send-again", answer(func(ctx context.Context, e eventOf) (nothing, error) {
		return nothing{}, s.SendAgain(ctx, e.Subscription, e.Event)
	}))
	mux.HandleFunc("POST /webhook-keys", answer(func(ctx context.Context, _ nothing) ([]PublicKey, error) { return s.WebhookKeys(ctx) }))
	mux.HandleFunc("POST /webhook-sealed-keys", answer(func(ctx context.Context, _ nothing) ([]delivery.SigningKey, error) { return s.SealedKeys(ctx) }))
	mux.HandleFunc("POST /webhook-rotate-key", answer(func(ctx context.Context, r rotation) (nothing, error) {
		return nothing{}, s.RotateWebhookKey(ctx, "", r.Overlap)
	}))
}

// maxArgument is the longest argument of a call in bytes.
const maxArgument = 1 << 20

// argumentOf reads the argument of a call, and reports whether it has one; otherwise the call is answered. From then on the
// call takes as long as it takes: only the caller ends it.
func argumentOf[A any](w http.ResponseWriter, r *http.Request) (argument A, ok bool) {
	body := io.LimitReader(r.Body, maxArgument)
	err := json.NewDecoder(body).Decode(&argument)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return argument, false
	}
	io.Copy(io.Discard, body) // the end of the connection is seen behind it
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Time{}) // which would be taken for that end
	control.SetWriteDeadline(time.Time{})
	return argument, true
}

// answer serves one call.
func answer[A, R any](f func(context.Context, A) (R, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		argument, ok := argumentOf[A](w, r)
		if !ok {
			return
		}
		result, err := f(r.Context(), argument)
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
			return
		}
		_ = json.NewEncoder(w).Encode(result) // the caller sees a cut-off answer
	}
}

// writeTime is how long the reader of a stream may take for a piece of it.
const writeTime = time.Minute

// stream is an answer of any length.
type stream struct {
	http.ResponseWriter
	control *http.ResponseController
	begun   bool
}

// Write gives the reader a time for each piece, instead of one for the whole.
func (s *stream) Write(p []byte) (int, error) {
	s.begun = true
	if err := s.control.SetWriteDeadline(time.Now().Add(writeTime)); err != nil { // time: connections have the machine's
		return 0, err
	}
	return s.ResponseWriter.Write(p)
}

// streamed serves a call that answers with a stream. One that breaks off ends with the connection, so that the caller
// sees it.
func streamed[A any](f func(ctx context.Context, argument A, w *stream) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		argument, ok := argumentOf[A](w, r)
		if !ok {
			return
		}
		s := &stream{ResponseWriter: w, control: http.NewResponseController(w)}
		_ = s.control.SetReadDeadline(time.Time{}) // which would end a call that takes longer
		err := f(r.Context(), argument, s)
		switch {
		case err != nil && s.begun:
			panic(http.ErrAbortHandler)
		case err != nil:
			w.Header().Del("Content-Length")
			http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		}
	}
}
