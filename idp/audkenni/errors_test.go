package audkenni

import (
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

// described has texts of error_description by the codes of spec 3.7.
var described = map[idp.ErrorCode]string{
	idp.UserHasNoPhone:                "audkenni_400",
	idp.UserNotFound:                  "audkenni_404 mssp_105",
	idp.AuthorizationPartyUnknown:     "InvalidClientId audkenni_403 mssp_104",
	idp.IncorrectParameter:            "mssp_101",
	idp.MissingParameter:              "mssp_102",
	idp.WrongDataLength:               "mssp_103",
	idp.UnableToHandleGivenData:       "mssp_107",
	idp.IncompatibleVersion:           "mssp_108",
	idp.UnsupportedProfile:            "mssp_109",
	idp.TimeoutNoAnswer:               "mssp_208 mssp_209 TIMEOUT",
	idp.UserCancelled:                 "mssp_401 USER_REFUSED",
	idp.PinBlocked:                    "mssp_402",
	idp.CardBlocked:                   "mssp_403",
	idp.KeyNotFound:                   "mssp_404",
	idp.CertificateValidationError:    "mssp_405 mssp_423 mssp_424 mssp_425",
	idp.RequestInProgress:             "mssp_406 mssp_504",
	idp.CertificateNotFound:           "mssp_422",
	idp.CertificateIsRevoked:          "mssp_501",
	idp.SignatureVerificationError:    "mssp_503",
	idp.WrongVerificationCodeSelected: "WRONG_VC",
	idp.InternalErrorCheckApp:         "DOCUMENT_UNUSABLE",
	idp.SystemUnderMaintenance: "mssp_750 mssp_751 mssp_752 mssp_753 mssp_754 mssp_755 mssp_756 mssp_757 mssp_758 mssp_759 mssp_760 mssp_761 mssp_762 mssp_763 mssp_764 " +
		"mssp_765 mssp_766 mssp_767 mssp_768 mssp_769 mssp_770 mssp_771 mssp_772 mssp_773 mssp_774 mssp_775 mssp_776 mssp_777 mssp_778 mssp_779 mssp_780",
	idp.InternalError: "mssp_100 mssp_407 mssp_500 mssp_502 mssp_900 mssp_701 mssp_702 mssp_703 mssp_704 mssp_705 mssp_706 mssp_707 mssp_708 mssp_709 mssp_710 " +
		"mssp_711 mssp_712 mssp_713 mssp_714 mssp_715 mssp_716 mssp_717 mssp_718 mssp_719 mssp_720",
	"": "akreg_401",
}

// oauth has OAuth errors by the codes of spec 3.7.
var oauth = map[idp.ErrorCode]string{
	idp.AuthorizationPending:   "authorization_pending",
	idp.SlowDown:               "slow_down",
	idp.ExpiredToken:           "expired_token",
	idp.AccessDenied:           "access_denied",
	idp.InvalidRequest:         "invalid_request invalid_scope missing_user_code invalid_user_code expired_login_hint_token",
	idp.InvalidClient:          "invalid_client",
	idp.InvalidGrant:           "invalid_grant invalid_token",
	idp.UnauthorizedClient:     "unauthorized_client",
	idp.UnsupportedGrantType:   "unsupported_grant_type",
	idp.UserNotFound:           "unknown_user_id",
	idp.IncorrectParameter:     "invalid_binding_message",
	idp.InternalError:          "server_error transaction_failed",
	idp.SystemUnderMaintenance: "temporarily_unavailable",
}

func TestErrorsAreComplete(t *testing.T) {
	translation := newErrorTable(nil)
	var all []string
	check := func(text string, want idp.ErrorCode, e ciba.Error) {
		t.Helper()
		all = append(all, text)
		e.Status = http.StatusBadRequest
		if diff := cmp.Diff(want, translation.code(&e)); diff != "" {
			t.Errorf("%s is told as (-want +got):\n%s", text, diff)
		}
	}
	for code, texts := range described {
		for text := range strings.FieldsSeq(texts) {
			check(text, code, ciba.Error{Code: "access_denied", Description: text})
		}
	}
	for code, texts := range oauth {
		for text := range strings.FieldsSeq(texts) {
			check(text, code, ciba.Error{Code: text, Description: "Nothing that is known."})
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(Errors())), slices.Sorted(slices.Values(all))); diff != "" {
		t.Errorf("rows that are not tried (-), or are none (+):\n%s", diff)
	}
}

func TestErrorTable(t *testing.T) {
	own := map[string]idp.ErrorCode{
		"mssp_600":       idp.WrongVerificationCodeSelected,
		"mssp_401":       idp.AccessDenied, // over the table
		"app is old":     idp.InternalErrorCheckApp,
		"app is old but": idp.IncompatibleVersion,
		"mssp_208":       "", // the operator wants none
		"no_such_error":  idp.RequestInProgress,
		"invalid_scope":  idp.InternalError,
	}
	for _, test := range []struct {
		name string
		own  map[string]idp.ErrorCode
		e    ciba.Error
		want idp.ErrorCode
	}{
		{"a code in a sentence", nil, ciba.Error{Code: "access_denied", Description: "Villa: mssp_402 (sjá síðu)"}, idp.PinBlocked},
		{"the first of two codes", nil, ciba.Error{Code: "server_error", Description: "audkenni_400: mssp_900"}, idp.UserHasNoPhone},
		{"a code before a word", nil, ciba.Error{Code: "access_denied", Description: "TIMEOUT mssp_406"}, idp.RequestInProgress},
		{"a longer word of Smart-ID", nil, ciba.Error{Code: "access_denied", Description: "USER_REFUSED_CERT_CHOICE"}, idp.UserCancelled},
		{"part of another word", nil, ciba.Error{Code: "access_denied", Description: "SESSION_TIMEOUT"}, idp.AccessDenied},
		{"a code of theirs that is not known", nil, ciba.Error{Code: "access_denied", Description: "mssp_600"}, ""},
		{"an OAuth error without words", nil, ciba.Error{Code: "access_denied"}, idp.AccessDenied},
		{"an error that is not known", nil, ciba.Error{Code: "no_such_error", Status: 400}, ""},
		{"and its status says nothing", nil, ciba.Error{Code: "no_such_error", Status: 500}, idp.CommunicationError},
		{"and its status does", nil, ciba.Error{Code: "no_such_error", Status: 503}, idp.SystemUnderMaintenance},
		{"a row beside the table", own, ciba.Error{Code: "access_denied", Description: "mssp_600"}, idp.WrongVerificationCodeSelected},
		{"a row over the table", own, ciba.Error{Code: "access_denied", Description: "mssp_401"}, idp.AccessDenied},
		{"a row without a code", own, ciba.Error{Code: "access_denied", Description: "mssp_208"}, ""},
		{"a row of words", own, ciba.Error{Code: "access_denied", Description: "The app is old."}, idp.InternalErrorCheckApp},
		{"a row of more words", own, ciba.Error{Code: "access_denied", Description: "The app is old but works."}, idp.IncompatibleVersion},
		{"a row of an OAuth error", own, ciba.Error{Code: "no_such_error"}, idp.RequestInProgress},
		{"a row over that of an OAuth error", own, ciba.Error{Code: "invalid_scope"}, idp.InternalError},
		{"words before an OAuth error", own, ciba.Error{Code: "invalid_scope", Description: "mssp_103"}, idp.WrongDataLength},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := newErrorTable(test.own).code(&test.e); got != test.want {
				t.Errorf("want %q, got %q", test.want, got)
			}
		})
	}
}

