package main

import "github.com/innsigli/innsigli/idp"

// finalCodes are the codes of service.md 7.2 that an error of the provider can mean: all but
// those after which polling goes on.
var finalCodes = []idp.ErrorCode{
	idp.ExpiredToken, idp.AccessDenied, idp.TimeoutNoAnswer, idp.UserCancelled, idp.UserNotFound, idp.UserHasNoPhone,
	idp.WrongVerificationCodeSelected, idp.RequestInProgress, idp.PinBlocked, idp.CardBlocked, idp.InternalErrorCheckApp,
	idp.KeyNotFound, idp.CertificateNotFound, idp.CertificateIsRevoked, idp.CertificateValidationError, idp.SignatureVerificationError,
	idp.CommunicationError, idp.SystemUnderMaintenance, idp.InternalError, idp.AuthorizationPartyUnknown,
	idp.InvalidRequest, idp.InvalidClient, idp.InvalidGrant, idp.UnauthorizedClient, idp.UnsupportedGrantType,
	idp.IncorrectParameter, idp.MissingParameter, idp.WrongDataLength, idp.UnableToHandleGivenData, idp.IncompatibleVersion, idp.UnsupportedProfile,
}
