package page

import (
	"errors"
	"net/http"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
)

// failures are the keys of the words that tell a person why there is no signature. Where several
// codes come to the same for people, they have the same words.
var failures = map[idp.ErrorCode]string{
	idp.UserCancelled:                 "failure.cancelled",
	idp.AccessDenied:                  "failure.cancelled",
	idp.TimeoutNoAnswer:               "failure.timeout",
	idp.ExpiredToken:                  "failure.timeout",
	idp.UserNotFound:                  "failure.nobody",
	idp.UserHasNoPhone:                "failure.nophone",
	idp.WrongVerificationCodeSelected: "failure.wrongcode",
	idp.RequestInProgress:             "failure.inprogress",
	idp.PinBlocked:                    "failure.pin",
	idp.CardBlocked:                   "failure.card",
	idp.InternalErrorCheckApp:         "failure.app",
	idp.KeyNotFound:                   "failure.certificate",
	idp.CertificateNotFound:           "failure.certificate",
	idp.CertificateIsRevoked:          "failure.revoked",
	idp.CertificateValidationError:    "failure.untrusted",
	idp.SignatureVerificationError:    "failure.untrusted",
	idp.CommunicationError:            "failure.communication",
	idp.SystemUnderMaintenance:        "failure.maintenance",
	idp.InternalError:                 "failure.internal",
	idp.AuthorizationPartyUnknown:     "failure.operator",
	idp.InvalidRequest:                "failure.operator",
	idp.InvalidClient:                 "failure.operator",
	idp.InvalidGrant:                  "failure.operator",
	idp.UnauthorizedClient:            "failure.operator",
	idp.UnsupportedGrantType:          "failure.operator",
	idp.IncorrectParameter:            "failure.operator",
	idp.MissingParameter:              "failure.operator",
	idp.WrongDataLength:               "failure.operator",
	idp.UnableToHandleGivenData:       "failure.document",
	idp.IncompatibleVersion:           "failure.operator",
	idp.UnsupportedProfile:            "failure.operator",
}

// failureKey is never empty: of an error that nobody knows there is at least to be said that the
// person has not signed.
func failureKey(code idp.ErrorCode) string {
	if key := failures[code]; key != "" {
		return key
	}
	return "failure.unknown"
}

// failure is the key of the words for why the attempt came to nothing that the address of the page
// names; empty when it names none, or one that did not fail.
func (p *Page) failure(r *http.Request, place *portal.ParticipantView) (string, error) {
	query := r.URL.Query()
	if query.Has(refusedQuery) {
		return failureKey(idp.ErrorCode(query.Get(refusedQuery))), nil
	}
	request := query.Get(attemptQuery)
	if request == "" {
		return "", nil
	}
	progress, err := p.config.Portal.Progress(r.Context(), place.ID, place.Participant.ID, request)
	switch {
	case errors.Is(err, portal.ErrNotFound): // too long ago, or never
		return "", nil
	case err != nil || progress.Failure == nil:
		return "", err
	}
	return failureKey(progress.Failure.Code), nil
}
