package login

import (
	"cmp"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/idp/ciba"
)

// identity returns the person whom the claims are about. Where the ID token and the userinfo both
// have a kennitala, it has to be the same.
func (r Reading) identity(claims ciba.Claims) (Identity, error) {
	if method, _ := claims.ID["acr"].(string); len(r.Methods) > 0 && !slices.Contains(r.Methods, method) {
		return Identity{}, ErrMethod
	}
	claim := cmp.Or(r.Kennitala, "nationalRegisterId")
	number, ok := kennitala(claims.Text(claim))
	if !ok {
		return Identity{}, ErrNoKennitala
	}
	if other, ok := kennitala(ciba.Claims{ID: claims.ID}.Text(claim)); ok && other != number {
		return Identity{}, ErrTwoPeople
	}
	return Identity{
		Kennitala: number,
		Name:      claims.Text(cmp.Or(r.Name, "name")),
		Subject:   claims.Text("sub"),
	}, nil
}

// kennitala returns the 10 digits of a kennitala as providers write it.
func kennitala(claim string) (string, bool) {
	digits := strings.ReplaceAll(strings.TrimPrefix(claim, "PNOIS-"), "-", "")
	return digits, len(digits) == 10 && strings.Trim(digits, "0123456789") == ""
}

// scope is what is asked for when the options do not say.
func scope(s []string) []string {
	if len(s) == 0 {
		return []string{"openid", "profile"}
	}
	return s
}
