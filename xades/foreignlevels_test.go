package xades_test

import (
	"crypto/x509"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

var everyLevel = []ades.Level{ades.B, ades.T, ades.LT, ades.LTA}

// mixed is a document on which two programs worked, as it is in the end.
type mixed struct {
	name, path string
	signatures int
}

// What EU DSS signed at any level is raised by us to LTA, renewed where it has that, and signed again;
// what we signed is raised by EU DSS. Both then find in all of it what one of them alone would have made.
func TestForeignSignaturesRaised(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	url := catest.Serve(t, ca)
	p := newPerson(t, ca, p256(t)) // whose certificate says where the authority answers
	options := validators.SignOptions{
		Key: p.key, Certificate: p.signer.Certificate, Chain: p.signer.Chain,
		Root: ca.Root(), TSA: url + sandboxca.PathTimestamp,
	}
	files := append(raisedByUs(t, p, options), raisedByDSS(t, p, options)...)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}}, paths...) {
		f := files[i]
		if len(r.Signatures) != f.signatures {
			t.Errorf("%s: EU DSS: %d signatures of %d: %s", f.name, len(r.Signatures), f.signatures, r.Error)
		}
		for _, s := range r.Signatures {
			if s.Format != "XAdES-BASELINE-LTA" || s.Indication != "TOTAL_PASSED" || len(s.Structure) > 0 {
				t.Errorf("%s: EU DSS: %+v", f.name, s)
			}
		}
		for _, s := range verify(t, readFile(t, f.path), ca) {
			if s.Format != "XAdES-BASELINE-LTA" || s.Indication != ades.TotalPassed || s.Coverage != ades.WholeDocument {
				t.Errorf("%s: %s %s %s %s %q", f.name, s.Format, s.Indication, s.SubIndication, s.Coverage, s.Problems)
			}
		}
	}
}

func raisedByUs(t *testing.T, p person, options validators.SignOptions) (all []mixed) {
	plain := filepath.Join(t.TempDir(), "contract.xml")
	writeFile(t, plain, []byte(contract))
	for _, options.Packaging = range []string{"ENVELOPED", "ENVELOPING"} {
		for _, level := range everyLevel {
			options.Level = level.String()
			b := readFile(t, validators.DSSSign(t, options, plain)[0].Path)
			f := mixed{name: options.Packaging + " at " + options.Level + " by EU DSS", signatures: 1}
			if s := verify(t, b, p.ca)[0]; s.Format != "XAdES-BASELINE-"+options.Level || s.Coverage != ades.WholeDocument {
				t.Errorf("%s: %s %s", f.name, s.Format, s.Coverage)
			}
			b = renew(t, b, p.ca.Sources(nil))
			if options.Packaging == "ENVELOPED" {
				f.signatures++
				b = signLevel(t, b, p, ades.LTA, xades.Options{})
			}
			all = append(all, f.written(t, b))
		}
	}
	return all
}

func raisedByDSS(t *testing.T, p person, options validators.SignOptions) (all []mixed) {
	options.Level = ades.LTA.String()
	for _, k := range packings {
		for _, level := range everyLevel {
			f := mixed{name: k.name + " at " + level.String() + " raised by EU DSS", signatures: 1}
			f = f.written(t, signLevel(t, []byte(contract), p, level, k.options()))
			options.Packaging = "ENVELOPED" // which says no more than that it is XML
			f.path = validators.DSSExtend(t, options, f.path)[0].Path
			all = append(all, f)
		}
	}
	return all
}

func (f mixed) written(t *testing.T, b []byte) mixed {
	f.path = filepath.Join(t.TempDir(), "mixed.xml")
	writeFile(t, f.path, b)
	return f
}
