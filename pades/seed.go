package pades

import (
	"fmt"
	"slices"
	"strings"

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
	check func(s seed, value pdf.Object) (string, error)
}

// checkSeed refuses a signature that the seed value of its field rules out. Entries that
// are not required are recommendations; those without a bit in Ff hold by being there.
func checkSeed(file *pdf.File, field emptyField, l form.Lock, signer ades.Signer, o Options) error {
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
		{"LegalAttestation", 5, seed.unsupported},
		{"AddRevInfo", 6, seed.addRevInfo},
		{"DigestMethod", 7, seed.digestMethod},
		{"LockDocument", 8, seed.lockDocument},
		{"AppearanceFilter", 9, seed.unsupported},
	}
}

// broken says which required entry of a dictionary the signature departs from. A bit
// that is not known requires something that is not known.
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
		return fmt.Sprintf("%sFf: it requires what is not known", in), nil
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

// version checks which entries a reader has to know: 3 stands for those of PDF 2.0.
func (s seed) version(value pdf.Object) (string, error) {
	version, err := s.file.Number(value)
	if err != nil || version <= 3 {
		return "", err
	}
	return "the seed value is of a later version", nil
}

// reasons checks the reason: one of those listed, or none when there is no list or it
// holds a full stop alone.
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

// digest checks the hash. Names are written with and without hyphen, and as strings.
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

// lockDocument checks that the signature permits no changes if, and only if, it has to.
// That is for the author to say in the field's lock, or for the caller in Certify.
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

// flagName reads a name that is true, false or another; some writers have a boolean.
func (s seed) flagName(value pdf.Object) (pdf.Name, error) {
	if b, err := s.file.Bool(value); err == nil && value != nil {
		return pdf.Name(fmt.Sprint(b)), nil
	}
	return s.file.Name(value)
}

// unavailable is for what no signature of this package has.
func (s seed) unsupported(value pdf.Object) (string, error) {
	value, err := s.file.Resolve(value)
	if err != nil || value == nil {
		return "", err
	}
	return "signatures are not made with it", nil
}

// kind checks what MDP says: 0 is an approval signature, 1 to 3 are certifications.
func (s seed) mdp() (string, error) {
	mdp, err := s.file.Dict(s.dict["MDP"])
	if err != nil || mdp["P"] == nil {
		return "", err
	}
	p, err := s.file.Int(mdp["P"])
	if err != nil || Permission(p) == s.options.Certify {
		return "", err
	}
	return fmt.Sprintf("MDP: P is %d, and of the signature it would be %d", p, s.options.Certify), nil
}

// timestamp checks whether the signature has to have one. From which authority is for the
// signer to choose: the URL is where a reader without one of its own would ask.
func (s seed) timeStamp() (string, error) {
	timestamp, err := s.file.Dict(s.dict["TimeStamp"])
	if err != nil {
		return "", err
	}
	required, err := s.file.Int(timestamp["Ff"])
	if err != nil || required == 0 || s.options.Level >= ades.T {
		return "", err
	}
	return "TimeStamp: a signature of level B has none", nil
}

// texts reads an array of text strings or names, or the one that stands for it.
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