// TestFailureIsBounded checks that the texts of a failure are bounded and valid UTF-8.
func TestFailureIsBounded(t *testing.T) {
	long := strings.Repeat("ð", maxDescription) // of two bytes each
	got := newErrorTable(nil).failure(&ciba.Error{Code: "access_denied", Description: "x" + long})
	want := idp.Failure{Code: idp.AccessDenied, OAuth: "access_denied", Description: "x" + long[:maxDescription-2]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got = newErrorTable(nil).failure(&ciba.Error{Code: "access_denied", Description: "a\xffb"})
	if got.Description != "ab" {
		t.Errorf("got %q", got.Description)
	}
}

// TestRefusal checks that a fault is not a refusal, since the call may be repeated.
func TestRefusal(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		want idp.ErrorCode
		none bool
	}{
		{"an error answer", &ciba.Error{Status: 400, Code: "invalid_grant"}, idp.InvalidGrant, false},
		{"a server's fault", &ciba.Error{Status: 500, Code: "server_error"}, "", true},
		{"maintenance", &ciba.Error{Status: 503, Code: "temporarily_unavailable"}, "", true},
		{"a phone's fault as a server's", &ciba.Error{Status: 500, Code: "server_error", Description: "mssp_402"}, idp.PinBlocked, false},
		{"no answer", &ciba.TransportError{Err: errors.New("cut")}, "", true},
		{"tokens of another issuer", &ciba.UntrustedError{Err: errors.New("another issuer")}, idp.InternalError, false},
		{"any other", errors.New("no key"), "", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := newErrorTable(nil).refusal(test.err)
			if (got == nil) != test.none || got != nil && got.Code != test.want {
				t.Errorf("want %q, got %+v", test.want, got)
			}
		})
	}
}
