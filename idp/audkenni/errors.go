package audkenni

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

// Errors returns the table that maps Auðkenni's errors to the service's codes (spec 3.7). Its keys are texts:
// Auðkenni's own codes, which are in error_description, the end results of SK's Smart-ID, which may also be there,
// and the OAuth errors. The code is empty for an error for which the service has no code. [Options].Errors adds
// rows to the table and takes precedence over it.
//
// mssp_ codes are the status codes of ETSI TS 102 204 10.7, with Auðkenni's meaning if its page 898039809 has one.
func Errors() map[string]idp.ErrorCode {
	all := maps.Clone(errorCodes)
	for _, r := range []struct {
		from, to int
		code     idp.ErrorCode
	}{
		{701, 720, idp.InternalError},          // roaming: headers and the validity of a transaction
		{750, 780, idp.SystemUnderMaintenance}, // unable to provide services
	} {
		for n := r.from; n <= r.to; n++ {
			all[fmt.Sprintf("mssp_%03d", n)] = r.code
		}
	}
	return all
}

var errorCodes = map[string]idp.ErrorCode{
	// Auðkenni.
	"audkenni_400":    idp.UserHasNoPhone,
	"audkenni_403":    idp.AuthorizationPartyUnknown,
	"audkenni_404":    idp.UserNotFound,
	"InvalidClientId": idp.AuthorizationPartyUnknown,
	"akreg_401":       "", // may not create a certificate; only in enrolment

	// The request (ETSI TS 102 204).
	"mssp_100": idp.InternalError, // accepted: a status, not an error
	"mssp_101": idp.IncorrectParameter,
	"mssp_102": idp.MissingParameter,
	"mssp_103": idp.WrongDataLength,
	"mssp_104": idp.AuthorizationPartyUnknown,
	"mssp_105": idp.UserNotFound,
	"mssp_107": idp.UnableToHandleGivenData,
	"mssp_108": idp.IncompatibleVersion,
	"mssp_109": idp.UnsupportedProfile,

	// The phone.
	"mssp_208": idp.TimeoutNoAnswer, // it rang
	"mssp_209": idp.TimeoutNoAnswer, // it could not be reached
	"mssp_401": idp.UserCancelled,
	"mssp_402": idp.PinBlocked,
	"mssp_403": idp.CardBlocked,
	"mssp_404": idp.KeyNotFound,
	"mssp_405": idp.CertificateValidationError, // no revocation list
	"mssp_406": idp.RequestInProgress,
	"mssp_407": idp.InternalError,
	"mssp_422": idp.CertificateNotFound,
	"mssp_423": idp.CertificateValidationError, // revocation list cannot be used
	"mssp_424": idp.CertificateValidationError, // revocation list has expired
	"mssp_425": idp.CertificateValidationError,

	// The signature.
	"mssp_500": idp.InternalError, // signed: a status, not an error
	"mssp_501": idp.CertificateIsRevoked,
	"mssp_502": idp.InternalError, // valid: a status, not an error
	"mssp_503": idp.SignatureVerificationError,
	"mssp_504": idp.RequestInProgress,
	"mssp_900": idp.InternalError,

	// Smart-ID's end results.
	"WRONG_VC":          idp.WrongVerificationCodeSelected,
	"USER_REFUSED":      idp.UserCancelled, // also with a suffix, such as USER_REFUSED_CERT_CHOICE
	"TIMEOUT":           idp.TimeoutNoAnswer,
	"DOCUMENT_UNUSABLE": idp.InternalErrorCheckApp,

	// OAuth (RFC 6749 5.2, RFC 6750 3.1) and CIBA Core 1.0 11 and 13.
	"authorization_pending":    idp.AuthorizationPending,
	"slow_down":                idp.SlowDown,
	"expired_token":            idp.ExpiredToken,
	"access_denied":            idp.AccessDenied,
	"invalid_request":          idp.InvalidRequest,
	"invalid_client":           idp.InvalidClient,
	"invalid_grant":            idp.InvalidGrant,
	"invalid_token":            idp.InvalidGrant, // of an access token that is no longer valid
	"unauthorized_client":      idp.UnauthorizedClient,
	"unsupported_grant_type":   idp.UnsupportedGrantType,
	"unknown_user_id":          idp.UserNotFound,
	"invalid_binding_message":  idp.IncorrectParameter,
	"invalid_scope":            idp.InvalidRequest,
	"missing_user_code":        idp.InvalidRequest,
	"invalid_user_code":        idp.InvalidRequest,
	"expired_login_hint_token": idp.InvalidRequest,
	"server_error":             idp.InternalError,
	"temporarily_unavailable":  idp.SystemUnderMaintenance,
	"transaction_failed":       idp.InternalError,
}

