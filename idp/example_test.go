package idp_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage/bolt"
)

// converse has one conversation with a provider and returns the signature value. A server stores state
// after each call; see package signing.
func converse(ctx context.Context, provider idp.Provider, person idp.Person, digest func(*x509.Certificate) (ades.Digest, error)) ([]byte, error) {
	state, event, err := provider.Begin(ctx, "my conversation", person, idp.Text{Document: "contract.pdf", Reason: "Undirritun"}, nil)
	for err == nil {
		switch e := event.(type) {
		case idp.NeedDigest:
			var d ades.Digest
			if d, err = digest(e.Certificate); err == nil {
				state, event, err = provider.Sign(ctx, state, []ades.Digest{d})
			}
		case idp.Waiting:
			fmt.Printf("the phone shows %q\n", e.Code)
			time.Sleep(10 * time.Millisecond) // time: until the person has answered
			state, event, err = provider.Poll(ctx, state)
		case idp.Continue:
			state, event, err = provider.Poll(ctx, state)
		case idp.Signed:
			return e.Values[0], nil
		case idp.Failed:
			return nil, fmt.Errorf("no signature: %s", e.Code)
		}
	}
	return nil, err
}

// The provider is the sandbox.
func ExampleProvider() {
	provider, closeStore := openSandbox()
	defer closeStore()

	person := idp.Person{Account: "my account", Method: idp.App, Kennitala: "0101302989"}
	value, err := converse(context.Background(), provider, person, func(c *x509.Certificate) (ades.Digest, error) {
		algorithm, err := ades.DefaultAlgorithm(c.PublicKey)
		return ades.Digest{Algorithm: algorithm, Sum: crypto.SHA256.New().Sum(nil)}, err
	})
	fmt.Println(len(value) > 0, err)

	person.Kennitala = "0101302479"
	_, err = converse(context.Background(), provider, person, nil)
	fmt.Println(err)
	// Output:
	// the phone shows ""
	// the phone shows "1234"
	// true <nil>
	// no signature: UserNotFound
}

func openSandbox() (provider idp.Provider, closeStore func()) {
	folder, err := os.MkdirTemp("", "innsigli")
	if err != nil {
		log.Fatal(err)
	}
	db, err := bolt.Open(filepath.Join(folder, "innsigli.db"), bolt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	people, err := sandbox.Open(context.Background(), db.Sandbox(), db, sandbox.Options{})
	if err != nil {
		log.Fatal(err)
	}
	name, kennitala, phone := "Sandbox Signer", "0101302989", "5550101"
	_, err = people.Create(context.Background(), "my account", sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone})
	if err != nil {
		log.Fatal(err)
	}
	return people, func() {
		db.Close()
		os.RemoveAll(folder)
	}
}
