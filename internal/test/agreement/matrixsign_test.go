package agreement_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// recipe is how a document of the matrix is signed. Steps are written as words: who signs ("dss" or "pyhanko"), the level,
// a key ("p256", "p384", "p521", "rsa"), and options of validators.SignOptions, such as "digest=SHA512", "policy=implicit",
// "data=ANY_VALIDATION_DATA_ONLY" and "pss". "extend" has EU DSS raise all signatures, and "counter" sign the first one.
type recipe struct {
	packaging string // of XML; empty: PDF
	steps     []string
}

const explicit = "policy=1.3.6.1.4.1.99999.1"

// recipes are the documents of the matrix.
func recipes() []recipe {
	var all []recipe
	add := func(packaging string, ways ...[]string) {
		for _, steps := range ways {
			all = append(all, recipe{packaging, steps})
		}
	}
	one := func(steps ...string) (ways [][]string) {
		for _, s := range steps {
			ways = append(ways, []string{s})
		}
		return ways
	}
	algorithms := one("dss T p384 digest=SHA384", "dss LTA p521 digest=SHA512", "dss T rsa", "dss LT rsa digest=SHA512",
		"dss LTA rsa pss", "dss B rsa pss digest=SHA384")
	described := one("dss B p256 "+explicit, "dss LT p256 policy=implicit", "dss LTA p256 content-timestamp", "dss T p256 commitment",
		"dss LT p256 role place")
	levels := one("dss B p256", "dss T p256", "dss LT p256", "dss LTA p256")
	archives := [][]string{{"dss LTA p256", "extend LTA"}, {"dss LTA p256", "extend LTA", "extend LTA"}}

	add("", levels...)
	add("", algorithms...)
	add("", described...)
	add("", archives...)
	add("", one("dss LT p256 vri", "dss LTA p256 vri")...)
	add("", one("pyhanko B p256", "pyhanko T p384 digest=SHA384", "pyhanko LT rsa pss", "pyhanko LTA p256", "pyhanko B p256 "+explicit,
		"pyhanko T p256 policy=implicit", "pyhanko LT p256 commitment", "pyhanko LTA p256 content-timestamp",
		"pyhanko B p256 pkcs7", "pyhanko T rsa pkcs7", "pyhanko LT p256 pkcs7", "pyhanko LTA rsa pkcs7")...)
	add("", []string{"dss B p256", "dss LTA p256"}, []string{"dss LTA p256", "dss B rsa"}, []string{"dss LTA p256", "dss LTA p384"},
		[]string{"pyhanko T p256", "pyhanko LTA p256"}, []string{"pyhanko B p256 pkcs7", "extend LTA"},
		[]string{"dss LT p256", "pyhanko LT p256"}, []string{"pyhanko LTA p256", "pyhanko T rsa", "dss LTA p256"})

	add("ENVELOPED", levels...)
	add("ENVELOPED", algorithms...)
	add("ENVELOPED", described...)
	add("ENVELOPED", archives...)
	add("ENVELOPED", one("dss B p256 key-info", "dss LTA p256 key-info")...)
	for _, strategy := range []string{
		"CERTIFICATE_REVOCATION_VALUES_AND_TIMESTAMP_VALIDATION_DATA", "CERTIFICATE_REVOCATION_VALUES_AND_TIMESTAMP_VALIDATION_DATA_LT_SEPARATED",
		"CERTIFICATE_REVOCATION_VALUES_AND_TIMESTAMP_VALIDATION_DATA_AND_ANY_VALIDATION_DATA",
		"CERTIFICATE_REVOCATION_VALUES_AND_ANY_VALIDATION_DATA", "ANY_VALIDATION_DATA_ONLY",
	} {
		add("ENVELOPED", []string{"dss LTA p256 data=" + strategy, "extend LTA data=" + strategy})
	}
	add("ENVELOPED", []string{"dss B p256", "dss LT p256"}, []string{"dss LTA p256", "dss LTA p384"}, []string{"dss LT p256", "dss T rsa", "dss B p256"},
		[]string{"dss B p256", "counter B p256"}, []string{"dss T p256", "counter T rsa"}, []string{"dss LT p256", "counter LT p256"},
		[]string{"dss T p256", "counter B p256", "extend LTA"})
	add("ENVELOPING", levels...)
	add("ENVELOPING", one("dss T rsa "+explicit, "dss LT p256 content-timestamp")...)
	add("INTERNALLY_DETACHED", levels...)
	add("INTERNALLY_DETACHED", one("dss LTA rsa pss role commitment")...)
	return all
}

