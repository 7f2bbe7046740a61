package audkenni

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
)

var errNotification = errors.New("audkenni: not a notification for us")

// Notification implements [idp.Notifier]: r is a ping (CIBA Core 1.0 10.2), to be answered with
// 204. Without Options.Ping nothing is. The request that the ping is about has to be the one
// that the person was asked last; where the State knows of none that is open, the ping may have
// overtaken the storing of it, and any will do.
func (p *Provider) Notification(r *http.Request) (key string, authentic func(idp.State) bool, err error) {
	if !p.options.Ping {
		return "", nil, errNotification
	}
	token, authReqID, err := ciba.ReadNotification(r)
	if err != nil {
		return "", nil, errNotification
	}
	encoded, _, _ := strings.Cut(token, ".")
	named, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return "", nil, errNotification
	}
	return string(named), func(s idp.State) bool {
		c, err := resume(s)
		return err == nil && same(c.Notification, token) && (c.Phase == ready || same(c.AuthReqID, authReqID))
	}, nil
}

// same compares secrets.
func same(ours, theirs string) bool {
	return ours != "" && subtle.ConstantTimeCompare([]byte(ours), []byte(theirs)) == 1
}

// longestToken is how long a client_notification_token may be (CIBA Core 1.0 7.1).
const longestToken = 1024

// newNotification makes the token by which Auðkenni names the conversation, and shows that it
// is Auðkenni. One serves all requests of the conversation: it is in the State before the
// second of them is made.
func newNotification(key string) (string, error) {
	random := make([]byte, 32)
	if _, err := rand.Read(random); err != nil {
		return "", fmt.Errorf("audkenni: drawing a notification token: %w", err)
	}
	token := base64.RawURLEncoding.EncodeToString([]byte(key)) + "." + base64.RawURLEncoding.EncodeToString(random)
	if len(token) > longestToken {
		return "", errors.New("audkenni: the key of the conversation is too long for pings")
	}
	return token, nil
}
