package portal

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/stamp"
)

// sound is a draft with nothing wrong.
func sound() Draft {
	return Draft{FileName: "Contract.pdf", Participants: []Invitee{
		{Name: "Anna", Email: "anna@example.is", Role: Signer, Kennitala: firstKennitala, Phone: "5551234"},
		{Name: "Vala", Email: "vala@example.is", Role: Viewer},
	}}
}

// crowd is so many participants.
func crowd(n int) (list []Invitee) {
	for i := range n {
		list = append(list, Invitee{Name: "Anna", Email: fmt.Sprintf("anna%d@example.is", i), Role: Signer})
	}
	return list
}

// long is a text of so many characters of two bytes.
func long(n int, end string) string { return strings.Repeat("ð", n-len(end)) + end }

// The rules of spec 4.1, each at its last allowed value and at its first refused one.
func TestCheck(t *testing.T) {
	const required, control = "This field is required.", "Must not contain control characters."
	name, email := "participants[1].name", "participants[1].email"
	on := func(change func(*Invitee)) func(*Draft) { return func(d *Draft) { change(&d.Participants[1]) } }
	fileName := func(s string) func(*Draft) { return func(d *Draft) { d.FileName = s } }
	named := func(s string) func(*Draft) { return on(func(one *Invitee) { one.Name = s }) }
	at := func(s string) func(*Draft) { return on(func(one *Invitee) { one.Email = s }) }
	role := func(r Role) func(*Draft) { return on(func(one *Invitee) { one.Role = r }) }
	kennitala := func(s string) func(*Draft) { return on(func(one *Invitee) { one.Kennitala = s }) }
	phone := func(s string) func(*Draft) { return on(func(one *Invitee) { one.Phone = s }) }
	for _, test := range []struct {
		what   string
		change func(*Draft)
		want   []Fault
	}{
		{"nothing wrong", func(*Draft) {}, nil},
		{"file name missing", fileName(""), []Fault{{"file.name", required}}},
		{"file name of white space", fileName(" \t"), []Fault{{"file.name", required}}},
		{"file name of 100 characters", fileName(long(100, ".pdf")), nil},
		{"file name of 101 characters", fileName(long(101, ".pdf")), []Fault{{"file.name", "Must be at most 100 characters long."}}},
		{"file name in capitals", fileName("A.PDF"), nil},
		{"file name that is a suffix", fileName(".pdf"), []Fault{{"file.name", "Must end in .pdf."}}},
		{"file name of another kind", fileName("contract.pdf.exe"), []Fault{{"file.name", "Must end in .pdf."}}},
		{"file name with /", fileName("a/b.pdf"), []Fault{{"file.name", `Must not contain / or \.`}}},
		{"file name with \\", fileName(`a\b.pdf`), []Fault{{"file.name", `Must not contain / or \.`}}},
		{"file name of two lines", fileName("a\nb.pdf"), []Fault{{"file.name", control}}},
		{"file name that is no text", fileName("\xff.pdf"), []Fault{{"file.name", "Must be text in UTF-8."}}},
		{"the last corner", func(d *Draft) { d.Corner = stamp.BottomRight }, nil},
		{"a fifth corner", func(d *Draft) { d.Corner = stamp.BottomRight + 1 }, []Fault{{"signatureLocation", "Must be one of the four corners."}}},
		{"no participants", func(d *Draft) { d.Participants = nil }, []Fault{{"participants", required}}},
		{"100 participants", func(d *Draft) { d.Participants = crowd(100) }, nil},
		{"101 participants", func(d *Draft) { d.Participants = crowd(101) }, []Fault{{"participants", "Must be at most 100."}}},
		{"nobody signs", func(d *Draft) { d.Participants = d.Participants[1:] }, []Fault{{"participants", "At least one participant must have the role Signer."}}},
		{"name missing", named(""), []Fault{{name, required}}},
		{"name of 256 characters", named(long(256, "")), nil},
		{"name of 257 characters", named(long(257, "")), []Fault{{name, "Must be at most 256 characters long."}}},
		{"name with NUL", named("An\x00na"), []Fault{{name, control}}},
		{"email missing", at(" "), []Fault{{email, required}}},
		{"email of 256 characters", at(long(256, "@example.is")), nil},
		{"email of 257 characters", at(long(257, "@example.is")), []Fault{{email, "Must be at most 256 characters long."}}},
		{"email without a host", at("vala@"), []Fault{{email, "Must be an email address."}}},
		{"email with an odd host", at("vala@example.is*"), []Fault{{email, "Must be an email address."}}},
		{"email with a hyphen at an edge", at("vala@-example.is"), []Fault{{email, "Must be an email address."}}},
		{"email with a hyphen inside", at("vala@mail-2.example.is"), nil},
		{"email with an Icelandic host", at("vala@þjónusta.is"), nil},
		{"email with the address of a host", at("vala@[192.0.2.1]"), nil},
		{"email without @", at("vala"), []Fault{{email, "Must be an email address."}}},
		{"email with a name", at("Vala <vala@example.is>"), []Fault{{email, "Must be an email address."}}},
		{"email in brackets", at("<vala@example.is>"), []Fault{{email, "Must be an email address."}}},
		{"email with a comment", at("vala@example.is (Vala)"), []Fault{{email, "Must be an email address."}}},
		{"two addresses", at("vala@example.is, jon@example.is"), []Fault{{email, "Must be an email address."}}},
		{"email that ends a header", at("vala@example.is\r\nBcc: jon@example.is"), []Fault{{email, control}}},
		{"the same email", at("Anna@Example.IS"), []Fault{{email, "Must not be the address of another participant."}}},
		{"role missing", role(""), []Fault{{"participants[1].role", required}}},
		{"role in small letters", role("viewer"), []Fault{{"participants[1].role", "Must be one of: Signer, Viewer."}}},
		{"no kennitala", kennitala(""), nil},
		{"kennitala of 9 digits", kennitala("010130298"), []Fault{{"participants[1].kennitala", "Must be 10 digits."}}},
		{"kennitala of 11 digits", kennitala("01013029890"), []Fault{{"participants[1].kennitala", "Must be 10 digits."}}},
		{"kennitala with a hyphen", kennitala("010130-2989"), []Fault{{"participants[1].kennitala", "Must be 10 digits."}}},
		{"kennitala of other digits", kennitala("٠١٢٣٤"), []Fault{{"participants[1].kennitala", "Must be 10 digits."}}},
		{"no phone", phone(""), nil},
		{"phone of 7 digits", phone("1234567"), nil},
		{"phone of 8 digits", phone("12345678"), []Fault{{"participants[1].phoneNumber", "Must be at most 7 digits."}}},
		{"phone with a plus", phone("+354555"), []Fault{{"participants[1].phoneNumber", "Must be at most 7 digits."}}},
		{"all at once", func(d *Draft) {
			*d = Draft{Corner: -1, Participants: []Invitee{{Email: "a@b.is", Kennitala: "1"}, {Name: "B", Email: "A@b.is", Role: "b", Phone: "b"}}}
		}, []Fault{
			{"file.name", required},
			{"signatureLocation", "Must be one of the four corners."},
			{"participants", "At least one participant must have the role Signer."},
			{"participants[0].name", required},
			{"participants[0].role", required},
			{"participants[0].kennitala", "Must be 10 digits."},
			{email, "Must not be the address of another participant."},
			{"participants[1].role", "Must be one of: Signer, Viewer."},
			{"participants[1].phoneNumber", "Must be at most 7 digits."},
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			d := sound()
			test.change(&d)
			if diff := cmp.Diff(test.want, faultsOf(t, d.Check())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func faultsOf(t *testing.T, err error) []Fault {
	t.Helper()
	var invalid *InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	if invalid == nil {
		return nil
	}
	return invalid.Faults
}

func TestCheckReason(t *testing.T) {
	for reason, want := range map[string][]Fault{
		"":             nil,
		"  ":           nil,
		long(256, ""):  nil,
		long(257, ""):  {{"reason", "Must be at most 256 characters long."}},
		"no\x00":       {{"reason", "Must not contain control characters."}},
		"\xff":         {{"reason", "Must be text in UTF-8."}},
		"Nei, takk. 🙂": nil,
	} {
		if diff := cmp.Diff(want, faultsOf(t, checkReason(reason))); diff != "" {
			t.Errorf("%q: %s", reason, diff)
		}
	}
}
