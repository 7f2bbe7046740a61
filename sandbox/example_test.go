package sandbox_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/storage/bolt"
)

// An account creates a sandbox user, who signs a digest.
func Example() {
	folder, err := os.MkdirTemp("", "innsigli")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	db, err := bolt.Open(filepath.Join(folder, "innsigli.db"), bolt.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	ctx := context.Background()
	box, err := sandbox.Open(ctx, db.Sandbox(), db, sandbox.Options{Keys: sandbox.P256})
	if err != nil {
		log.Fatal(err)
	}
	name, kennitala, phone := "Sandbox Signer", "0101302989", "5550101"
	_, err = box.Create(ctx, "my account", sandbox.Profile{FullName: &name, Kennitala: &kennitala, Phone: &phone})
	if err != nil {
		log.Fatal(err)
	}

	person := idp.Person{Account: "my account", Method: idp.SIM, Phone: phone}
	state, event, err := box.Begin(ctx, "my conversation", person, idp.Text{Document: "contract.pdf"}, nil)
	if err != nil {
		log.Fatal(err)
	}
	certificate := event.(idp.NeedDigest).Certificate
	_, err = certificate.Verify(x509.VerifyOptions{
		Roots:         box.Roots(),
		Intermediates: pool(event.(idp.NeedDigest).Chain),
		KeyUsages:     []x509.ExtKeyUsage{x509.ExtKeyUsageAny},
	})
	fmt.Println(certificate.Subject.CommonName, idp.Kennitala(certificate), err)

	algorithm, err := ades.DefaultAlgorithm(certificate.PublicKey)
	if err != nil {
		log.Fatal(err)
	}
	sum := crypto.SHA256.New().Sum(nil)
	state, event, err = box.Sign(ctx, state, []ades.Digest{{Algorithm: algorithm, Sum: sum}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the phone shows", event.(idp.Waiting).Code)

	_, event, err = box.Poll(ctx, state)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(algorithm.Verify(certificate.PublicKey, sum, event.(idp.Signed).Values[0]))
	// Output:
	// Sandbox Signer 0101302989 <nil>
	// the phone shows 1234
	// <nil>
}

func pool(certificates []*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, c := range certificates {
		p.AddCert(c)
	}
	return p
}
