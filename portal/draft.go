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

// Draft is what a process is created from (spec 4.1).
type Draft struct {
	Account      string
	Client       string // ID of the API client that calls, for the evidence log; empty for [Web]
	Origin       Origin // empty: [API]
	FileName     string
	Document     string // ID of a document that signing.Service.Upload stored; from now on the service's
	Page         int    // of the stamps; the first is 1
	Corner       stamp.Corner
	Participants []Invitee
	Key          *DraftKey // nil: a repeated call creates another process
}

// Invitee is a participant of a draft.
type Invitee struct {
	Name      string
	Email     string
	Role      Role
	Kennitala string // 10 digits; empty: the first person who logs in becomes the participant
	Phone     string // at most 7 digits; may be empty
}

// DraftKey is the idempotency key of a call of [Service.Create].
type DraftKey struct {
	Value       string
	Fingerprint string // of the request's body
}

// Fault is an error in a field. Field is its path in the JSON of spec 4.1, such as "participants[1].email". Message is a
// sentence.
type Fault struct{ Field, Message string }

// InvalidError is the error of invalid input. It has the faults of all fields.
type InvalidError struct{ Faults []Fault }

func (e *InvalidError) Error() string {
	var list []string
	for _, f := range e.Faults {
		list = append(list, f.Field+": "+f.Message)
	}
	return "portal: invalid: " + strings.Join(list, "; ")
}

// Limits of spec 4.1, in characters unless another unit is given.
const (
	MaxParticipants = 100 // participants of a process
	MaxReason       = 256 // of [Service.Decline]
	MaxName         = 256 // of a participant, also of the email address
	MaxFileName     = 100
	KennitalaDigits = 10
	MaxPhoneDigits  = 7
)

// Check checks all fields of the draft except the document and the page, which [Service.Create] checks (spec 4.1). The
// error is an [*InvalidError].
func (d *Draft) Check() error {
	var f faults
	f.check("file.name", fileNameFault(d.FileName))
	if d.Corner < stamp.TopLeft || d.Corner > stamp.BottomRight {
		f.add("signatureLocation", "Must be one of the four corners.")
	}
	f.check("participants", d.participantsFault())
	for i := range d.Participants[:min(len(d.Participants), MaxParticipants)] {
		one := &d.Participants[i]
		at := func(field string) string { return fmt.Sprintf("participants[%d].%s", i, field) }
		f.check(at("name"), requiredTextFault(one.Name, MaxName))
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

// faults collects the faults of an [InvalidError]. The functions whose names end in Fault return the message of a fault,
// or "" if there is none.
type faults []Fault

func (f *faults) add(field, message string) { *f = append(*f, Fault{field, message}) }

func (f *faults) check(field, message string) {
	if message != "" {
		f.add(field, message)
	}
}

const requiredMessage = "This field is required."

func (d *Draft) participantsFault() string {
	signs := func(one Invitee) bool { return one.Role == Signer }
	switch {
	case len(d.Participants) == 0:
		return requiredMessage
	case len(d.Participants) > MaxParticipants:
		return fmt.Sprintf("Must be at most %d.", MaxParticipants)
	case !slices.ContainsFunc(d.Participants, signs):
		return "At least one participant must have the role Signer."
	}
	return ""
}

// requiredTextFault checks a text that must not be empty (spec 1.2).
func requiredTextFault(text string, most int) string {
	if strings.TrimSpace(text) == "" {
		return requiredMessage
	}
	return textFault(text, most)
}

func textFault(text string, most int) string {
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
	fault := requiredTextFault(name, MaxFileName)
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

// emailFault checks an address, which must differ from those of the participants before it.
func emailFault(email string, before []Invitee) string {
	if fault := requiredTextFault(email, MaxName); fault != "" {
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

// isHost reports whether name can be the host of an email address: labels of letters, digits and inner hyphens, or an
// address in brackets (RFC 5321 4.1.2, with the letters of RFC 6531). net/mail admits more, as RFC 5322 does.
func isHost(name string) bool {
	if strings.HasPrefix(name, "[") {
		return true // net/mail has checked it
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
		return requiredMessage
	}
	return fmt.Sprintf("Must be one of: %s, %s.", Signer, Viewer)
}

func kennitalaFault(kennitala string) string {
	if kennitala != "" && (len(kennitala) != KennitalaDigits || !isDigits(kennitala)) {
		return fmt.Sprintf("Must be %d digits.", KennitalaDigits)
	}
	return ""
}

func phoneFault(phone string) string {
	if len(phone) > MaxPhoneDigits || !isDigits(phone) {
		return fmt.Sprintf("Must be at most %d digits.", MaxPhoneDigits)
	}
	return ""
}

func isDigits(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' })
}

// checkReason checks the reason of a decline, which may be empty.
func checkReason(reason string) error {
	if fault := textFault(reason, MaxReason); fault != "" {
		return &InvalidError{[]Fault{{"reason", fault}}}
	}
	return nil
}
