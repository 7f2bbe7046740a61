package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// patientClient does as it is told: it waits for as long as Retry-After and the interval say.
type patientClient struct {
	*client
	refused int
}

// sign starts a request and polls to its end, which is to bring a longer document. Of that not more than the length is looked
// at: the trial's own memory and time are not what is tried.
func (p *patientClient) sign(ctx context.Context, body []byte, size int) error {
	started := p.do(ctx, http.MethodPost, "/api/v1/signing", body)
	for ; started.Status != http.StatusOK; p.refused++ {
		if err := p.wait(ctx, started); err != nil {
			return fmt.Errorf("start: %w", err)
		}
		started = p.do(ctx, http.MethodPost, "/api/v1/signing", body)
	}
	for {
		status, length, wait, err := p.fetch(ctx, "/api/v1/signing/"+started.PollingID)
		switch {
		case err != nil:
			return fmt.Errorf("poll: %w", err)
		case status == http.StatusOK && length <= int64(size)*4/3:
			return fmt.Errorf("the signed document has %d characters, of a document of %d bytes", length, size)
		case status == http.StatusOK:
			return nil
		}
		pause(ctx, cmp.Or(wait, time.Duration(started.Interval)*time.Second))
	}
}

// wait waits for as long as an answer says that a later call may go on; the error is an answer that says no
// such thing.
func (p *patientClient) wait(ctx context.Context, a answer) error {
	seconds, err := strconv.Atoi(a.retryAfter)
	if err != nil || a.Status != http.StatusServiceUnavailable && a.Status != http.StatusTooManyRequests {
		return fmt.Errorf("%w: %v", errBroken, a)
	}
	pause(ctx, time.Duration(seconds)*time.Second)
	return ctx.Err()
}

// fetch polls. What is pending or unavailable has the time after which to come again, if it says one.
func (p *patientClient) fetch(ctx context.Context, path string) (status int, length int64, wait time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.addresses[0]+path, nil)
	if err != nil {
		return 0, 0, 0, err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	response, err := p.http.Do(request)
	if err != nil {
		return 0, 0, 0, err
	}
	defer response.Body.Close()
	seconds, _ := strconv.Atoi(response.Header.Get("Retry-After"))
	wait = time.Duration(seconds) * time.Second
	if response.StatusCode == http.StatusOK {
		length, err = io.Copy(io.Discard, response.Body)
		return response.StatusCode, length, wait, err
	}
	var a answer
	if err := json.NewDecoder(response.Body).Decode(&a); err != nil {
		return 0, 0, 0, err
	}
	if a.ErrorCode != "AuthorizationPending" && response.StatusCode != http.StatusServiceUnavailable {
		return 0, 0, 0, fmt.Errorf("%w: %d %v", errBroken, response.StatusCode, a)
	}
	return response.StatusCode, 0, wait, nil
}
