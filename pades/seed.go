package pades

import (
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// seed is the seed value dictionary of the field that is signed (ISO 32000-2 table 237)
// and the signature to be, which has to be what the dictionary requires.
type seed struct {
	file    *pdf.File
	dict    pdf.Dict
	lock    form.Lock
	signer  ades.Signer
	options Options
}

// seedConstraint is an entry of the seed value dictionary, or of the one for
// certificates, that is required when its bit in Ff is set.
type seedConstraint struct {
	key pdf.Name
	bit int // position, from 1
	// broken says how the signature departs from the entry; "" when it does not. The
	// error is one of reading.
	broken func(s seed, value pdf.Object) (string, error)
}

// checkSeed refuses a signature that the seed value of its field rules out. Entries that
// are not required are recommendations; those without a bit in Ff hold by being there.
func checkSeed(file *pdf.File, field emptyField, l form.Lock, signer ades.Signer, o Options) error {
	s := seed{file, field.seed, l, signer, o}
	problem, err := s.broken(s.dict, "", seedConstraints())
	for _, check := range []func() (string, error){s.kind, s.timestamp, s.certificate} {
		if problem == "" && err == nil {
			problem, err = check()
		}
	}
	if err != nil {
		return fmt.Errorf("reading the seed value of field %q: %w", field.name, err)
	}
	if problem != "" {
		return fmt.Errorf("%w: the seed value of field %q requires another signature: %s", ades.ErrForbidden, field.name, problem)
	}
	return nil
}

// seedConstraints are the entries of ISO 32000-2 table 237 that have a bit.
func seedConstraints() []seedConstraint {
	return []seedConstraint{
		{"Filter", 1, seed.filter},
		{"SubFilter", 2, seed.subFilter},
		{"V", 3, seed.version},
		{"Reasons", 4, seed.reasons},
		{"LegalAttestation", 5, seed.unavailable},
		{"AddRevInfo", 6, seed.revocation},
		{"DigestMethod", 7, seed.digest},
		{"LockDocument", 8, seed.lockDocument},
		{"AppearanceFilter", 9, seed.unavailable},
	}
}

// broken says which required entry of a dictionary the signature departs from. A bit
// that is not known requires something that is not known.
func (s seed) broken(dict pdf.Dict, in string, constraints []seedConstraint) (string, error) {
	flags, err := s.file.Int(dict["Ff"])
	if err != nil {
		return "", err
	}
	for _, c := range constraints {
		bit := int64(1) << (c.bit - 1)
		required := flags&bit != 0
		flags &^= bit
		if !required {
			continue
		}
		problem, err := c.broken(s, dict[c.key])
		if err != nil {
			return "", fmt.Errorf("/%s%s: %w", in, c.key, err)
		}
		if problem != "" {
			return fmt.Sprintf("%s%s: %s", in, c.key, problem), nil
		}
	}
	if flags != 0 {
		return fmt.Sprintf("%sFf: it requires what is not known", in), nil
	}
	return "", nil
}
