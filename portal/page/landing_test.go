package page

import (
	"strings"
	"testing"
)

// Names and file names are words, and never more.
func TestNamesAreWords(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for _, body := range []string{d.tab().get(d.link(0)).body, d.loggedIn(0, anna).get(of(d.made, 0)).body} {
		for _, want := range []string{"Anna &lt;b&gt;", "Samningur &lt;i&gt;.pdf", "Example &lt;b&gt;Ltd.&lt;/b&gt;"} {
			if !strings.Contains(body, want) {
				t.Errorf("without %s: %s", want, body)
			}
		}
	}
}

// Nothing of the participant but the name is told to who has the link: another may have it.
func TestStrangersAreToldLittle(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for _, path := range []string{d.link(0), d.link(1), of(d.made, 0)} {
		body := d.tab().get(path).body
		for _, secret := range []string{annas, localKennitala(annas), "5550101", "anna@example.is", "Vala"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s tells %s", path, secret)
			}
		}
	}
	d.loggedIn(0, anna)
	body := d.tab().get(of(d.made, 0)).body
	for _, secret := range []string{"Anna", "Samningur", "Example"} {
		if strings.Contains(body, secret) {
			t.Errorf("the page of a participant tells %s to somebody who has not logged in", secret)
		}
	}
}