// errorTable maps errors to the service's codes.
type errorTable struct {
	codes      map[string]idp.ErrorCode // those of Errors and of Options.Errors
	configured []string                 // the texts of Options.Errors, the longest first
}

func newErrorTable(configured map[string]idp.ErrorCode) errorTable {
	t := errorTable{codes: Errors()}
	maps.Copy(t.codes, configured)
	t.configured = slices.SortedFunc(maps.Keys(configured), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	return t
}

var (
	audkenniCode  = regexp.MustCompile(`(?:mssp|audkenni|akreg)_\d{3}|InvalidClientId`)
	smartIDResult = regexp.MustCompile(`\b(WRONG_VC|USER_REFUSED|TIMEOUT|DOCUMENT_UNUSABLE)(?:\b|_)`)
)

// find returns the text of the table that a description contains.
func (t errorTable) find(description string) (string, bool) {
	for _, text := range t.configured {
		if strings.Contains(description, text) {
			return text, true
		}
	}
	if code := audkenniCode.FindString(description); code != "" {
		return code, true
	}
	if result := smartIDResult.FindStringSubmatch(description); result != nil {
		return result[1], true
	}
	return "", false
}

// code returns the service's code for an error: by its description, or else by the OAuth error, or else by the status.
// The description is ignored while polling continues.
func (t errorTable) code(e *ciba.Error) idp.ErrorCode {
	if e.Pending() {
		return t.codes[e.Code]
	}
	if text, ok := t.find(e.Description); ok {
		return t.codes[text]
	}
	if code, ok := t.codes[e.Code]; ok {
		return code
	}
	return statusCode(e.Status)
}

// statusCode returns the service's code for an HTTP status.
func statusCode(status int) idp.ErrorCode {
	switch {
	case status == http.StatusServiceUnavailable:
		return idp.SystemUnderMaintenance
	case status >= http.StatusInternalServerError:
		return idp.CommunicationError
	}
	return ""
}

// Refusal returns the failure for an error of package ciba, by Options.Errors and [Errors]. It returns nil for a fault
// after which the call may be repeated.
func (p *Provider) Refusal(err error) *idp.Failure { return p.errors.refusal(err) }

// refusal returns the failure for an error, or nil for a fault of the network or of Auðkenni's servers, after which the
// call may be repeated. An error with a temporary status is such a fault, unless its description is in the table.
func (t errorTable) refusal(err error) *idp.Failure {
	var refused *ciba.Error
	var untrusted *ciba.UntrustedError
	switch {
	case errors.As(err, &untrusted):
		return &idp.Failure{Code: idp.InternalError, Description: "The identity provider's answer cannot be trusted."}
	case !errors.As(err, &refused):
		return nil
	}
	if _, found := t.find(refused.Description); !found && !refused.Pending() && isTemporary(refused.Status) {
		return nil
	}
	f := t.failure(refused)
	return &f
}

// isTemporary reports whether a later request may succeed after a status.
func isTemporary(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= http.StatusInternalServerError
}

// retryable returns an [*idp.FaultError] whose RetryAfter is the interval or that of the error, whichever is longer.
func retryable(err error, interval time.Duration) error {
	return &idp.FaultError{RetryAfter: max(interval, ciba.RetryAfter(err)), Err: err}
}

// limit reports whether Auðkenni refused a request because of a limit, and how long to wait. An error whose description is
// in the table is a failure instead.
func (t errorTable) limit(err error) (wait time.Duration, ok bool) {
	if refused := new(ciba.Error); errors.As(err, &refused) {
		if _, found := t.find(refused.Description); found {
			return 0, false
		}
	}
	return ciba.TooManyRequests(err)
}

func (t errorTable) failure(e *ciba.Error) idp.Failure {
	return idp.Failure{Code: t.code(e), OAuth: bounded(e.Code), Description: bounded(e.Description)}
}

// unavailable returns the failure for a fault that prevents a conversation from starting. ok is false for an error that
// is a fault neither of Auðkenni nor of the network.
func (t errorTable) unavailable(err error) (f idp.Failure, ok bool) {
	var refused *ciba.Error
	var transport *ciba.TransportError
	switch {
	case errors.As(err, &refused):
		return t.failure(refused), true
	case !errors.As(err, &transport):
		return f, false
	case statusCode(transport.Status) == idp.SystemUnderMaintenance:
		return idp.Failure{Code: idp.SystemUnderMaintenance, Description: "The identity provider is under maintenance."}, true
	}
	return idp.Failure{Code: idp.CommunicationError, Description: "The identity provider could not be reached."}, true
}

var expired = idp.Failed{Failure: idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}}

// maxDescription is the number of bytes of Auðkenni's description that the adapter passes on.
const maxDescription = 1024

func bounded(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), maxDescription)], "")
}
