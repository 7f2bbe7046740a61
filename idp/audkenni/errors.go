package audkenni

import (
	"fmt"
	"maps"

	"github.com/innsigli/innsigli/idp"
)

// Errors returns what Auðkenni's errors are told the client as (spec 3.7), by the
// texts that stand for them: its own codes, which come in error_description, the end
// results of SK's Smart-ID, should they be passed on there, and the OAuth errors. An empty
// code is for an error that the service has no word for. [Options].Errors adds to the table
// or goes before it.
//
// mssp_ codes are the status codes of ETSI TS 102 204 10.7 with Auðkenni's meaning where
// its page 898039809 gives one.
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
	"akreg_401":       "", // may not create a certificate; of enrolment only

	// The request (ETSI TS 102 204).
	"mssp_100": idp.InternalError, // accepted: a state, and no error
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
	"mssp_500": idp.InternalError, // signed: a state, and no error
	"mssp_501": idp.CertificateIsRevoked,
	"mssp_502": idp.InternalError, // valid: a state, and no error
	"mssp_503": idp.SignatureVerificationError,
	"mssp_504": idp.RequestInProgress,
	"mssp_900": idp.InternalError,

	// Smart-ID's end results.
	"WRONG_VC":          idp.WrongVerificationCodeSelected,
	"USER_REFUSED":      idp.UserCancelled, // also longer: USER_REFUSED_CERT_CHOICE
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
	"invalid_token":            idp.InvalidGrant, // the access token of a grant that is gone
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
