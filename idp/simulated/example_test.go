package simulated_test

import (
	"context"
	"crypto"
	"fmt"
	"log"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/simulated"
)

// One person signs and another one refuses.
func Example() {
	provider, err := simulated.New(simulated.Options{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for _, phone := range []string{"5550101", "5550401"} {
		person := idp.Person{Method: idp.SIM, Kennitala: "1203894569", Phone: phone}
		state, event, err := provider.Begin(ctx, "my conversation", person, idp.Text{Document: "contract.pdf"}, nil)
		if err != nil {
			log.Fatal(err)
		}
		certificate := event.(idp.NeedDigest).Certificate

		digest := ades.Digest{Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}, Sum: crypto.SHA256.New().Sum(nil)}
		if state, _, err = provider.Sign(ctx, state, []ades.Digest{digest}); err != nil {
			log.Fatal(err)
		}
		if _, event, err = provider.Poll(ctx, state); err != nil {
			log.Fatal(err)
		}
		switch e := event.(type) {
		case idp.Signed:
			fmt.Println("signed:", digest.Algorithm.Verify(certificate.PublicKey, digest.Sum, e.Values[0]))
		case idp.Failed:
			fmt.Println("not signed:", e.Code, e.Description)
		}
	}
	// Output:
	// signed: <nil>
	// not signed: UserCancelled mssp_401
}
