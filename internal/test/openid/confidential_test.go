package openid_test

import (
	"crypto"
	"slices"
	"testing"

	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

func TestWhatIsConfidential(t *testing.T) {
	p := openidtest.Start(t, openidtest.Options{})
	person := jon(t)
	p.Person(person)
	id := asked(t, p, sign("app-sign", person.Kennitala, crypto.SHA256))
	tokens := granted(t, p, id)
	access := tokens["access_token"].(string)
	info(t, p, tokens)
	got := p.Confidential()
	for what, value := range map[string]string{
		"secret": p.Secret, "kennitala": person.Kennitala, "phone": person.Phone, "name": person.Name,
		"device": person.Document, "text": message, "request": p.Asked()[0].Form["request"],
		"credentials": encoded([]byte(p.ClientID + ":" + p.Secret)),
		"auth_req_id": id, "access token": access, "ID token": tokens["id_token"].(string),
	} {
		if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != value })); n != 1 {
			t.Errorf("the %s is there %d times", what, n)
		}
	}
	if slices.Contains(got, "") {
		t.Error("an empty one")
	}
}
