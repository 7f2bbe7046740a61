package xades

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// independent reports whether signatures that are right in what was put around a document are so without it.
func independent(all []earlier) bool {
	return !slices.ContainsFunc(all, func(e earlier) bool { return e.unknown != nil || e.seesAround() })
}

// seesAround reports whether what is signed or timestamped may be something else where something is put around
// the document, while references lead to the same: inclusive canonical forms have the prefix that is bound
// there, and signatures that were in the root are so no more.
func (s *signature) seesAround() bool {
	forms := []xmldoc.Canonicalization{s.Canonicalization}
	for _, t := range slices.Concat(s.stamps, s.archives) {
		forms = append(forms, t.c14n)
	}
	for _, r := range s.References {
		form := xmldoc.Canonicalization{Method: xmldoc.C14N10} // where no transform says otherwise
		for _, t := range r.Transforms {
			switch t.Kind {
			case xmldsig.WithoutRootSignatures:
				return true
			case xmldsig.Base64:
				form = exclusive // has no tags
			case xmldsig.Canonicalize:
				form = t.Canonicalization
			}
		}
		forms = append(forms, form)
	}
	return slices.ContainsFunc(forms, func(c xmldoc.Canonicalization) bool {
		return c.Method != xmldoc.Exclusive || slices.Contains(c.Prefixes, wrappingPrefix)
	})
}

// standing is how a signature is that is right: what must not change when something is put around it.
type standing struct {
	unknown error
	signed  []byte // digest of what its value is over
	stamps  []bool // which of its timestamps are over what they stand for
}

// standings are those of signatures that were read, if there was no error.
func standings(ctx context.Context, all []earlier, err error) ([]standing, error) {
	var found []standing
	for _, e := range all {
		if e.unknown != nil {
			found = append(found, standing{unknown: e.unknown})
			continue
		}
		s, err := e.standing(ctx)
		if err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	return found, err
}

func (s *signature) standing(ctx context.Context) (found standing, err error) {
	if found.signed, err = s.signedInfoSum(ctx); err != nil {
		return found, err
	}
	for _, t := range slices.Concat(s.stamps, s.archives) {
		found.stamps = append(found.stamps, s.checkStamp(ctx, t) == nil)
	}
	return found, ctx.Err()
}

// signedInfoSum is a digest of what the value is over, for comparison.
func (s *signature) signedInfoSum(ctx context.Context) ([]byte, error) {
	sum := crypto.SHA256.New()
	err := s.write(contextWriter{ctx, sum}, s.Canonicalization, s.SignedInfo)
	return sum.Sum(nil), readError(err)
}

// unharmed reports whether signatures are what they were, in the document that has another one around it. What
// breaks them is found by looking: a reference to the whole document, namespaces that come from around,
// whatever their transforms make of it. [ades.ErrForbidden] when one would break; err is of reading them there.
func unharmed(before, after []standing, err error) error {
	for _, s := range before {
		if s.unknown != nil {
			return errUnknown(s.unknown)
		}
	}
	switch {
	case errors.Is(err, ades.ErrBroken):
		return fmt.Errorf("%w: one that is there would break", ades.ErrForbidden)
	case err != nil:
		return err
	case !slices.EqualFunc(before, after, standing.equal):
		return fmt.Errorf("%w: one that is there would break, or a timestamp of it", ades.ErrForbidden)
	}
	return nil
}

func (s standing) equal(o standing) bool {
	return bytes.Equal(s.signed, o.signed) && slices.Equal(s.stamps, o.stamps) && o.unknown == nil
}
