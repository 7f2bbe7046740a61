package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/innsigli/innsigli/server/config"
	"github.com/innsigli/innsigli/server/operator"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

type webhookCommand struct {
	Verify  webhookVerifyCommand  `cmd:"" help:"Verify a delivery that is read from stdin."`
	List    webhookListCommand    `cmd:"" help:"List the subscriptions of an account."`
	Log     webhookLogCommand     `cmd:"" help:"List the requests that were sent to the endpoint of a subscription."`
	Dropped webhookDroppedCommand `cmd:"" help:"List the dropped events of a subscription: all attempts to deliver them failed."`
	Resend  webhookResendCommand  `cmd:"" help:"Send dropped events again."`
	Keys    webhookKeysCommand    `cmd:"" help:"List the keys that sign requests."`
	Rotate  webhookRotateCommand  `cmd:"" name:"rotate-key" help:"Create a new key that signs requests."`
}

type webhookListCommand struct {
	storeFlag
	Account string `arg:"" help:"ID of the account."`
}

func (webhookListCommand) Help() string {
	return "STATE is active, failing (active, but pings fail), inactive, or the reason why the subscription was deactivated; SINCE is when it entered this state. " + worksWhileServing + "\n\nExample: innsigli webhook list 0b6c8f0e-6c1e-4f0f-9d3e-0c9a5f7b2d11"
}

func (c webhookListCommand) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		list, err := o.Subscriptions(ctx, c.Account)
		if err != nil {
			return err
		}
		return table(s.stdout, "SUBSCRIPTION\tSTATE\tSINCE\tEVENT TYPES\tURL", list, func(w delivery.Subscription) string {
			state, since := stateOf(w)
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", w.ID, state, timeText(since), strings.Join(w.EventTypes, " "), w.URL)
		})
	})
}

// stateOf returns the state of a subscription, and since when it has it.
func stateOf(w delivery.Subscription) (state string, since time.Time) {
	switch {
	case w.Active && !w.FailingSince.IsZero():
		return "failing", w.FailingSince
	case w.Active:
		return "active", w.ActivatedAt
	case w.Reason != "":
		return string(w.Reason), w.UpdatedAt
	}
	return "inactive", w.CreatedAt
}

type webhookLogCommand struct {
	storeFlag
	Subscription string `arg:"" help:"ID of the subscription."`
	Limit        int    `default:"100" placeholder:"N" help:"How many attempts to list, from the latest back (default ${default})."`
	JSON         bool   `help:"Print one JSON object per line."`
}

