package sandbox

import (
	"crypto/x509"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// Action is how a sandbox user answers (spec 6.1).
type Action string

const (
	Success Action = "Success" // signs
	Cancel  Action = "Cancel"  // refuses
)

// User is a sandbox user: a person with an electronic ID that exists only here.
type User struct {
	ID        string // UUID
	Account   string
	FullName  string
	Kennitala string
	Phone     string
	Delay     time.Duration // from the start call to the answer
	Action    Action
	CreatedAt time.Time
	UpdatedAt time.Time

	// CertifiedName is the name at creation. Certificates carry it for good
	// (spec 6.3).
	CertifiedName string
	Certificate   []byte // DER, for CertifiedName and Kennitala
	Key           []byte // PKCS #8
}

// Profile are the fields that a client gives; in an update, nil keeps the value.
type Profile struct {
	FullName  *string
	Kennitala *string
	Phone     *string
	Delay     *time.Duration
	Action    *Action
}

// apply changes the user and says whether the certificate has to be issued anew:
// it names the current kennitala (spec 6.3).
func (u *User) apply(p Profile) (certificate bool) {
	before := idp.NormalizeKennitala(u.Kennitala)
	set(&u.FullName, p.FullName)
	set(&u.Kennitala, p.Kennitala)
	set(&u.Phone, p.Phone)
	set(&u.Delay, p.Delay)
	set(&u.Action, p.Action)
	return idp.NormalizeKennitala(u.Kennitala) != before
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

func (u *User) certificate() (*x509.Certificate, error) { return x509.ParseCertificate(u.Certificate) }
