package webhook

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The errors of Verify. A receiver answers all but ErrNoKeys with 401 (spec 5.5).
var (
	// ErrNoKeys: there is no key, or all are the zero Key.
	ErrNoKeys = errors.New("webhook: no keys to verify with")
	// ErrMissingHeader: webhook-id, webhook-timestamp or webhook-signature is missing.
	ErrMissingHeader = errors.New("webhook: header is missing")
	// ErrRepeatedHeader: one of these headers has several values, so the request is ambiguous.
	ErrRepeatedHeader = errors.New("webhook: header is repeated")
	// ErrID: webhook-id is not 1 to 256 visible ASCII characters without a full stop.
	ErrID = errors.New("webhook: webhook-id is malformed")
	// ErrTimestamp: webhook-timestamp is not a decimal number of seconds.
	ErrTimestamp = errors.New("webhook: webhook-timestamp is malformed")
	// ErrTooOld: webhook-timestamp is more than five minutes in the past.
	ErrTooOld = errors.New("webhook: webhook-timestamp is too old")
	// ErrTooNew: webhook-timestamp is more than five minutes in the future.
	ErrTooNew = errors.New("webhook: webhook-timestamp is too new")
	// ErrTooManySignatures: webhook-signature has more than 16 items.
	ErrTooManySignatures = errors.New("webhook: too many signatures")
	// ErrSignature: no signature verifies with any of the keys.
	ErrSignature = errors.New("webhook: no signature verifies")
)

const (
	// tolerance is the permitted difference of the sender's and the receiver's clocks (spec 5.5).
	tolerance = 5 * time.Minute
	// maxSignatures bounds the work that an unauthenticated request causes. A key rotation needs fewer signatures.
	maxSignatures = 16
	maxID         = 256
	// maxTimestamp is the end of the year 9999, the last of RFC 3339. Larger numbers are usually milliseconds.
	maxTimestamp = 253402300799
)

// Verify verifies a request with any of the keys; body must be exactly the received bytes (spec 5.5). It returns
// nil, or an error that is or wraps one of the errors above.
func Verify(header http.Header, body []byte, keys ...Key) error {
	return VerifyAt(time.Now(), header, body, keys...)
}

// VerifyAt is Verify as of another time, for requests that were stored.
func VerifyAt(now time.Time, header http.Header, body []byte, keys ...Key) error {
	if !slices.ContainsFunc(keys, Key.verifies) {
		return ErrNoKeys
	}
	id, at, err := identify(header)
	if err != nil {
		return err
	}
	if at.Before(now.Add(-tolerance)) {
		return ErrTooOld
	}
	if at.After(now.Add(tolerance)) {
		return ErrTooNew
	}
	list, err := singleHeader(header, HeaderSignature)
	if err != nil {
		return err
	}
	return verifyAny(list, content(id, at, body), keys)
}

// identify returns the event's ID and the time of the attempt.
func identify(header http.Header) (id string, at time.Time, err error) {
	if id, err = singleHeader(header, HeaderID); err != nil {
		return "", time.Time{}, err
	}
	if !validID(id) {
		return "", time.Time{}, ErrID
	}
	text, err := singleHeader(header, HeaderTimestamp)
	if err != nil {
		return "", time.Time{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > maxTimestamp || strconv.FormatInt(seconds, 10) != text {
		return "", time.Time{}, ErrTimestamp
	}
	return id, time.Unix(seconds, 0), nil
}

// validID reports whether a webhook-id is valid. It must not contain a full stop, which separates the parts of the
// signed content: "a.1.2.{}" could be the event "a" sent at 1 with the body "2.{}", or "a.1" sent at 2 with "{}".
func validID(id string) bool {
	for _, c := range []byte(id) {
		if c <= ' ' || c >= 0x7f || c == '.' {
			return false
		}
	}
	return len(id) <= maxID
}

// singleHeader returns the value of a header that must occur once.
func singleHeader(header http.Header, name string) (string, error) {
	values := header.Values(name)
	if len(values) > 1 {
		return "", fmt.Errorf("%w: %s", ErrRepeatedHeader, strings.ToLower(name))
	}
	if len(values) == 0 || values[0] == "" {
		return "", fmt.Errorf("%w: %s", ErrMissingHeader, strings.ToLower(name))
	}
	return values[0], nil
}

// verifyAny returns nil if an item of the list is a valid signature of the content. It ignores malformed items and
// items of unknown schemes, which later versions of the service may send (spec 5.5).
func verifyAny(list string, content []byte, keys []Key) error {
	items := strings.SplitN(list, " ", maxSignatures+1)
	if len(items) > maxSignatures {
		return ErrTooManySignatures
	}
	verifiers := make(map[Scheme][]verifier)
	for _, k := range keys {
		if k.verifies() {
			verifiers[k.scheme] = append(verifiers[k.scheme], k.verifier(content))
		}
	}
	for _, item := range items {
		scheme, text, _ := strings.Cut(item, ",")
		signature, ok := decodeBase64(text)
		if !ok {
			continue
		}
		for _, verify := range verifiers[Scheme(scheme)] {
			if verify(signature) {
				return nil
			}
		}
	}
	return ErrSignature
}
