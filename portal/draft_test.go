package portal

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/stamp"
)

// validDraft returns a draft without faults.
func validDraft() Draft {
	return Draft{FileName: "Contract.pdf", Participants: []Invitee{
		{Name: "Anna", Email: "anna@example.is", Role: Signer, Kennitala: "0101302989", Phone: "5551234"},
		{Name: "Vala", Email: "vala@example.is", Role: Viewer},
	}}
}

// signers returns so many signers.
func signers(n int) (list []Invitee) {
	for i := range n {
		list = append(list, Invitee{Name: "Anna", Email: fmt.Sprintf("anna%d@example.is", i), Role: Signer})
	}
	return list
}

// long returns a text of so many characters of two bytes.
func long(n int, end string) string { return strings.Repeat("ð", n-len(end)) + end }

// checkFault compares an error with the text of the faults; "" is no error.
func checkFault(t *testing.T, err error, want string, value any) {
	t.Helper()
	var invalid *InvalidError
	if want == "" && err != nil || want != "" && (!errors.As(err, &invalid) || err.Error() != "portal: invalid: "+want) {
		t.Errorf("%.100q: got %v, want %q", value, err, want)
	}
}

// TestTextFields checks the rules of each text (spec 4.1), at the last permitted value and at the first refused one.
func TestTextFields(t *testing.T) {
	const (
		required, control, utf8 = "This field is required.", "Must not contain control characters.", "Must be text in UTF-8."
		noEmail, tenDigits      = "Must be an email address.", "Must be 10 digits."
	)
	second := func(set func(*Invitee, string)) func(string) error {
		return func(s string) error { d := validDraft(); set(&d.Participants[1], s); return d.Check() }
	}
	for _, test := range []struct {
		field  string
		check  func(string) error
		values map[string][]string // by fault
	}{
		{"file.name", func(s string) error { d := validDraft(); d.FileName = s; return d.Check() }, map[string][]string{
			"":                                     {long(100, ".pdf"), "A.PDF"},
			required:                               {"", " \t"},
			"Must be at most 100 characters long.": {long(101, ".pdf")},
			"Must end in .pdf.":                    {".pdf", "contract.pdf.exe"},
			`Must not contain / or \.`:             {"a/b.pdf", `a\b.pdf`},
			control:                                {"a\nb.pdf"},
			utf8:                                   {"\xff.pdf"},
		}},
		{"participants[1].name", second(func(one *Invitee, s string) { one.Name = s }), map[string][]string{
			"":                                     {long(256, "")},
			required:                               {""},
			"Must be at most 256 characters long.": {long(257, "")},
			control:                                {"An\x00na"},
		}},
		{"participants[1].email", second(func(one *Invitee, s string) { one.Email = s }), map[string][]string{
			"":                                     {long(256, "@example.is"), "vala@mail-2.example.is", "vala@þjónusta.is", "vala@[192.0.2.1]"},
			required:                               {" "},
			"Must be at most 256 characters long.": {long(257, "@example.is")},
			noEmail: {
				"vala", "vala@", "vala@example.is*", "vala@-example.is", "Vala <vala@example.is>", "<vala@example.is>",
				"vala@example.is (Vala)", "vala@example.is, jon@example.is",
			},
			control: {"vala@example.is\r\nBcc: jon@example.is"},
			"Must not be the address of another participant.": {"Anna@Example.IS"},
		}},
		{"participants[1].role", second(func(one *Invitee, s string) { one.Role = Role(s) }), map[string][]string{
			required: {""}, "Must be one of: Signer, Viewer.": {"viewer"},
		}},
		{"participants[1].kennitala", second(func(one *Invitee, s string) { one.Kennitala = s }), map[string][]string{
			"": {""}, tenDigits: {"010130298", "01013029890", "010130-2989", "٠١٢٣٤"},
		}},
		{"participants[1].phoneNumber", second(func(one *Invitee, s string) { one.Phone = s }), map[string][]string{
			"": {"", "1234567"}, "Must be at most 7 digits.": {"12345678", "+354555"},
		}},
		{"reason", checkReason, map[string][]string{
			"":                                     {"", "  ", long(256, ""), "Nei, takk. 🙂"},
			"Must be at most 256 characters long.": {long(257, "")},
			control:                                {"no\x00"},
			utf8:                                   {"\xff"},
		}},
	} {
		for fault, values := range test.values {
			if fault != "" {
				fault = test.field + ": " + fault
			}
			for _, value := range values {
				checkFault(t, test.check(value), fault, value)
			}
		}
	}
}

// TestCheck checks the other rules of spec 4.1, and that all faults are named, in order.
func TestCheck(t *testing.T) {
	for what, test := range map[string]struct {
		change func(*Draft)
		want   string
	}{
		"valid":            {func(*Draft) {}, ""},
		"last corner":      {func(d *Draft) { d.Corner = stamp.BottomRight }, ""},
		"fifth corner":     {func(d *Draft) { d.Corner = stamp.BottomRight + 1 }, "signatureLocation: Must be one of the four corners."},
		"no participants":  {func(d *Draft) { d.Participants = nil }, "participants: This field is required."},
		"100 participants": {func(d *Draft) { d.Participants = signers(100) }, ""},
		"101 participants": {func(d *Draft) { d.Participants = signers(101) }, "participants: Must be at most 100."},
		"no signer": {
			func(d *Draft) { d.Participants = d.Participants[1:] }, "participants: At least one participant must have the role Signer.",
		},
		"all": {func(d *Draft) {
			*d = Draft{Corner: -1, Participants: []Invitee{{Email: "a@b.is", Kennitala: "1"}, {Name: "B", Email: "A@b.is", Role: "b", Phone: "b"}}}
		}, strings.Join([]string{
			"file.name: This field is required.",
			"signatureLocation: Must be one of the four corners.",
			"participants: At least one participant must have the role Signer.",
			"participants[0].name: This field is required.",
			"participants[0].role: This field is required.",
			"participants[0].kennitala: Must be 10 digits.",
			"participants[1].email: Must not be the address of another participant.",
			"participants[1].role: Must be one of: Signer, Viewer.",
			"participants[1].phoneNumber: Must be at most 7 digits.",
		}, "; ")},
	} {
		d := validDraft()
		test.change(&d)
		checkFault(t, d.Check(), test.want, what)
	}
}
