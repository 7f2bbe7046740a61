package portal

import (
	"fmt"
	"net/mail"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/innsigli/innsigli/stamp"
)

// Limits of spec 4.1, in characters unless said otherwise.
const (
	MaxParticipants = 100 // of a process
	MaxReason       = 256 // of a decline
	MaxName         = 256 // of a participant, and of their email address
	MaxFileName     = 100
	KennitalaDigits = 10
	MaxPhoneDigits  = 7
)

// Check judges the fields of the draft, all of them at once (spec 4.1). What has to do with
// the document, which is the page as well, is found out when the process is made. [*InvalidError].
func (d *Draft) Check() error {
	var f faults
	f.check("file.name", fileNameFault(d.FileName))
	if d.Corner < stamp.TopLeft || d.Corner > stamp.BottomRight {
		f.add("signatureLocation", "Must be one of the four corners.")
	}
	f.check("participants", d.listFault())
	for i := range d.Participants[:min(len(d.Participants), MaxParticipants)] {
		one := &d.Participants[i]
		at := func(field string) string { return fmt.Sprintf("participants[%d].%s", i, field) }
		f.check(at("name"), textFault(one.Name, MaxName))
		f.check(at("email"), emailFault(one.Email, d.Participants[:i]))
		f.check(at("role"), roleFault(one.Role))
		f.check(at("kennitala"), kennitalaFault(one.Kennitala))
		f.check(at("phoneNumber"), phoneFault(one.Phone))
	}
	if f == nil {
		return nil
	}
	return &InvalidError{f}
}

type faults []Fault

func (f *faults) add(field, message string) { *f = append(*f, Fault{field, message}) }

func (f *faults) check(field, message string) {
	if message != "" {
		f.add(field, message)
	}
}

const missing = "This field is required."

func (d *Draft) listFault() string {
	signs := func(one Invitee) bool { return one.Role == Signer }
	switch {
	case len(d.Participants) == 0:
		return missing
	case len(d.Participants) > MaxParticipants:
		return fmt.Sprintf("Must be at most %d.", MaxParticipants)
	case !slices.ContainsFunc(d.Participants, signs):
		return "At least one participant must have the role Signer."
	}
	return ""
}

// textFault judges text that has to be there (spec 1.2).
func textFault(text string, most int) string {
	if strings.TrimSpace(text) == "" {
		return missing
	}
	return plainFault(text, most)
}

func plainFault(text string, most int) string {
	switch {
	case !utf8.ValidString(text):
		return "Must be text in UTF-8."
	case strings.ContainsFunc(text, unicode.IsControl):
		return "Must not contain control characters."
	case utf8.RuneCountInString(text) > most:
		return fmt.Sprintf("Must be at most %d characters long.", most)
	}
	return ""
}

func fileNameFault(name string) string {
	const suffix = ".pdf"
	fault := textFault(name, MaxFileName)
	switch {
	case fault != "":
		return fault
	case strings.ContainsAny(name, `/\`):
		return `Must not contain / or \.`
	case len(name) <= len(suffix), !strings.EqualFold(name[len(name)-len(suffix):], suffix):
		return "Must end in .pdf."
	}
	return ""
}

// emailFault judges an address beside those of the participants before it.
func emailFault(email string, before []Invitee) string {
	if fault := textFault(email, MaxName); fault != "" {
		return fault
	}
	if a, err := mail.ParseAddress(email); err != nil || a.Name != "" || a.Address != email || !isHost(email[strings.LastIndexByte(email, '@')+1:]) {
		return "Must be an email address."
	}
	same := func(one Invitee) bool { return strings.EqualFold(one.Email, email) }
	if slices.ContainsFunc(before, same) {
		return "Must not be the address of another participant."
	}
	return ""
}

// isHost says whether something can be the host of an address: labels of letters, digits and inner hyphens, or an
// address in brackets (RFC 5321 4.1.2, with the letters of RFC 6531). A header may have more (RFC 5322).
func isHost(name string) bool {
	if strings.HasPrefix(name, "[") {
		return true // net/mail has judged it
	}
	odd := func(r rune) bool { return r != '-' && !unicode.In(r, unicode.L, unicode.M, unicode.Nd) }
	for label := range strings.SplitSeq(name, ".") {
		if label == "" || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") || strings.ContainsFunc(label, odd) {
			return false
		}
	}
	return true
}

func roleFault(role Role) string {
	switch role {
	case Signer, Viewer:
		return ""
	case "":
		return missing
	}
	return fmt.Sprintf("Must be one of: %s, %s.", Signer, Viewer)
}

func kennitalaFault(kennitala string) string {
	if kennitala != "" && (len(kennitala) != KennitalaDigits || !digits(kennitala)) {
		return fmt.Sprintf("Must be %d digits.", KennitalaDigits)
	}
	return ""
}

func phoneFault(phone string) string {
	if len(phone) > MaxPhoneDigits || !digits(phone) {
		return fmt.Sprintf("Must be at most %d digits.", MaxPhoneDigits)
	}
	return ""
}

func digits(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// checkReason bounds what a participant says on declining, which may be nothing.
func checkReason(reason string) error {
	if fault := plainFault(reason, MaxReason); fault != "" {
		return &InvalidError{[]Fault{{"reason", fault}}}
	}
	return nil
}
