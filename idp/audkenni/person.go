package audkenni

import (
	"fmt"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// newConversation is one in which nobody was asked yet.
func (p *Provider) newConversation(key string, person idp.Person, text idp.Text) (*conversation, error) {
	person.Kennitala = idp.NamedKennitala(person.Kennitala)
	c := &conversation{key: key, expires: time.Now().Add(unasked).UTC()}
	c.Person, c.Phase = person, ready
	c.Document = cut(line(text.Document), longestLong)
	switch {
	case person.Kennitala == "":
		return nil, fmt.Errorf("audkenni: nobody is asked without a kennitala")
	case person.Method == idp.SIM && p.options.SIM.Hint.of(person) == "":
		return nil, fmt.Errorf("audkenni: nobody is asked by %s without a phone number", idp.SIM)
	case !p.options.Ping:
		return c, nil
	}
	var err error
	c.Notification, err = newNotification(key)
	return c, err
}

// of returns what names the person.
func (h Hint) of(person idp.Person) string {
	switch h {
	case HintKennitala:
		return person.Kennitala
	case HintLocalPhone:
		if local, ok := idp.LocalPhone(person.Phone); ok {
			return local
		}
	}
	return person.Phone
}
