package portal

import (
	"errors"
	"testing"

	"github.com/innsigli/innsigli/signing"
)

// spec 6.4: what is checked first decides.
func TestOrderOfRefusals(t *testing.T) {
	for name, test := range map[string]struct {
		after []action
		do    action
		want  error
	}{
		"a viewer of another kennitala":          {nil, beginsAs("Vala", "", false), ErrViewer},
		"answered, of another kennitala":         {[]action{signs("Anna", annas)}, beginsAs("Anna", jons, false), ErrAnswered},
		"of another kennitala, not ready":        {nil, beginsAs("Anna", jons, false), ErrOtherPerson},
		"not ready, in a process that is over":   {[]action{declines("Jón")}, beginsAs("Anna", annas, false), ErrCannotSign},
		"over, in a turn":                        {[]action{beginsAs("Anna", annas, true), waits(week + moment)}, beginsAs("Jón", jons, true), ErrNotWaiting},
		"in a turn, having read another":         {[]action{opens("Jón", jons), beginsAs("Anna", annas, true)}, beginsHavingRead("Jón", 1), ErrTurn},
		"over, having read another":              {[]action{opens("Jón", jons), declines("Anna")}, beginsHavingRead("Jón", 1), ErrNotWaiting},
		"answered, having read another":          {[]action{opens("Jón", jons), signs("Jón", jons)}, beginsHavingRead("Jón", 0), ErrAnswered},
		"in a turn":                              {[]action{beginsAs("Anna", annas, true)}, beginsAs("Jón", jons, true), ErrTurn},
		"declining, answered, in a process over": {[]action{declines("Jón")}, declines("Jón"), ErrAnswered},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.do(told(t, test.after...)); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// Who signs, signs what they have read: a signature of another makes it something else, one that came
// to nothing does not.
func TestSigningWhatWasRead(t *testing.T) {
	both := []action{opens("Anna", annas), opens("Jón", jons)}
	for name, test := range map[string]struct {
		after []action
		read  int
		want  error
	}{
		"the first":                  {nil, 0, nil},
		"the first, of none":         {nil, 1, ErrChanged},
		"another signed":             {[]action{signs("Anna", annas)}, 1, nil},
		"another signed since":       {[]action{signs("Anna", annas)}, 0, ErrChanged},
		"another was asked in vain":  {[]action{begins("Anna"), fails}, 0, nil},
		"the own attempt was vain":   {[]action{begins("Jón"), fails}, 0, nil},
		"another opened the link":    {[]action{opens("Vala", jons)}, 0, nil},
		"all were invited again":     {[]action{inviteAgain}, 0, nil},
		"of fewer than none":         {nil, -1, ErrChanged},
		"another signs at this time": {[]action{begins("Anna")}, 0, ErrTurn},
	} {
		t.Run(name, func(t *testing.T) {
			s := told(t, append(both, test.after...)...)
			if err := beginsHavingRead("Jón", test.read)(s); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}

// A place is that of the kennitala that was given, or of who comes first (spec 4.3).
func TestWhosePlace(t *testing.T) {
	for name, test := range map[string]struct {
		after []action
		do    action
		want  error
	}{
		"Anna's own":                       {nil, opens("Anna", annas), nil},
		"Anna's own, with a hyphen":        {nil, opens("Anna", "010130-2989"), nil},
		"Anna's, by another":               {nil, opens("Anna", jons), ErrOtherPerson},
		"Anna's, by nobody":                {nil, opens("Anna", ""), ErrOtherPerson},
		"anybody's":                        {nil, opens("Jón", jons), nil},
		"anybody's, by nobody":             {nil, opens("Jón", "-"), ErrOtherPerson},
		"Anna's after a refusal":           {[]action{func(s *story) error { _ = opens("Anna", jons)(s); return nil }}, opens("Anna", annas), nil},
		"Jón returns":                      {[]action{opens("Jón", jons)}, returns("Jón", "020230-2129"), nil},
		"Jón returns once he has signed":   {[]action{opens("Jón", jons), signs("Jón", jons)}, returns("Jón", jons), nil},
		"another returns in Jón's place":   {[]action{opens("Jón", jons)}, returns("Jón", annas), ErrOtherPerson},
		"Jón returns who never came":       {nil, returns("Jón", jons), ErrNotLoggedIn},
		"nobody returns":                   {nil, returns("nobody", jons), ErrNotFound},
		"Jón opens his link again":         {[]action{opens("Jón", jons)}, opens("Jón", "020230-2129"), nil},
		"he does once he has signed":       {[]action{opens("Jón", jons), signs("Jón", jons)}, opens("Jón", jons), nil},
		"another opens it too":             {[]action{opens("Jón", jons)}, opens("Jón", annas), ErrOtherPerson},
		"nobody opens it too":              {[]action{opens("Jón", jons)}, opens("Jón", ""), ErrOtherPerson},
		"Jón opens what is replaced":       {[]action{inviteAgain}, opens("Jón", jons), ErrNotFound},
		"Jón opens what was swept":         {[]action{waits(week + moment), sweeps}, opens("Jón", jons), ErrNotFound},
		"signed without a login, opened":   {[]action{signs("Jón", jons)}, opens("Jón", jons), ErrNotFound},
		"another signs in Jón's place":     {[]action{opens("Jón", jons)}, beginsAs("Jón", annas, true), ErrOtherPerson},
		"anybody signs in an open place":   {nil, beginsAs("Jón", annas, true), nil},
		"a certificate of another person":  {[]action{opens("Jón", jons), begins("Jón")}, lands(annas), signing.ErrUnwanted},
		"a certificate without kennitala":  {[]action{opens("Jón", jons), begins("Jón")}, lands(""), signing.ErrUnwanted},
		"a second signature of one turn":   {[]action{beginsAs("Jón", jons, true), func(s *story) error { _, err := s.land(1, Signature{Kennitala: jons}); return err }}, lands(jons), signing.ErrUnwanted},
		"the link of somebody else's page": {[]action{opens("Jón", jons)}, func(s *story) error { return opens("nobody", jons)(s) }, ErrNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.do(told(t, test.after...)); !errors.Is(err, test.want) {
				t.Errorf("%v, want %v", err, test.want)
			}
		})
	}
}
