package online

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// read returns the body of an answer. What is larger than usual waits for its turn, and
// takes no memory before.
func (e exchange) read(ctx context.Context, answer *http.Response) ([]byte, error) {
	tooLarge := fmt.Errorf("%w: more than %d bytes", errTooLarge, e.limit)
	if answer.ContentLength > e.limit {
		return nil, tooLarge
	}
	usual := min(e.limit, smallAnswer)
	body, err := readUpTo(nil, usual, answer)
	if err == nil && int64(len(body)) > usual && usual < e.limit {
		body, err = e.readLarge(ctx, body, answer)
	}
	if err == nil && int64(len(body)) > e.limit {
		return nil, tooLarge
	}
	return body, err
}

func (e exchange) readLarge(ctx context.Context, begun []byte, answer *http.Response) ([]byte, error) {
	if err := e.large.take(ctx); err != nil {
		return nil, fmt.Errorf("waiting for other large answers: %w", unavailable(err))
	}
	defer e.large.give()
	return readUpTo(begun, e.limit, answer)
}

// readUpTo appends to the body until its end, or until it is longer than the limit. The
// buffer is as long as the answer says to be, within the limit.
func readUpTo(body []byte, limit int64, answer *http.Response) ([]byte, error) {
	if size := min(answer.ContentLength, limit) + 1; size > int64(cap(body)) { // one more, to find the end
		body = append(make([]byte, 0, size), body...)
	}
	rest := io.LimitReader(answer.Body, limit+1-int64(len(body)))
	for {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := rest.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, fmt.Errorf("reading the answer: %w", unavailable(err))
		}
	}
}

// maxLarge is how many large answers are read at once: each may take 64 MiB, and there may
// be as many addresses that send them as there are certificates.
const maxLarge = 2

// slots are the turns of those who read large answers. The zero value has them all.
type slots struct {
	once  sync.Once
	taken chan struct{}
}

func (s *slots) take(ctx context.Context) error {
	s.once.Do(func() { s.taken = make(chan struct{}, maxLarge) })
	select {
	case s.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slots) give() { <-s.taken }
