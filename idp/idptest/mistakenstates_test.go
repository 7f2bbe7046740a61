package idptest

import (
	"io"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/idp"
)

var wrongStates = []mistake{
	{name: "a State without its key", around: after(func(a *answer) { a.state.Key = "" }), found: "not Begin's"},
	{name: "a State for ever", around: after(func(a *answer) { a.state.Expires = time.Time{} }), found: "does not expire"},
	{name: "a State of another version", around: after(func(a *answer) {
		if _, ok := a.event.(idp.Signed); ok {
			a.state.Version = 7
		}
	}), found: "the State of Poll is of"},
	{name: "a State is kept in memory", around: remembering, found: "a conversation goes on in another process"},
	{name: "conversations mix", around: mixing, found: "conversations side by side do not mix"},
	{name: "States of others are taken", inside: wrongs{anyState: true}, found: "a State of another provider is refused"},
	{name: "States of the version before are taken", inside: wrongs{oldStates: true}, found: "a State of the version before is refused"},
	{name: "what was stored is refused", around: after(func(a *answer) {
		if a.before.Key == storedKey {
			a.err = io.ErrUnexpectedEOF
		}
	}), found: "a State of the present version is not refused, but Poll of ready"},
	{name: "a State that cannot be read panics", inside: wrongs{anyState: true}, found: "a State that is damaged breaks nothing: no input makes a provider panic"},
	{name: "a State that cannot be read waits", around: after(func(a *answer) {
		if a.call == "Poll" && a.err != nil {
			a.event, a.err = idp.Waiting{}, nil
		}
	}), found: "a State that is cut off is refused"},
	{name: "who called Sign is asked for the digest", around: askingAgain, found: "for another certificate only"},
	{name: "who never called Sign waits", around: silentAfterNeedDigest, found: "NeedDigest comes again where Sign was never called: the conversation has no end"},
}

// remembering leaves the secret part of a State in memory.
func remembering(p idp.Provider) idp.Provider {
	secrets := map[string][]byte{}
	return twisted{p.(idp.Notifier), func(a *answer) { a.before.Secret = secrets[a.before.Key] }, func(a *answer) {
		if a.err == nil {
			secrets[a.state.Key], a.state.Secret = a.state.Secret, []byte("{}")
		}
	}}
}

// mixing remembers the last conversation only.
func mixing(p idp.Provider) idp.Provider {
	var last []byte
	return twisted{p.(idp.Notifier), func(a *answer) { a.before.Secret = last }, func(a *answer) { last = a.state.Secret }}
}

// askingAgain asks for the digest once more when the person has signed it.
func askingAgain(p idp.Provider) idp.Provider {
	asked := map[string]idp.Event{}
	return after(func(a *answer) {
		switch a.event.(type) {
		case idp.NeedDigest:
			asked[a.state.Key] = a.event
		case idp.Continue:
			if again := asked[a.state.Key]; again != nil {
				a.event = again
			}
		}
	})(p)
}

// silentAfterNeedDigest answers a Poll with Waiting when it has answered NeedDigest.
func silentAfterNeedDigest(p idp.Provider) idp.Provider {
	answered := map[string]bool{}
	return after(func(a *answer) {
		if _, ok := a.event.(idp.NeedDigest); !ok {
			return
		}
		if a.call == "Poll" && answered[a.state.Key] {
			a.event = idp.Waiting{}
		}
		answered[a.state.Key] = true
	})(p)
}

var wrongNotifications = []mistake{
	{name: "everything is authentic", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		return r.URL.Path, func(idp.State) bool { return true }, nil
	}), found: "the notification is not one for the State of"},
	{name: "authentic without a secret", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		return r.URL.Path, func(s idp.State) bool { return s.Key == r.URL.Path }, nil
	}), found: "a request without its header is no notification"},
	{name: "nothing is authentic", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		return r.URL.Path, func(idp.State) bool { return false }, nil
	}), found: "is one for the State of its conversation"},
	{name: "another key", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		_, authentic, err := p.Notification(r)
		return "key", authentic, err
	}), found: "the key is Begin's"},
	{name: "one secret for all", inside: wrongs{sharedSecret: true}, found: "each conversation has a secret of its own"},
	{name: "a body of any length", around: reading(func(p idp.Notifier, r *http.Request) (string, func(idp.State) bool, error) {
		io.Copy(io.Discard, r.Body)
		return p.Notification(r)
	}), found: "a body without an end is given up"},
}