func (webhookLogCommand) Help() string {
	return "Lists the requests, the latest last: deliveries, hourly pings, security checks (for which 401 is the right answer), and the pings of activations and tests. NEXT is when the next attempt begins. Attempts are stored for 14 days, or the time that [retention] sets. " + worksWhileServing + "\n\nExample: innsigli webhook log 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

// maxAttempts is the most attempts of a log, which is read into memory.
const maxAttempts = 100_000

func (c webhookLogCommand) Run(ctx context.Context, s streams) error {
	if c.Limit < 1 || c.Limit > maxAttempts {
		return fmt.Errorf("%w: --limit must be between 1 and %d", errUsage, maxAttempts)
	}
	return c.operate(ctx, func(o operator.Operator) error {
		list, err := o.Attempts(ctx, c.Subscription, c.Limit)
		if err != nil {
			return err
		}
		slices.Reverse(list)
		if c.JSON {
			return printAttempts(s.stdout, list)
		}
		return table(s.stdout, "TIME\tPURPOSE\tATTEMPT\tSTATUS\tTOOK\tNEXT\tEVENT\tTYPE\tERROR", list, attemptRow)
	})
}

func attemptRow(a delivery.Attempt) string {
	number, status, next := orDash(a.Number), orDash(a.Status), "-"
	if !a.Next.IsZero() {
		next = timeText(a.Next)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s\t%v\t%s\t%s\t%s\t%s",
		timeText(a.At), a.Purpose, number, status, a.Duration.Round(time.Millisecond), next, a.Event, a.Type, a.Detail)
}

// attemptLine is an attempt in JSON. A missing value is null.
type attemptLine struct {
	Time       time.Time         `json:"time"`
	Purpose    delivery.Purpose  `json:"purpose"`
	Event      string            `json:"event"`
	Type       string            `json:"type"`
	Attempt    *int              `json:"attempt"`
	Status     *int              `json:"status"`
	DurationMS int64             `json:"durationMs"`
	Failure    *delivery.Failure `json:"failure"`
	Detail     *string           `json:"detail"`
	Next       *time.Time        `json:"next"`
}

func printAttempts(w io.Writer, list []delivery.Attempt) error {
	lines := json.NewEncoder(w)
	for _, a := range list {
		line := attemptLine{
			a.At, a.Purpose, a.Event, a.Type, orNull(a.Number), orNull(a.Status), a.Duration.Milliseconds(),
			orNull(a.Failure), orNull(a.Detail), orNull(a.Next),
		}
		if err := lines.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

type webhookDroppedCommand struct {
	storeFlag
	Subscription string `arg:"" help:"ID of the subscription."`
}

func (webhookDroppedCommand) Help() string {
	return "An event is dropped for a subscription when eight attempts to deliver it have failed, after 33 hours. " + worksWhileServing + "\n\nExample: innsigli webhook dropped 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55"
}

func (c webhookDroppedCommand) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error {
		list, err := o.Dropped(ctx, c.Subscription)
		if err != nil {
			return err
		}
		return table(s.stdout, "EVENT\tDROPPED\tTYPE", list, func(d delivery.Dropped) string {
			return fmt.Sprintf("%s\t%s\t%s", d.Event, timeText(d.At), d.Type)
		})
	})
}

type webhookResendCommand struct {
	storeFlag
	Subscription string   `arg:"" help:"ID of the subscription."`
	Events       []string `arg:"" optional:"" name:"event" help:"IDs of events."`
	All          bool     `help:"All dropped events of the subscription."`
}

func (webhookResendCommand) Help() string {
	return "\"innsigli webhook dropped\" lists the events. They keep their webhook-id, and get as many attempts as new events. The subscription must be active. " + worksWhileServing + "\n\nExample: innsigli webhook resend 3f0c4a52-58f3-4e0b-8a53-6c1f3f1d7c55 --all"
}

func (c webhookResendCommand) Run(ctx context.Context, s streams) error {
	if c.All == (len(c.Events) > 0) {
		return fmt.Errorf("%w: give either IDs of events or --all", errUsage)
	}
	return c.operate(ctx, func(o operator.Operator) error {
		events := c.Events
		if c.All {
			list, err := o.Dropped(ctx, c.Subscription)
			if err != nil {
				return err
			}
			for _, d := range list {
				events = append(events, d.Event)
			}
		}
		sent, err := sendAgain(ctx, o, c.Subscription, events)
		_, printErr := fmt.Fprintf(s.stdout, "events to be sent again: %d\n", sent)
		return errors.Join(err, printErr)
	})
}

// sendAgain sends events again until one fails, and returns how many succeeded.
func sendAgain(ctx context.Context, o operator.Operator, subscription string, events []string) (sent int, err error) {
	for _, event := range events {
		if err := o.SendAgain(ctx, subscription, event); err != nil {
			return sent, err
		}
		sent++
	}
	return sent, nil
}

type webhookKeysCommand struct{ storeFlag }

func (webhookKeysCommand) Help() string {
	return "Lists the v1a keys, as /.well-known/webhook-key.pub does. Each key signs all requests, until SIGNS UNTIL. " + worksWhileServing + "\n\nExample: innsigli webhook keys --store bolt:innsigli.db"
}

func (c webhookKeysCommand) Run(ctx context.Context, s streams) error {
	return c.operate(ctx, func(o operator.Operator) error { return printKeys(ctx, s.stdout, o) })
}

func printKeys(ctx context.Context, w io.Writer, o operator.Operator) error {
	keys, err := o.WebhookKeys(ctx)
	if err != nil {
		return err
	}
	return table(w, "KEY\tCREATED\tSIGNS UNTIL\tPUBLIC KEY", keys, func(k operator.PublicKey) string {
		end := "-"
		if !k.EndsAt.IsZero() {
			end = timeText(k.EndsAt)
		}
		return fmt.Sprintf("%d\t%s\t%s\t%s", k.Number, timeText(k.CreatedAt), end, k.Line)
	})
}

type webhookRotateCommand struct {
	storeFlag
	config.MasterKeyFlag
	Overlap config.Span `default:"7d" placeholder:"TIME" help:"How long the previous keys also sign requests (default ${default})."`
}

func (webhookRotateCommand) Help() string {
	return "Creates a new v1a key. Receivers must fetch it from /.well-known/webhook-key.pub within the overlap. The v1 secrets belong to subscriptions and stay as they are. The new key is encrypted with the master key of the server if one runs on a store of the form bolt:PATH, and else with the first key of --master-key-file.\n\nExample: innsigli webhook rotate-key --overlap 30d --store 'postgres://innsigli@db.example/innsigli?sslmode=verify-full' --master-key-file master.key"
}

// maxOverlap is the longest --overlap.
const maxOverlap = 366 * 24 * time.Hour

func (c webhookRotateCommand) Run(ctx context.Context, s streams) error {
	if overlap := time.Duration(c.Overlap); overlap < 0 || overlap > maxOverlap {
		return fmt.Errorf("%w: --overlap must be between 0 and a year", errUsage)
	}
	store, err := config.ParseStore(c.Store, c.DatabaseFlag)
	if err != nil {
		return err
	}
	return c.operate(ctx, func(o operator.Operator) error {
		if err := o.RotateWebhookKey(ctx, c.KeyFile(store), time.Duration(c.Overlap)); err != nil {
			return err
		}
		return printKeys(ctx, s.stdout, o)
	})
}

type webhookVerifyCommand struct {
	Secret string    `placeholder:"HEX" help:"Secret of the subscription: 64 hexadecimal characters, or whsec_ and Base64."`
	Key    string    `placeholder:"FILE" help:"File with public keys of the service, as /.well-known/webhook-key.pub returns them, or as whpk_ and Base64. It may also have a secret, which other users of the machine then do not see."`
	At     time.Time `placeholder:"TIME" help:"Verify as of this time, such as 2026-06-17T12:00:00Z (default: now)."`
}

func (webhookVerifyCommand) Help() string {
	return "The command reads a request from stdin as it was received: the request line (optional), the headers, an empty line, and the exact bytes of the body. The request verifies if one of its signatures does, and if it was sent at most five minutes before or after --at. The exit status is 0 if it verifies, 1 if not, and 2 for wrong usage.\n\nExample: innsigli webhook verify --key webhook-key.pub --at 2026-06-17T12:00:00Z < request.txt"
}

func (c webhookVerifyCommand) Run(s streams) error {
	keys, err := c.keys()
	if err != nil {
		return err
	}
	header, body, err := readRequest(os.Stdin)
	if err != nil {
		return err
	}
	if c.At.IsZero() {
		c.At = time.Now()
	}
	verified, refused := verifyDelivery(c.At, header, body, keys)
	if err := printDelivery(s.stdout, header, body, verified); err != nil {
		return err
	}
	if refused == nil {
		return nil
	}
	s.say(strings.TrimPrefix(refused.Error(), "webhook: "))
	if advice := deliveryAdvice(refused, header, body); advice != "" {
		s.say(advice)
	}
	return errSilent
}

// keys returns the keys of the flags.
func (c webhookVerifyCommand) keys() ([]webhook.Key, error) {
	var keys []webhook.Key
	if c.Secret != "" {
		key, err := webhook.ParseKey(c.Secret)
		if err != nil {
			return nil, fmt.Errorf("%w: --secret: %w", errUsage, keyFault(err))
		}
		keys = append(keys, key)
	}
	if c.Key != "" {
		text, err := os.ReadFile(c.Key)
		if err != nil {
			return nil, err
		}
		more, err := webhook.ParseKeys(string(text))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", c.Key, keyFault(err))
		}
		keys = append(keys, more...)
	}
	if keys == nil {
		return nil, fmt.Errorf("%w: --secret or --key is missing", errUsage)
	}
	return keys, nil
}

