package audkenni

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

// translation is how errors become the service's codes.
type translation struct {
	codes map[string]idp.ErrorCode // by texts of Auðkenni's and OAuth errors
	own   []string                 // texts of Options.Errors, the longest first
}

func newTranslation(own map[string]idp.ErrorCode) translation {
	t := translation{codes: Errors()}
	maps.Copy(t.codes, own)
	t.own = slices.SortedFunc(maps.Keys(own), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return t
}

var (
	ownCode   = regexp.MustCompile(`(?:mssp|audkenni|akreg)_\d{3}|InvalidClientId`)
	endResult = regexp.MustCompile(`\b(WRONG_VC|USER_REFUSED|TIMEOUT|DOCUMENT_UNUSABLE)(?:\b|_)`)
)

// text finds what the description of an error stands for.
func (t translation) text(description string) (string, bool) {
	for _, text := range t.own {
		if strings.Contains(description, text) {
			return text, true
		}
	}
	if code := ownCode.FindString(description); code != "" {
		return code, true
	}
	if result := endResult.FindStringSubmatch(description); result != nil {
		return result[1], true
	}
	return "", false
}

// code is the service's for an error answer: by its description, or else by the OAuth
// error, or else by the status. As long as polling goes on, a description decides nothing.
func (t translation) code(e *ciba.Error) idp.ErrorCode {
	if e.Pending() {
		return t.codes[e.Code]
	}
	if text, ok := t.text(e.Description); ok {
		return t.codes[text]
	}
	if code, ok := t.codes[e.Code]; ok {
		return code
	}
	return statusCode(e.Status)
}

func statusCode(status int) idp.ErrorCode {
	switch {
	case status == http.StatusServiceUnavailable:
		return idp.SystemUnderMaintenance
	case status >= http.StatusInternalServerError:
		return idp.CommunicationError
	}
	return ""
}

// Refusal returns the failure that an error of package ciba is, as in a conversation: what [Errors]
// says, after Options.Errors. nil: it ends nothing, and the same may be asked again.
func (p *Provider) Refusal(err error) *idp.Failure { return p.errors.refusal(err) }

// refusal returns the failure that an error is; nil for a fault on the way, or at the
// provider, after which the same may be asked again. An answer with a status of a server's
// fault is one, unless it speaks of the phone.
func (t translation) refusal(err error) *idp.Failure {
	var refused *ciba.Error
	var untrusted *ciba.UntrustedError
	switch {
	case errors.As(err, &untrusted):
		return &idp.Failure{Code: idp.InternalError, Description: "The identity provider's answer cannot be trusted."}
	case !errors.As(err, &refused):
		return nil
	}
	if _, spoken := t.text(refused.Description); !spoken && !refused.Pending() && passing(refused.Status) {
		return nil
	}
	f := t.failure(refused)
	return &f
}

// passing says whether a status is one of a server that may answer later.
func passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// fault is an error that ends nothing, with the pause that it asks for.
func fault(err error, interval time.Duration) error {
	wait := interval
	var refused *ciba.Error
	var transport *ciba.TransportError
	switch {
	case errors.As(err, &refused):
		wait = max(wait, refused.RetryAfter)
	case errors.As(err, &transport):
		wait = max(wait, transport.RetryAfter)
	}
	return &idp.FaultError{RetryAfter: wait, Err: err}
}

func (t translation) failure(e *ciba.Error) idp.Failure {
	return idp.Failure{Code: t.code(e), OAuth: bounded(e.Code), Description: bounded(e.Description)}
}

// unreachable is what a fault means to a conversation that it keeps from beginning; ok is
// false for what is no fault of the provider's or the way to it.
func (t translation) unreachable(err error) (f idp.Failure, ok bool) {
	var refused *ciba.Error
	var fault *ciba.TransportError
	switch {
	case errors.As(err, &refused):
		return t.failure(refused), true
	case !errors.As(err, &fault):
		return f, false
	case statusCode(fault.Status) == idp.SystemUnderMaintenance:
		return idp.Failure{Code: idp.SystemUnderMaintenance, Description: "The identity provider is under maintenance."}, true
	}
	return idp.Failure{Code: idp.CommunicationError, Description: "The identity provider could not be reached."}, true
}

var expired = idp.Failed{Failure: idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}}

// longestDescription is how many bytes of Auðkenni's words are passed on.
const longestDescription = 1024

func bounded(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), longestDescription)], "")
}
