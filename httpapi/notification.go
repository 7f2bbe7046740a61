package httpapi

import (
	"errors"
	"net/http"
)

// NotificationPath is where the identity provider tells that it has news, as by a ping of
// OpenID CIBA.
const NotificationPath = "/idp/notification"

// maxNotification is more than a ping has: a bearer token of at most 1024 characters in the
// header, and the ID of a request in the body (CIBA Core 1.0 7.1 and 10.2).
const maxNotification = 16 << 10

// notified answers 204 to news that somebody waits for (CIBA Core 1.0 10.2). Who does not
// know the conversation's secret is told what is said of one that does not exist.
func (a *api) notified(w http.ResponseWriter, r *http.Request) error {
	if err := limitBody(w, r, maxNotification); err != nil {
		return err
	}
	key, authentic, err := a.Notifier.Notification(r)
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return &tooLarge
	}
	if err != nil {
		w.Header().Set("WWW-Authenticate", `Bearer realm="innsigli"`)
		return new(noNotification)
	}
	if err := a.News.Notified(r.Context(), key, authentic); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