// keyFault returns the error of a text that is not a key, without the package name.
func keyFault(err error) error {
	var refused *webhook.KeyError
	switch {
	case !errors.As(err, &refused):
		return err
	case refused.Line > 0:
		return fmt.Errorf("line %d: %s", refused.Line, refused.Message)
	}
	return errors.New(refused.Message)
}

// verifyDelivery returns the schemes with a signature that verifies, or an error if there is none.
func verifyDelivery(at time.Time, header http.Header, body []byte, keys []webhook.Key) (verified []string, refused error) {
	for _, scheme := range []webhook.Scheme{webhook.V1, webhook.V1a} {
		var ofScheme []webhook.Key
		for _, k := range keys {
			if k.Scheme() == scheme {
				ofScheme = append(ofScheme, k)
			}
		}
		err := webhook.VerifyAt(at, header, body, ofScheme...)
		switch {
		case err == nil:
			verified = append(verified, string(scheme))
		case !errors.Is(err, webhook.ErrNoKeys):
			refused = err
		}
	}
	if verified != nil {
		return verified, nil
	}
	return nil, refused
}

// printDelivery prints the event of a request, whether or not the request verifies.
func printDelivery(w io.Writer, header http.Header, body []byte, verified []string) error {
	verdict := "none"
	if verified != nil {
		verdict = strings.Join(verified, " ")
	}
	rows := [][2]string{{"verified", verdict}, {"id", shown(header.Get(webhook.HeaderID))}}
	if e, err := webhook.ParseEvent(header, body); err != nil {
		rows = append(rows, [2]string{"event", "unknown: the body is not an event"})
	} else {
		rows = append(rows, [2]string{"type", shown(e.Type)}, [2]string{"time", timeText(e.Timestamp)})
	}
	rows = append(rows, [2]string{"sent", sentText(header)}, [2]string{"subscription", shown(header.Get(webhook.HeaderSubscription))})
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-14s %s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return nil
}

