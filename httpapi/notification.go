package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// Notifier reads a notification of the identity provider. key identifies the conversation that the notification is
// about, and authentic reports whether the sender knows the secret of that conversation. An [idp.Notifier] implements
// it.
type Notifier interface {
	Notification(r *http.Request) (key string, authentic func(idp.State) bool, err error)
}

// Notifications receives notifications of the identity provider. Notified returns signing.ErrFinished if there is no
// such conversation, or the notification is not authentic. *signing.Service implements it.
type Notifications interface {
	Notified(ctx context.Context, key string, authentic func(idp.State) bool) error
}

// NotificationPath is the path at which the identity provider notifies the server that a conversation has ended, such
// as by a ping of OpenID CIBA.
const NotificationPath = "/idp/notification"

// maxNotification is more than a ping needs: it has a bearer token of at most 1024 characters in the header, and the ID
// of an authentication request in the body (CIBA Core 1.0 7.1 and 10.2).
const maxNotification = 16 << 10

// receiveNotification answers 204 to an authentic notification (CIBA Core 1.0 10.2). A sender that does not know the
// conversation's secret gets the answer for a conversation that does not exist.
func (a *api) receiveNotification(w http.ResponseWriter, r *http.Request) error {
	if err := limitBody(w, r, maxNotification); err != nil {
		return err
	}
	key, authentic, err := a.Notifier.Notification(r)
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return &tooLarge
	}
	if err != nil {
		a.authFailed(r, InvalidNotification, "")
		w.Header().Set("WWW-Authenticate", `Bearer realm="innsigli"`)
		return new(invalidNotification)
	}
	if err := a.Notifications.Notified(r.Context(), key, authentic); err != nil {
		if errors.Is(err, signing.ErrFinished) {
			a.authFailed(r, InvalidNotification, "")
		}
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
