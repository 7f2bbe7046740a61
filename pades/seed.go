package pades

import (
	"fmt"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// seed is the seed value dictionary of the field to sign (ISO 32000-2 table 237), with the
// properties of the signature that has to meet it.
type seed struct {
	file    *pdf.File
	dict    pdf.Dict
	lock    form.Lock
	signer  ades.SignerIdentity
	options Options
}

// seedConstraint is an entry of the seed value dictionary, or of the certificate seed value
// dictionary, that is required when its bit in Ff is set.
type seedConstraint struct {
	key pdf.Name
	bit int // position in Ff, from 1
	// check returns how the signature violates the entry; "" when it does not. The error is one of
	// reading the document.
	check func(s seed, value pdf.Object) (string, error)
}

// checkSeed refuses a signature that violates the seed value of its field. Entries that are not
// required are recommendations. Entries without a bit in Ff are required when they are present.
func checkSeed(file *pdf.File, field emptyField, l form.Lock, signer ades.SignerIdentity, o Options) error {
	s := seed{file, field.seed, l, signer, o}
	problem, err := s.check(s.dict, "", seedConstraints())
	for _, check := range []func() (string, error){s.mdp, s.timeStamp, s.certificate} {
		if problem == "" && err == nil {
			problem, err = check()
		}
	}
	if err != nil {
		return fmt.Errorf("reading the seed value of field %q: %w", field.name, err)
	}
	if problem != "" {
		return fmt.Errorf("%w: the seed value of field %q does not allow this signature: %s", ades.ErrForbidden, field.name, problem)
	}
	return nil
}

// seedConstraints returns the entries of ISO 32000-2 table 237 that have a bit in Ff.
func seedConstraints() []seedConstraint {
	return []seedConstraint{
		{"Filter", 1, seed.filter},
		{"SubFilter", 2, seed.subFilter},
		{"V", 3, seed.version},
		{"Reasons", 4, seed.reasons},
		{"LegalAttestation", 5, seed.unsupported},
		{"AddRevInfo", 6, seed.addRevInfo},
		{"DigestMethod", 7, seed.digestMethod},
		{"LockDocument", 8, seed.lockDocument},
		{"AppearanceFilter", 9, seed.unsupported},
	}
}

// check returns how the signature violates a required entry of a dictionary; "" when it violates
// none. An unknown bit requires something unknown, and is a violation.
func (s seed) check(dict pdf.Dict, in string, constraints []seedConstraint) (string, error) {
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
		problem, err := c.check(s, dict[c.key])
		if err != nil {
			return "", fmt.Errorf("/%s%s: %w", in, c.key, err)
		}
		if problem != "" {
			return fmt.Sprintf("%s%s: %s", in, c.key, problem), nil
		}
	}
	if flags != 0 {
		return fmt.Sprintf("%sFf: it has unknown flags", in), nil
	}
	return "", nil
}

func (s seed) filter(value pdf.Object) (string, error) {
	name, err := s.file.Name(value)
	if err != nil || name == "" || name == "Adobe.PPKLite" {
		return "", err
	}
	return fmt.Sprintf("the handler is %.32q", string(name)), nil
}

func (s seed) subFilter(value pdf.Object) (string, error) {
	names, err := s.texts(value)
	format := string(subFilter(s.signer))
	if err != nil || value == nil || slices.Contains(names, format) {
		return "", err
	}
	return fmt.Sprintf("the format %s is not among those listed", format), nil
}

// version checks the version of the seed value, which says which entries a reader has to know: 3
// stands for those of PDF 2.0.
func (s seed) version(value pdf.Object) (string, error) {
	version, err := s.file.Number(value)
	if err != nil || version <= 3 {
		return "", err
	}
	return "the seed value is of a later version", nil
}

// reasons checks the reason of the signature. It has to be one of those listed; when the list is
// empty or contains only a full stop, there must be no reason.
func (s seed) reasons(value pdf.Object) (string, error) {
	reasons, err := s.texts(value)
	if err != nil {
		return "", err
	}
	given := s.options.Reason
	if len(reasons) == 0 || len(reasons) == 1 && reasons[0] == "." {
		if given != "" {
			return "no reason may be given", nil
		}
		return "", nil
	}
	if !slices.Contains(reasons, given) {
		return fmt.Sprintf("the reason %.64q is not among those listed, of which the first is %.64q", given, reasons[0]), nil
	}
	return "", nil
}

