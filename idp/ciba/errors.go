package ciba

import (
	"fmt"
	"time"
)

// Error is an OAuth error answer of the provider (RFC 6749 5.2).
type Error struct {
	Status      int           // of HTTP; 0 for an error in a redirect (RFC 6749 4.1.2.1)
	Code        string        // such as "access_denied"; at most 200 bytes
	Description string        // error_description in the provider's words; at most 4 KiB
	RetryAfter  time.Duration // how long the provider asks to wait; 0: it does not say
}

// Error names the status and the code. It leaves the description out, which may name a person.
func (e *Error) Error() string {
	return fmt.Sprintf("ciba: the provider answers %d %q", e.Status, e.Code)
}

// Pending says whether polling goes on after the error: the person has not answered, or the
// provider was asked too often, after which every interval is to be longer by 5 seconds
// (CIBA Core 11).
func (e *Error) Pending() bool { return e.Code == "authorization_pending" || e.Code == "slow_down" }

// TransportError: there was no answer, or none that can be understood.
type TransportError struct {
	Sent       bool          // the request may have been received
	Status     int           // of HTTP; 0: no answer
	RetryAfter time.Duration // as in Error
	Err        error
}

func (e *TransportError) Error() string { return "ciba: " + e.Err.Error() }
func (e *TransportError) Unwrap() error { return e.Err }

// UntrustedError: tokens or claims are not what the provider would issue to this client.
type UntrustedError struct{ Err error }

func (e *UntrustedError) Error() string { return "ciba: " + e.Err.Error() }
func (e *UntrustedError) Unwrap() error { return e.Err }

func untrusted(format string, values ...any) error {
	return &UntrustedError{fmt.Errorf(format, values...)}
}
