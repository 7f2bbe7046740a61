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

// Why a request does not verify. All but ErrNoKeys are answered with 401 (spec 5.5).
var (
	// ErrNoKeys: no key was given that can verify anything.
	ErrNoKeys = errors.New("webhook: no keys to verify with")
	// ErrMissingHeader: there is no webhook-id, webhook-timestamp or webhook-signature.
	ErrMissingHeader = errors.New("webhook: header is missing")
	// ErrRepeatedHeader: one of them is there several times. Which is meant, nobody can say.
	ErrRepeatedHeader = errors.New("webhook: header is repeated")
	// ErrID: webhook-id is not 1 to 256 visible ASCII characters without a full stop.
	ErrID = errors.New("webhook: webhook-id is malformed")
	// ErrTimestamp: webhook-timestamp is not a plain number of seconds.
	ErrTimestamp = errors.New("webhook: webhook-timestamp is malformed")
	// ErrTooOld: webhook-timestamp is more than five minutes ago.
	ErrTooOld = errors.New("webhook: webhook-timestamp is too old")
	// ErrTooNew: webhook-timestamp is more than five minutes ahead.
	ErrTooNew = errors.New("webhook: webhook-timestamp is too new")
	// ErrTooManySignatures: webhook-signature has more than 16 items.
	ErrTooManySignatures = errors.New("webhook: too many signatures")
	// ErrSignature: no signature verifies with any of the keys.
	ErrSignature = errors.New("webhook: no signature verifies")
)

const (
	// tolerance is how far the clocks of both sides may be apart (spec 5.5).
	tolerance = 5 * time.Minute
	// maxSignatures bounds what a stranger makes us compute. Ten keys of one scheme, and some of
	// another, are more than any rotation needs.
	maxSignatures = 16
	maxID         = 256
	// lastSecond is the last that RFC 3339 has a year for. Beyond that are no seconds but, as they
	// are seen, milliseconds; and in the end what [time.Time] cannot hold.
	lastSecond = 253402300799
)

// Verify says whether one of the keys verifies a request, of which the body is given exactly
// as it was received (spec 5.5). The errors are those named above, for [errors.Is].
func Verify(header http.Header, body []byte, keys ...Key) error {
	return VerifyAt(time.Now(), header, body, keys...)
}

// VerifyAt is Verify as of another time, for requests that were kept.
func VerifyAt(now time.Time, header http.Header, body []byte, keys ...Key) error {
	if !slices.ContainsFunc(keys, Key.verifies) {
		return ErrNoKeys
	}
	id, at, err := identity(header)
	if err != nil {
		return err
	}
	if at.Before(now.Add(-tolerance)) {
		return ErrTooOld
	}
	if at.After(now.Add(tolerance)) {
		return ErrTooNew
	}
	list, err := single(header, HeaderSignature)
	if err != nil {
		return err
	}
	return verifyAny(list, content(id, at, body), keys)
}

// identity reads which event was sent when.
func identity(header http.Header) (id string, at time.Time, err error) {
	if id, err = single(header, HeaderID); err != nil {
		return "", time.Time{}, err
	}
	if !validID(id) {
		return "", time.Time{}, ErrID
	}
	text, err := single(header, HeaderTimestamp)
	if err != nil {
		return "", time.Time{}, err
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 0 || seconds > lastSecond || strconv.FormatInt(seconds, 10) != text {
		return "", time.Time{}, ErrTimestamp
	}
	return id, time.Unix(seconds, 0), nil
}

// validID judges a webhook-id. Full stops separate what is signed: of the content "a.1.2.{}" one
// could say that a was sent at 1 with the body "2.{}", or "a.1" at 2 with "{}". An id without them
// can be read in one way only.
func validID(id string) bool {
	for _, c := range []byte(id) {
		if c <= ' ' || c >= 0x7f || c == '.' {
			return false
		}
	}
	return len(id) <= maxID
}

// single is the value of a header that has to be there once.
func single(header http.Header, name string) (string, error) {
	values := header.Values(name)
	if len(values) > 1 {
		return "", fmt.Errorf("%w: %s", ErrRepeatedHeader, strings.ToLower(name))
	}
	if len(values) == 0 || values[0] == "" {
		return "", fmt.Errorf("%w: %s", ErrMissingHeader, strings.ToLower(name))
	}
	return values[0], nil
}

// verifyAny says whether an item of the list is a signature of the content. Schemes that are not
// known and items that are malformed are passed over: the list may grow (spec 5.5).
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
		for _, verifies := range verifiers[Scheme(scheme)] {
			if verifies(signature) {
				return nil
			}
		}
	}
	return ErrSignature
}
