package audkenni_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha512"
	"fmt"
	"log"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/audkenni"
	"github.com/innsigli/innsigli/idp/ciba"
)

func ExampleVerificationCode() {
	sum := sha512.Sum512([]byte("Au\xf0kenni APP Authentication")) // in ISO 8859-1
	fmt.Println(audkenni.VerificationCode(sum[:]))
	// Output: 4141
}

// New sends no request to Auðkenni.
func ExampleNew() {
	key, err := rsa.GenerateKey(rand.Reader, 2048) // registered with Auðkenni
	if err != nil {
		log.Fatal(err)
	}
	client, err := ciba.New(ciba.Options{
		Issuer:    "https://test.example:443/sso/oauth2/realms/root/realms/audkenni",
		Discovery: "https://test.example/sso/oauth2/realms/root/realms/audkenni/.well-known/openid-configuration",
		ClientID:  "myClient",
		Secret:    "my secret",
		Key:       key,
	})
	if err != nil {
		log.Fatal(err)
	}
	provider, err := audkenni.New(audkenni.Options{
		Client: client,
		App:    audkenni.AppOptions{Hash: crypto.SHA256, Confirm: true, LongText: "Undirritun: {document}"},
		SIM:    audkenni.SIMOptions{Text: "{code} Undirritun {document}"},
		Errors: map[string]idp.ErrorCode{"mssp_600": idp.WrongVerificationCodeSelected},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(provider.Traits(idp.App).Algorithm)
	fmt.Println(provider.Traits(idp.SIM).Remember)
	// Output:
	// {SHA-256 RSASSA-PKCS1-v1_5 0}
	// true
}
