package main

import (
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/login"
	"github.com/innsigli/innsigli/portal/page"
)

// meaning is an error as the page tells people of it. What neither a person nor the time decided is
// for the operator to know; no error text of these packages names anybody.
func (l logins) meaning(err error) error {
	means := l.reason(err)
	if means == nil {
		return err
	}
	if means == page.ErrRefusedLogin {
		l.log.Warn("a login was refused", "error", err)
	}
	return fmt.Errorf("%w: %w", means, err)
}

// reason is one of package page's; nil: the error is a fault on the way.
func (l logins) reason(err error) error {
	switch {
	case errors.Is(err, login.ErrExpired):
		return page.ErrTimeout
	case errors.Is(err, login.ErrForeign):
		return page.ErrForeignAnswer
	case errors.Is(err, login.ErrMethod), errors.Is(err, login.ErrNoKennitala):
		return page.ErrRefusedLogin
	}
	if f := l.refusal(err); f != nil {
		return loginFailure(f.Code)
	}
	return nil
}

// loginFailure is what a code of service.md 7.2 means to who logs in; nil: the same may be asked again.
func loginFailure(code idp.ErrorCode) error {
	switch code {
	case idp.UserCancelled, idp.AccessDenied:
		return page.ErrCancelled
	case idp.UserNotFound, idp.UserHasNoPhone, idp.CertificateNotFound, idp.KeyNotFound:
		return page.ErrUnknown
	case idp.TimeoutNoAnswer, idp.ExpiredToken:
		return page.ErrTimeout
	case idp.SystemUnderMaintenance, idp.CommunicationError:
		return nil
	}
	return page.ErrRefusedLogin
}
