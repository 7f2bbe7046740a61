package account

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"
)

// maxName is in characters, as for the names of participants (spec 4.1).
const maxName = 256

// maxCredential bounds client ids and secrets, in bytes.
const maxCredential = 256

// validName follows spec 1.2: white space alone is nothing, and control
// characters are refused.
func validName(name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("%w: the name is missing", ErrInvalid)
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return fmt.Errorf("%w: the name has characters that no name has", ErrInvalid)
	case utf8.RuneCountInString(name) > maxName:
		return fmt.Errorf("%w: the name is longer than %d characters", ErrInvalid, maxName)
	}
	return nil
}

// maxAdmins is how many get a mail when there is trouble.
const maxAdmins = 20

func validAddresses(list []string) error {
	if len(list) > maxAdmins {
		return fmt.Errorf("%w: more than %d admins", ErrInvalid, maxAdmins)
	}
	for i, text := range list {
		a, err := mail.ParseAddress(text)
		if err != nil || a.Address != text || len(text) > maxName {
			return fmt.Errorf("%w: admin %d is no address for mail, such as admin@example.is", ErrInvalid, i+1)
		}
		if slices.ContainsFunc(list[:i], func(other string) bool { return strings.EqualFold(other, text) }) {
			return fmt.Errorf("%w: admin %d is listed twice", ErrInvalid, i+1)
		}
	}
	return nil
}

// validID wants the form in which ids are compared.
func validID(id string) error {
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return fmt.Errorf("%w: the account's id is not a UUID in lower case", ErrInvalid)
	}
	return nil
}

// validCredential follows RFC 6749 A.1 and A.2: ids and secrets are made of
// printable ASCII characters.
func validCredential(what, value string) error {
	if value == "" || len(value) > maxCredential {
		return fmt.Errorf("%w: the %s is not 1 to %d characters", ErrInvalid, what, maxCredential)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return fmt.Errorf("%w: the %s has characters other than printable ASCII", ErrInvalid, what)
	}
	return nil
}
