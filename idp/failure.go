package idp

// Failure is the reason why there is no signature, or none yet (spec 3.7).
type Failure struct {
	Code        ErrorCode `json:"code"`        // empty if the service has no code for the error
	OAuth       string    `json:"oauth"`       // the provider's OAuth error, such as "access_denied"; may be empty
	Description string    `json:"description"` // the provider's description, unchanged
}

// ErrorCode is the service's code for a failure (spec 3.7).
type ErrorCode string

const (
	// Polling continues after these two codes.
	AuthorizationPending ErrorCode = "AuthorizationPending"
	SlowDown             ErrorCode = "SlowDown"

	// The signer.
	ExpiredToken                  ErrorCode = "ExpiredToken"
	AccessDenied                  ErrorCode = "AccessDenied"
	TimeoutNoAnswer               ErrorCode = "TimeoutNoAnswer"
	UserCancelled                 ErrorCode = "UserCancelled"
	UserNotFound                  ErrorCode = "UserNotFound"
	UserHasNoPhone                ErrorCode = "UserHasNoPhone"
	WrongVerificationCodeSelected ErrorCode = "WrongVerificationCodeSelected"
	RequestInProgress             ErrorCode = "RequestInProgress"
	PinBlocked                    ErrorCode = "PinBlocked"
	CardBlocked                   ErrorCode = "CardBlocked"
	InternalErrorCheckApp         ErrorCode = "InternalErrorCheckApp"

	// The certificate and the signature.
	KeyNotFound                ErrorCode = "KeyNotFound"
	CertificateNotFound        ErrorCode = "CertificateNotFound"
	CertificateIsRevoked       ErrorCode = "CertificateIsRevoked"
	CertificateValidationError ErrorCode = "CertificateValidationError"
	SignatureVerificationError ErrorCode = "SignatureVerificationError"

	// The provider.
	CommunicationError        ErrorCode = "CommunicationError"
	SystemUnderMaintenance    ErrorCode = "SystemUnderMaintenance"
	InternalError             ErrorCode = "InternalError"
	AuthorizationPartyUnknown ErrorCode = "AuthorizationPartyUnknown"

	// The request.
	InvalidRequest          ErrorCode = "InvalidRequest"
	InvalidClient           ErrorCode = "InvalidClient"
	InvalidGrant            ErrorCode = "InvalidGrant"
	UnauthorizedClient      ErrorCode = "UnauthorizedClient"
	UnsupportedGrantType    ErrorCode = "UnsupportedGrantType"
	IncorrectParameter      ErrorCode = "IncorrectParameter"
	MissingParameter        ErrorCode = "MissingParameter"
	WrongDataLength         ErrorCode = "WrongDataLength"
	UnableToHandleGivenData ErrorCode = "UnableToHandleGivenData"
	IncompatibleVersion     ErrorCode = "IncompatibleVersion"
	UnsupportedProfile      ErrorCode = "UnsupportedProfile"
)

// Pending reports whether polling continues after the code.
func (c ErrorCode) Pending() bool { return c == AuthorizationPending || c == SlowDown }

// ErrorCodes returns all codes of spec 3.7.
func ErrorCodes() []ErrorCode {
	return []ErrorCode{
		AuthorizationPending, SlowDown,
		ExpiredToken, AccessDenied, TimeoutNoAnswer, UserCancelled, UserNotFound, UserHasNoPhone, WrongVerificationCodeSelected,
		RequestInProgress, PinBlocked, CardBlocked, InternalErrorCheckApp,
		KeyNotFound, CertificateNotFound, CertificateIsRevoked, CertificateValidationError, SignatureVerificationError,
		CommunicationError, SystemUnderMaintenance, InternalError, AuthorizationPartyUnknown,
		InvalidRequest, InvalidClient, InvalidGrant, UnauthorizedClient, UnsupportedGrantType, IncorrectParameter, MissingParameter,
		WrongDataLength, UnableToHandleGivenData, IncompatibleVersion, UnsupportedProfile,
	}
}
