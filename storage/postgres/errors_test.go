package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/innsigli/innsigli/storage"
)

func TestTranslate(t *testing.T) {
	other := errors.New("another error")
	for _, test := range []struct {
		err, want error
	}{
		{nil, nil},
		{other, other},
		{pgx.ErrNoRows, storage.ErrNotFound},
		{io.ErrUnexpectedEOF, storage.ErrUnavailable},
		{pgconn.ErrConnClosed, storage.ErrUnavailable},
		{serverError("23505"), storage.ErrExists},
		{serverError("53100"), storage.ErrFull},
		{serverError("08006"), storage.ErrUnavailable},
		{serverError("25006"), storage.ErrUnavailable},
		{serverError("40P01"), storage.ErrUnavailable},
		{serverError("53300"), storage.ErrUnavailable},
		{serverError("55P03"), storage.ErrUnavailable},
		{serverError("57014"), storage.ErrUnavailable},
		{serverError("57P01"), storage.ErrUnavailable},
		{serverError("57P02"), storage.ErrUnavailable},
		{serverError("57P03"), storage.ErrUnavailable},
		{serverError("3D000"), ErrNoDatabase},
		{serverError("28P01"), ErrAccessDenied},
		{serverError("28000"), ErrAccessDenied},
		{serverError("42501"), ErrNotGranted},
	} {
		if got := translate(test.err); !errors.Is(got, test.want) {
			t.Errorf("%v becomes %v, want %v", test.err, got, test.want)
		}
	}
	// Errors in this package's own statements are not translated.
	for _, code := range []string{"22021", "42P01"} {
		if got := translate(serverError(code)); isTranslated(got) {
			t.Errorf("%s becomes %v", code, got)
		}
	}
}

// serverError is the error of a statement that failed with an error code of the server.
func serverError(code string) error {
	return fmt.Errorf("a statement: %w", &pgconn.PgError{Code: code, Message: "message", Detail: "Key (id)=(secret)"})
}

func TestCallError(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithTimeout(t.Context(), 0) // time: it is over from the beginning
	defer cancelLate()
	for name, test := range map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"cancelled by the caller": {ended, serverError("57014"), context.Canceled},
		"connection closed":       {ended, io.ErrUnexpectedEOF, context.Canceled},
		"caller's deadline":       {late, context.DeadlineExceeded, context.DeadlineExceeded},
		"timeout of this package": {t.Context(), context.DeadlineExceeded, storage.ErrUnavailable},
		"timeout of the server":   {t.Context(), serverError("57014"), storage.ErrUnavailable},
		"answered before the end": {ended, pgx.ErrNoRows, storage.ErrNotFound},
	} {
		if got := callError(test.ctx, test.err); !errors.Is(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
	// The caller's context has not ended, so the error must not be a context error.
	if got := callError(t.Context(), context.DeadlineExceeded); errors.Is(got, context.DeadlineExceeded) || strings.Count(got.Error(), "not available") != 1 {
		t.Errorf("timeout of this package: %q", got)
	}
}
