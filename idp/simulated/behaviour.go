package simulated

import (
	"strings"

	"github.com/innsigli/innsigli/idp"
)

// moment is when somebody's failure comes.
type moment uint8

const (
	answering moment = iota // when the person would answer
	atOnce
	never // nothing comes; the conversation expires
)

// behaviour is how somebody does not sign.
type behaviour struct {
	when moment
	idp.Failure
}

func (b behaviour) failed() idp.Event { return idp.Failed{Failure: b.Failure} }

// behaviours is the table of the package comment: status codes of ETSI TS 102 204 by what
// they mean here, but for 504.
var behaviours = map[string]behaviour{
	"105": {atOnce, denied(idp.UserNotFound, "105")},
	"406": {atOnce, denied(idp.RequestInProgress, "406")},
	"422": {atOnce, denied(idp.CertificateNotFound, "422")},
	"208": {answering, denied(idp.TimeoutNoAnswer, "208")},
	"401": {answering, denied(idp.UserCancelled, "401")},
	"402": {answering, denied(idp.PinBlocked, "402")},
	"403": {answering, denied(idp.CardBlocked, "403")},
	"404": {answering, denied(idp.KeyNotFound, "404")},
	"501": {answering, denied(idp.CertificateIsRevoked, "501")},
	"504": {never, expired},
}

var (
	nobody  = behaviours["105"]
	expired = idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}
)

func denied(code idp.ErrorCode, status string) idp.Failure {
	return idp.Failure{Code: code, OAuth: "access_denied", Description: "mssp_" + status}
}

// choose finds what the person's digits choose; the behaviour is nil for who signs.
func choose(p idp.Person) (status string, b *behaviour) {
	kennitala := idp.NormalKennitala(p.Kennitala)
	if len(kennitala) != 10 || digits(kennitala) != kennitala {
		return "", &nobody
	}
	said := kennitala
	if p.Method == idp.SIM {
		said = digits(p.Phone)
	}
	status = said[max(0, len(said)-3):]
	return status, behaviourOf(status)
}

func behaviourOf(status string) *behaviour {
	if b, ok := behaviours[status]; ok {
		return &b
	}
	return nil
}

// digits drops what people write between them.
func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}
