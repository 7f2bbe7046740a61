package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/innsigli/innsigli/storage"
)

// The server's error codes (PostgreSQL manual, appendix A) that this package distinguishes.
const (
	connectionException   = "08"    // a class
	authorization         = "28"    // a class: the role or its password
	invalidCatalogName    = "3D000" // no such database
	invalidSchemaName     = "3F000" // no schema in which the role may create tables
	insufficientPrivilege = "42501"
	uniqueViolation       = "23505"
	readOnly              = "25006" // a server that has become a standby
	idleTooLong           = "25P03" // idle_in_transaction_session_timeout
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	diskFull              = "53100"
	outOfMemory           = "53200"
	tooManyConnections    = "53300"
	lockNotAvailable      = "55P03" // within lock_timeout
	queryCancelled        = "57014" // by statement_timeout, or because the context ended
	adminShutdown         = "57P01"
	crashShutdown         = "57P02"
	cannotConnectNow      = "57P03"
)

// temporaryCodes are the errors after which the same call may succeed later.
var temporaryCodes = []string{
	readOnly, idleTooLong, serializationFailure, deadlockDetected, outOfMemory, tooManyConnections,
	lockNotAvailable, queryCancelled, adminShutdown, crashShutdown, cannotConnectNow,
}

// translate returns the errors of pgx and of the server as those of package storage.
func translate(err error) error {
	var pgErr *pgconn.PgError
	switch {
	case err == nil, isTranslated(err):
		return err
	case errors.Is(err, pgx.ErrNoRows):
		return storage.ErrNotFound
	case errors.As(err, &pgErr):
		return translateCode(pgErr.Code, err)
	case isUntrusted(err):
		return fmt.Errorf("%w: %w: %w", storage.ErrUnavailable, ErrUntrusted, err)
	case isConnectionError(err):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return err
}

// translateCode returns the error for an error code of the server. Its text includes the server's message, but
// not the other fields of the server's error, which may quote stored values.
func translateCode(code string, err error) error {
	switch {
	case code == uniqueViolation:
		return fmt.Errorf("%w: %w", storage.ErrExists, err)
	case code == diskFull:
		return fmt.Errorf("%w: %w", storage.ErrFull, err)
	case code == invalidCatalogName:
		return fmt.Errorf("%w: %w", ErrNoDatabase, err)
	case strings.HasPrefix(code, authorization):
		return fmt.Errorf("%w: %w", ErrAccessDenied, err)
	case code == insufficientPrivilege:
		return fmt.Errorf("%w: %w", ErrNotGranted, err)
	case slices.Contains(temporaryCodes, code), strings.HasPrefix(code, connectionException):
		return fmt.Errorf("%w: %w", storage.ErrUnavailable, err)
	}
	return fmt.Errorf("postgres: %w", err)
}

// isTranslated reports whether err is already an error of package storage or of this package.
func isTranslated(err error) bool {
	return slices.ContainsFunc([]error{
		storage.ErrNotFound, storage.ErrExists, storage.ErrNoTx, storage.ErrMoved, storage.ErrTooLarge,
		storage.ErrLeaseLost, storage.ErrUnavailable, storage.ErrFull, storage.ErrNotPermitted,
		ErrNoDatabase, ErrAccessDenied, ErrNotGranted, ErrMayNotMigrate,
	}, func(target error) bool { return errors.Is(err, target) })
}

// isUntrusted reports whether a connection ended because the server has no TLS, or not the right certificate.
func isUntrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &certificate) || strings.Contains(err.Error(), "server refused TLS connection") // pgx has no type for it
}

// isConnectionError reports whether a connection could not be made or was lost.
func isConnectionError(err error) bool {
	var connecting *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connecting) || errors.As(err, &network) || pgconn.SafeToRetry(err) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// isConflict reports whether the server rolled a transaction back because of concurrent ones, so that it may
// be run again.
func isConflict(err error) bool {
	var pgErr *pgconn.PgError
	return errors.As(err, &pgErr) && (pgErr.Code == serializationFailure || pgErr.Code == deadlockDetected)
}

// callError translates the error of a call with the context ctx. If ctx has ended, that is the reason for the
// error. A timeout of this package, which bounds a part of the call, becomes storage.ErrUnavailable instead.
func callError(ctx context.Context, err error) error {
	translated := translate(err)
	timedOut := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case !timedOut && !errors.Is(translated, storage.ErrUnavailable):
		return translated
	case ctx.Err() != nil:
		return fmt.Errorf("postgres: %w", ctx.Err())
	case timedOut:
		return fmt.Errorf("%w: %v", storage.ErrUnavailable, err)
	}
	return translated
}
