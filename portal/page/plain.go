package page

import (
	"cmp"
	"context"
	"strings"
	"unicode"

	"github.com/innsigli/innsigli/portal"
)

// plain is a name as it is shown: on one line, and without what would turn the sentence around that it
// stands in, or hide a part of it. Files are downloaded under the name that they have.
func plain(name string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, name))
}

// sender is the name of whose process it is.
func (p *Page) sender(ctx context.Context, place *portal.ParticipantView) (string, error) {
	name, err := p.config.Sender(ctx, place.Account)
	return plain(name), err
}

// named is a person with a name that can be shown: the kennitala where the provider does not say the name.
func named(person *portal.Person) *portal.Person {
	shown := *person
	shown.Name = cmp.Or(plain(person.Name), localKennitala(person.Kennitala))
	return &shown
}