func (s seed) addRevInfo(value pdf.Object) (string, error) {
	wanted, err := s.file.Bool(value)
	if err != nil || !wanted {
		return "", err
	}
	return "revocation data has to be part of the signature value", nil
}

// digestMethod checks the hash. Writers of PDF spell its name with or without a hyphen, and as a
// name or a string.
func (s seed) digestMethod(value pdf.Object) (string, error) {
	methods, err := s.texts(value)
	used := s.signer.Algorithm.Hash.String()
	if err != nil || value == nil || noSigner(s.signer) || slices.ContainsFunc(methods, func(m string) bool { return normalizeDigestName(m) == normalizeDigestName(used) }) {
		return "", err
	}
	return used + " is not among those listed", nil
}

func normalizeDigestName(name string) string {
	return strings.ToUpper(strings.ReplaceAll(name, "-", ""))
}

// lockDocument checks that the signature permits no changes if, and only if, the entry requires it.
// The author requests such a lock in the lock of the field, and the caller in [Options].Certify.
func (s seed) lockDocument(value pdf.Object) (string, error) {
	wanted, err := s.flagName(value)
	if err != nil {
		return "", err
	}
	locked := s.options.Certify == NoChanges || s.lock.Permission == form.NoChanges
	switch {
	case wanted == "true" && !locked:
		return "nothing locks the document", nil
	case wanted == "false" && locked:
		return "the document would be locked", nil
	}
	return "", nil
}

// flagName reads a name: true, false or another one. It accepts a boolean too, because some writers
// use one.
func (s seed) flagName(value pdf.Object) (pdf.Name, error) {
	if b, err := s.file.Bool(value); err == nil && value != nil {
		return pdf.Name(fmt.Sprint(b)), nil
	}
	return s.file.Name(value)
}

// unsupported checks an entry that no signature of this package can meet: its presence is a
// violation.
func (s seed) unsupported(value pdf.Object) (string, error) {
	value, err := s.file.Resolve(value)
	if err != nil || value == nil {
		return "", err
	}
	return "it is not supported", nil
}

// mdp checks the entry MDP: P is 0 for an approval signature and 1 to 3 for a certification.
func (s seed) mdp() (string, error) {
	mdp, err := s.file.Dict(s.dict["MDP"])
	if err != nil || mdp["P"] == nil {
		return "", err
	}
	p, err := s.file.Int(mdp["P"])
	if err != nil || Permission(p) == s.options.Certify {
		return "", err
	}
	return fmt.Sprintf("MDP: P must be %d, but the signature would have %d", p, s.options.Certify), nil
}

// timeStamp checks the entry TimeStamp, which may require a timestamp. The caller chooses the
// authority: the URL in the entry is for a reader that has no authority of its own.
func (s seed) timeStamp() (string, error) {
	timestamp, err := s.file.Dict(s.dict["TimeStamp"])
	if err != nil {
		return "", err
	}
	required, err := s.file.Int(timestamp["Ff"])
	if err != nil || required == 0 || s.options.Level >= ades.T {
		return "", err
	}
	return "TimeStamp: a timestamp is required, but level B has none", nil
}

// texts reads an array of text strings or names, or a single one.
func (s seed) texts(o pdf.Object) ([]string, error) {
	items, err := s.items(o)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(items))
	for i, item := range items {
		if name, err := s.file.Name(item); err == nil {
			texts[i] = string(name)
			continue
		}
		text, err := s.file.Bytes(item)
		if err != nil {
			return nil, err
		}
		texts[i] = pdf.Text(pdf.String(text))
	}
	return texts, nil
}

func (s seed) items(o pdf.Object) (pdf.Array, error) {
	o, err := s.file.Resolve(o)
	switch o := o.(type) {
	case nil:
		return nil, err
	case pdf.Array:
		return o, nil
	}
	return pdf.Array{o}, nil
}