// maxRequest is the most bytes of a request that are read. A delivery has far fewer.
const maxRequest = 8 << 20

// requestLine matches the request line of any HTTP version (RFC 9112 3).
var requestLine = regexp.MustCompile(`^[!-~]+ [!-~]+ HTTP/[0-9.]+\r?\n`)

// readRequest reads a request as it was received. The body is all bytes after the empty line.
func readRequest(r io.Reader) (http.Header, []byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, maxRequest+1))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the request: %w", err)
	}
	if len(content) > maxRequest {
		return nil, nil, errors.New("reading the request: it is longer than 8 MiB")
	}
	content = content[len(requestLine.Find(content)):]
	rest := bufio.NewReader(bytes.NewReader(content))
	header, err := textproto.NewReader(rest).ReadMIMEHeader()
	if errors.Is(err, io.EOF) {
		return nil, nil, errors.New("reading the request: no empty line ends the headers")
	}
	if err != nil {
		return nil, nil, errors.New("reading the request: a line before the empty line is not a header")
	}
	body, err := io.ReadAll(rest)
	return http.Header(header), body, err
}

// sentText returns when the request was sent, by its webhook-timestamp; empty if it has none.
func sentText(header http.Header) string {
	seconds, err := strconv.ParseInt(header.Get(webhook.HeaderTimestamp), 10, 64)
	if err != nil {
		return ""
	}
	return timeText(time.Unix(seconds, 0))
}

// shown returns untrusted text on one line, shortened, and with control characters escaped.
func shown(text string) string {
	const most = 256
	quoted := strconv.Quote(text[:min(len(text), most)])
	return quoted[1 : len(quoted)-1]
}

// deliveryAdvice returns the usual cause of an error of verification; empty if there is none.
func deliveryAdvice(refused error, header http.Header, body []byte) string {
	length := header.Get("Content-Length")
	switch {
	case errors.Is(refused, webhook.ErrTooOld), errors.Is(refused, webhook.ErrTooNew):
		return "--at " + sentText(header) + " verifies it as of the time when it was sent"
	case errors.Is(refused, webhook.ErrSignature) && length != "" && length != strconv.Itoa(len(body)):
		return fmt.Sprintf("the body has %d bytes, and Content-Length is %s: check that no line end was added or removed", len(body), shown(length))
	}
	return ""
}
