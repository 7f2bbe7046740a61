package login

import (
	"cmp"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/idp/ciba"
)

func (r Reading) identity(claims ciba.Claims) (Identity, error) {
	if method, _ := claims.ID["acr"].(string); len(r.Methods) > 0 && !slices.Contains(r.Methods, method) {
		return Identity{}, ErrMethod
	}
	number, ok := kennitala(claims.Text(cmp.Or(r.Kennitala, "nationalRegisterId")))
	if !ok {
		return Identity{}, ErrNoKennitala
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