// name is the recipe as a file name.
func (r recipe) name() string {
	s := strings.Join(r.steps, ", ")
	for long, short := range map[string]string{
		explicit: "policy", "CERTIFICATE_REVOCATION_VALUES": "VALUES", "TIMESTAMP_VALIDATION_DATA": "TSVD", "ANY_VALIDATION_DATA": "ANY",
	} {
		s = strings.ReplaceAll(s, long, short)
	}
	if r.packaging == "" {
		return "pdf " + s
	}
	return strings.ToLower(r.packaging) + " " + s
}

func (r recipe) extension() string {
	if r.packaging == "" {
		return ".pdf"
	}
	return ".xml"
}

// studio signs documents by recipes.
type studio struct {
	testing.TB
	ca      *sandboxca.Authority
	tsa     string
	signers map[string]validators.SignOptions // by their keys
}

func newStudio(t testing.TB) *studio {
	t.Helper()
	s := &studio{TB: t, ca: catest.New(t), signers: make(map[string]validators.SignOptions)}
	s.tsa = catest.Serve(t, s.ca) + sandboxca.PathTimestamp
	for name, curve := range map[string]elliptic.Curve{"p256": elliptic.P256(), "p384": elliptic.P384(), "p521": elliptic.P521()} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		s.addSigner(name, key, err)
	}
	key, err := rsa.GenerateKey(rand.Reader, 3072)
	s.addSigner("rsa", key, err)
	return s
}

func (s *studio) addSigner(name string, key crypto.Signer, err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
	cert, err := s.ca.Issue("Matrix "+name, "1203894569", key.Public(), time.Now())
	if err != nil {
		s.Fatal(err)
	}
	s.signers[name] = validators.SignOptions{Key: key, Certificate: cert, Chain: s.ca.Chain()}
}

const contract = `<?xml version="1.0" encoding="UTF-8"?>
<contract Id="contract"><party>Jón Jónsson</party><sum currency="ISK">1000</sum></contract>
`

// make signs a document by a recipe.
func (s *studio) make(r recipe) []byte {
	s.Helper()
	path := filepath.Join(s.TempDir(), "document"+r.extension())
	document := []byte(contract)
	if r.packaging == "" {
		document = pdftest.Build(pdftest.Options{})
	}
	s.write(path, document)
	for _, step := range r.steps {
		path = s.step(r, strings.Fields(step), path)
	}
	return readFile(s, path)
}

var signatureID = regexp.MustCompile(`<ds:Signature [^>]*\bId="([^"]*)"`)

func (s *studio) step(r recipe, words []string, path string) string {
	s.Helper()
	o := s.signers[words[min(2, len(words)-1)]]
	o.Level, o.Packaging, o.TSA, o.Root = words[1], r.packaging, s.tsa, s.ca.Root()
	for _, word := range words[2:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "digest":
			o.Digest = value
		case "policy":
			o.Policy = value
		case "data":
			o.Data = value
		case "p256", "p384", "p521", "rsa":
		default:
			o.With = append(o.With, word)
		}
	}
	switch words[0] {
	case "pyhanko":
		return validators.PyHankoSign(s, o, path)[0].Path
	case "extend":
		return validators.DSSExtend(s, o, path)[0].Path
	case "counter":
		o.Counter = string(signatureID.FindSubmatch(readFile(s, path))[1])
	}
	return validators.DSSSign(s, o, path)[0].Path
}

func (s *studio) write(path string, b []byte) {
	s.Helper()
	if err := os.WriteFile(path, b, 0o600); err != nil {
		s.Fatal(fmt.Errorf("matrix: %w", err))
	}
}
