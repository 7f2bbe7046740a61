package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/webhook"
)

// bare is what sending is compared with: Go's HTTP client in a loop that signs and posts, and
// keeps nothing.
type bare struct {
	client http.Client
	key    ed25519.PrivateKey
}

// parcel is a request to be made.
type parcel struct {
	to   *endpoint
	id   string
	body []byte
}

func newBare(ctx context.Context, o *office, loops int) (*bare, error) {
	keys, err := o.hooks.Keys(ctx)
	if err != nil {
		return nil, err
	}
	return &bare{
		client: http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: loops}},
		key:    ed25519.NewKeyFromSeed(keys[0].Private),
	}, nil
}

// send posts all of them, in so many loops at once, and says how long that took.
func (b *bare) send(ctx context.Context, loops int, all []parcel) (time.Duration, error) {
	defer b.client.CloseIdleConnections()
	began := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	for i := range loops {
		group.Go(func() error {
			for j := i; j < len(all); j += loops {
				if err := b.post(ctx, all[j]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err := group.Wait()
	return time.Since(began), err
}

func (b *bare) post(ctx context.Context, p parcel) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.to.to.URL, bytes.NewReader(p.body))
	if err != nil {
		return err
	}
	now := time.Now()
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set(webhook.HeaderID, p.id)
	request.Header.Set(webhook.HeaderTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(webhook.HeaderSubscription, p.to.to.ID)
	request.Header.Set(webhook.HeaderSignature,
		webhook.SignV1(p.to.to.Secret, p.id, now, p.body)+" "+webhook.SignV1a(b.key, p.id, now, p.body))
	answer, err := b.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the bare loop was answered with %s, %w", answer.Status, err)
	}
	return nil
}
