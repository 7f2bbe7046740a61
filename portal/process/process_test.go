package process_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal/process"
)

const (
	firstKennitala  = "0101302989"
	secondKennitala = "0202302129"
	otherKennitala  = "0303302239"

	week, moment = process.InvitationTime, time.Microsecond
)

// timeline is a process with a clock. "first" is a signer whose kennitala is known, "second" a signer who may be
// anyone, "viewer" a viewer.
type timeline struct {
	process.Process
	now time.Time
}

func newTimeline() *timeline {
	t := &timeline{now: time.Date(2026, 11, 2, 12, 0, 0, 0, time.UTC)}
	for _, one := range []process.Participant{
		{ID: "first", Role: process.Signer, Kennitala: firstKennitala}, {ID: "second", Role: process.Signer}, {ID: "viewer", Role: process.Viewer},
	} {
		one.Link = process.Link{InvitedAt: t.now, Hash: []byte("link of " + one.ID), Token: []byte("token")}
		t.Participants = append(t.Participants, one)
	}
	return t
}

// step is something that happens on a timeline.
type step func(*timeline) error

func event(e process.Event) step {
	return func(t *timeline) error {
		_, err := t.Apply(e, t.now)
		return err
	}
}

func logIn(participant, kennitala string) step {
	return event(process.LogIn{Link: []byte("link of " + participant), Person: process.Person{Kennitala: kennitala}})
}

func logInAgain(participant, kennitala string) step {
	return event(process.LogInAgain{Participant: participant, Person: process.Person{Kennitala: kennitala}})
}

// begin begins to sign the current revision.
func begin(participant string) step {
	return func(t *timeline) error { return beginRevision(participant, t.Revision())(t) }
}

func beginRevision(participant string, revision int) step {
	return event(process.BeginSigning{Participant: participant, Revision: revision})
}

func beginAs(participant, kennitala string, ready bool) step {
	return event(process.BeginSigningAs{Participant: participant, Kennitala: kennitala, Ready: ready})
}

// add adds a signature of the last turn and ends the turn, as the service does.
func add(kennitala string) step {
	return func(t *timeline) error { return t.add(t.Turns, kennitala) }
}

// addEarlier adds a signature of the turn before, which cannot be ended either.
func addEarlier(kennitala string) step {
	return func(t *timeline) error {
		if _, err := t.Apply(process.EndTurn{Turn: t.Turns - 1}, t.now); !errors.Is(err, process.ErrTurnOver) {
			return fmt.Errorf("end of an earlier turn: %w", err)
		}
		return t.add(t.Turns-1, kennitala)
	}
}

func (t *timeline) add(turn int64, kennitala string) error {
	_, err := t.Apply(process.AddSignature{Turn: turn, Signature: process.Signature{Kennitala: kennitala, At: t.now}}, t.now)
	if err == nil {
		_, err = t.Apply(process.EndTurn{Turn: turn}, t.now)
	}
	return err
}

func endTurn(t *timeline) error {
	_, err := t.Apply(process.EndTurn{Turn: t.Turns}, t.now)
	return err
}

// sign signs without a login.
func sign(participant, kennitala string) step {
	return func(t *timeline) error {
		return errors.Join(beginAs(participant, kennitala, true)(t), add(kennitala)(t))
	}
}

func decline(participant string) step {
	return event(process.DeclineSigningAs{Participant: participant, Reason: "no"})
}

func wait(d time.Duration) step {
	return func(t *timeline) error { t.now = t.now.Add(d); return nil }
}

func inviteAgain(t *timeline) error {
	_, err := t.Apply(process.InviteAgain{NewLink: func() process.Link {
		return process.Link{Hash: []byte("new link"), Token: []byte("new token")}
	}}, t.now)
	return err
}

func expireLinks(t *timeline) error { return event(process.ExpireLinks{})(t) }

// refused is a step that is refused.
func refused(s step) step {
	return func(t *timeline) error {
		if s(t) == nil {
			return errors.New("not refused")
		}
		return nil
	}
}

func after(t *testing.T, steps ...step) *timeline {
	t.Helper()
	line := newTimeline()
	for _, s := range steps {
		if err := s(line); err != nil {
			t.Fatal(err)
		}
	}
	return line
}

// TestTransitions applies fourteen events in twenty states of a process: either the process then has the status, or the event is
// refused with the error and changes nothing.
func TestTransitions(t *testing.T) {
	all := []step{logIn("first", firstKennitala), logIn("second", secondKennitala), logIn("viewer", otherKennitala)}
	allAnd := func(more ...step) []step { return append(all[:3:3], more...) }
	events := []struct {
		name string
		do   step
	}{
		{"first begins", begin("first")},
		{"second begins", begin("second")},
		{"viewer begins", begin("viewer")},
		{"unknown begins", begin("unknown")},
		{"first declines", decline("first")},
		{"second declines", decline("second")},
		{"viewer declines", decline("viewer")},
		{"unknown declines", decline("unknown")},
		{"signature of this turn", add(firstKennitala)},
		{"signature of an earlier turn", addEarlier(firstKennitala)},
		{"invite again", inviteAgain},
		{"first logs in", logIn("first", firstKennitala)},
		{"viewer logs in", logIn("viewer", otherKennitala)},
		{"first logs in again", logInAgain("first", firstKennitala)},
	}
	const w, c, d, e = process.Waiting, process.Completed, process.Declined, process.Expired
	var (
		missing, viewer, answered = process.ErrNotFound, process.ErrViewer, process.ErrAnswered
		over, turn, login, late   = process.ErrNotWaiting, process.ErrTurn, process.ErrNotLoggedIn, process.ErrTurnOver
	)
	for _, test := range []struct {
		state string
		after []step
		want  [14]any // status or error, for each of the events
	}{
		{"without a login", nil,
			[14]any{login, login, viewer, missing, d, d, viewer, missing, late, late, w, w, w, login}},
		{"all logged in", all,
			[14]any{w, w, viewer, missing, d, d, viewer, missing, late, late, w, w, w, w}},
		{"first is signing", allAnd(begin("first")),
			[14]any{turn, turn, viewer, missing, turn, d, viewer, missing, w, late, w, w, w, w}},
		{"first is signing, second attempt", allAnd(begin("first"), endTurn, begin("first")),
			[14]any{turn, turn, viewer, missing, turn, d, viewer, missing, w, late, w, w, w, w}},
		{"first is signing as the last", allAnd(sign("second", secondKennitala), begin("first")),
			[14]any{turn, answered, viewer, missing, turn, answered, viewer, missing, c, late, w, w, w, w}},
		{"first signed", allAnd(sign("first", firstKennitala)),
			[14]any{answered, w, viewer, missing, answered, d, viewer, missing, late, late, w, w, w, w}},
		{"completed", allAnd(sign("first", firstKennitala), sign("second", secondKennitala)),
			[14]any{answered, answered, viewer, missing, answered, answered, viewer, missing, late, late, over, c, c, c}},
		{"declined", allAnd(decline("first")),
			[14]any{answered, over, viewer, missing, answered, over, viewer, missing, late, late, over, d, d, d}},
		{"declined while first is signing", allAnd(begin("first"), decline("second")),
			[14]any{over, answered, viewer, missing, over, answered, viewer, missing, d, late, over, d, d, d}},
		{"declined more than a week ago", allAnd(decline("first"), wait(week+moment)),
			[14]any{answered, over, viewer, missing, answered, over, viewer, missing, late, late, over, d, d, d}},
		{"last moment of the invitations", allAnd(wait(week)),
			[14]any{w, w, viewer, missing, d, d, viewer, missing, late, late, w, w, w, w}},
		{"expired", allAnd(wait(week + moment)),
			[14]any{over, over, viewer, missing, over, over, viewer, missing, late, late, w, e, e, e}},
		{"expired while first is signing", allAnd(begin("first"), wait(week+moment)),
			[14]any{over, over, viewer, missing, over, over, viewer, missing, e, late, w, e, e, e}},
		{"expired while first is signing as the last", allAnd(sign("second", secondKennitala), begin("first"), wait(week+moment)),
			[14]any{over, answered, viewer, missing, over, answered, viewer, missing, c, late, w, e, e, e}},
		{"completed two weeks ago", allAnd(sign("first", firstKennitala), sign("second", secondKennitala), wait(2*week)),
			[14]any{answered, answered, viewer, missing, answered, answered, viewer, missing, late, late, over, c, c, c}},
		{"last moment of the links", []step{wait(week)},
			[14]any{login, login, viewer, missing, d, d, viewer, missing, late, late, w, w, w, login}},
		{"expired, without a login", []step{wait(week + moment)},
			[14]any{login, login, viewer, missing, over, over, viewer, missing, late, late, w, missing, missing, login}},
		{"declined, first not logged in", []step{logIn("second", secondKennitala), decline("second")},
			[14]any{login, answered, viewer, missing, over, answered, viewer, missing, late, late, d, d, d, login}},
		{"completed, viewer not logged in", []step{sign("first", firstKennitala), sign("second", secondKennitala), wait(2 * week)},
			[14]any{answered, answered, viewer, missing, answered, answered, viewer, missing, late, late, c, missing, missing, login}},
		{"invited again after the process expired", allAnd(wait(week+moment), inviteAgain),
			[14]any{w, w, viewer, missing, d, d, viewer, missing, late, late, w, w, w, w}},
	} {
		for i, e := range events {
			t.Run(test.state+"/"+e.name, func(t *testing.T) {
				line, before := after(t, test.after...), after(t, test.after...)
				err := e.do(line)
				want, refused := test.want[i].(error)
				switch {
				case !errors.Is(err, want) || refused != (err != nil):
					t.Errorf("got error %v, want %v", err, test.want[i])
				case refused && !reflect.DeepEqual(before, line):
					t.Errorf("a refused event changed the process from %+v to %+v", before, line)
				case !refused && line.Status(line.now) != test.want[i]:
					t.Errorf("got status %v, want %v", line.Status(line.now), test.want[i])
				}
			})
		}
	}
}

// TestOrderOfConditions breaks several conditions at once: the first one decides (spec 6.4).
func TestOrderOfConditions(t *testing.T) {
	for name, test := range map[string]struct {
		after []step
		do    step
		want  error
	}{
		"viewer, other person":             {nil, beginAs("viewer", "", false), process.ErrViewer},
		"answered, other person":           {[]step{sign("first", firstKennitala)}, beginAs("first", secondKennitala, false), process.ErrAnswered},
		"other person, not ready":          {nil, beginAs("first", secondKennitala, false), process.ErrOtherPerson},
		"not ready, not waiting":           {[]step{decline("second")}, beginAs("first", firstKennitala, false), process.ErrCannotSign},
		"not waiting, turn":                {[]step{beginAs("first", firstKennitala, true), wait(week + moment)}, beginAs("second", secondKennitala, true), process.ErrNotWaiting},
		"turn, changed":                    {[]step{logIn("second", secondKennitala), beginAs("first", firstKennitala, true)}, beginRevision("second", 1), process.ErrTurn},
		"not waiting, changed":             {[]step{logIn("second", secondKennitala), decline("first")}, beginRevision("second", 1), process.ErrNotWaiting},
		"answered, changed":                {[]step{logIn("second", secondKennitala), sign("second", secondKennitala)}, beginRevision("second", 0), process.ErrAnswered},
		"turn":                             {[]step{beginAs("first", firstKennitala, true)}, beginAs("second", secondKennitala, true), process.ErrTurn},
		"decline: answered, not waiting":   {[]step{decline("second")}, decline("second"), process.ErrAnswered},
		"decline: not logged in":           {nil, event(process.DeclineSigning{Participant: "first"}), process.ErrNotLoggedIn},
		"decline: not logged in, declined": {[]step{decline("second")}, event(process.DeclineSigning{Participant: "first"}), process.ErrNotLoggedIn},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.do(after(t, test.after...)); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

// TestRevision checks that a participant signs only the revision of the document that they have read.
func TestRevision(t *testing.T) {
	both := []step{logIn("first", firstKennitala), logIn("second", secondKennitala)}
	for name, test := range map[string]struct {
		after []step
		read  int
		want  error
	}{
		"first signature":               {nil, 0, nil},
		"revision that does not exist":  {nil, 1, process.ErrChanged},
		"negative revision":             {nil, -1, process.ErrChanged},
		"after another signature":       {[]step{sign("first", firstKennitala)}, 1, nil},
		"before another signature":      {[]step{sign("first", firstKennitala)}, 0, process.ErrChanged},
		"another attempt failed":        {[]step{begin("first"), endTurn}, 0, nil},
		"an earlier own attempt failed": {[]step{begin("second"), endTurn}, 0, nil},
		"a viewer logged in":            {[]step{logIn("viewer", secondKennitala)}, 0, nil},
		"all were invited again":        {[]step{inviteAgain}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if err := beginRevision("second", test.read)(after(t, append(both[:2:2], test.after...)...)); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

// TestPerson checks who may act as a participant: the person whose kennitala was given, or else the first who logs in
// (spec 4.3).
func TestPerson(t *testing.T) {
	loggedIn := []step{logIn("second", secondKennitala)}
	for name, test := range map[string]struct {
		after []step
		do    step
		want  error
	}{
		"invited person":                       {nil, logIn("first", firstKennitala), nil},
		"other person":                         {nil, logIn("first", secondKennitala), process.ErrOtherPerson},
		"person without kennitala":             {nil, logIn("first", ""), process.ErrOtherPerson},
		"anyone":                               {nil, logIn("second", secondKennitala), nil},
		"anyone, without kennitala":            {nil, logIn("second", ""), process.ErrOtherPerson},
		"invited person after another":         {[]step{refused(logIn("first", secondKennitala))}, logIn("first", firstKennitala), nil},
		"again":                                {loggedIn, logInAgain("second", secondKennitala), nil},
		"again, after the signature":           {append(loggedIn[:1:1], sign("second", secondKennitala)), logInAgain("second", secondKennitala), nil},
		"again, other person":                  {loggedIn, logInAgain("second", firstKennitala), process.ErrOtherPerson},
		"again, before any login":              {nil, logInAgain("second", secondKennitala), process.ErrNotLoggedIn},
		"again, unknown participant":           {nil, logInAgain("unknown", secondKennitala), process.ErrNotFound},
		"used link":                            {loggedIn, logIn("second", secondKennitala), nil},
		"used link, after the signature":       {append(loggedIn[:1:1], sign("second", secondKennitala)), logIn("second", secondKennitala), nil},
		"used link, other person":              {loggedIn, logIn("second", firstKennitala), process.ErrOtherPerson},
		"used link, person without kennitala":  {loggedIn, logIn("second", ""), process.ErrOtherPerson},
		"replaced link":                        {[]step{inviteAgain}, logIn("second", secondKennitala), process.ErrNotFound},
		"expired link":                         {[]step{wait(week + moment), expireLinks}, logIn("second", secondKennitala), process.ErrNotFound},
		"link of a signer who never logged in": {[]step{sign("second", secondKennitala)}, logIn("second", secondKennitala), process.ErrNotFound},
		"unknown link":                         {loggedIn, logIn("unknown", secondKennitala), process.ErrNotFound},
		"no link":                              {[]step{sign("second", secondKennitala)}, event(process.LogIn{Person: process.Person{Kennitala: secondKennitala}}), process.ErrNotFound},
		"sandbox user, other than logged in":   {loggedIn, beginAs("second", firstKennitala, true), process.ErrOtherPerson},
		"sandbox user, anyone":                 {nil, beginAs("second", firstKennitala, true), nil},
		"certificate of another person":        {append(loggedIn[:1:1], begin("second")), add(firstKennitala), process.ErrOtherPerson},
		"certificate without kennitala":        {append(loggedIn[:1:1], begin("second")), add(""), process.ErrOtherPerson},
		"login while a sandbox user signs":     {[]step{beginAs("second", secondKennitala, true)}, logIn("second", firstKennitala), process.ErrTurn},
		"second signature of one turn": {[]step{beginAs("second", secondKennitala, true),
			event(process.AddSignature{Turn: 1, Signature: process.Signature{Kennitala: secondKennitala}})}, add(secondKennitala), process.ErrTurnOver},
	} {
		t.Run(name, func(t *testing.T) {
			if err := test.do(after(t, test.after...)); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
}

// TestTokens checks that a token, which is a credential, is removed with the hash once it is of no use (spec 4.3).
func TestTokens(t *testing.T) {
	all := []string{"first", "second", "viewer"}
	for name, test := range map[string]struct {
		after []step
		want  []string // participants with a token
	}{
		"invited":                    {nil, all},
		"logged in":                  {[]step{logIn("second", secondKennitala)}, []string{"first", "viewer"}},
		"signed":                     {[]step{sign("first", firstKennitala)}, []string{"second", "viewer"}},
		"declined":                   {[]step{decline("first")}, []string{"second", "viewer"}},
		"login refused":              {[]step{refused(logIn("first", secondKennitala))}, all},
		"removed before expiry":      {[]step{wait(week), expireLinks}, all},
		"removed after expiry":       {[]step{wait(week + moment), expireLinks}, nil},
		"invited again":              {[]step{wait(week), inviteAgain, wait(moment), expireLinks}, all},
		"expired and not removed":    {[]step{wait(week + moment)}, all},
		"removed, and invited again": {[]step{wait(week + moment), expireLinks, inviteAgain}, all},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, one := range after(t, test.after...).Participants {
				if (one.Link.Hash == nil) != (one.Link.Token == nil) {
					t.Errorf("%s has a hash without a token, or a token without a hash", one.ID)
				}
				if one.Link.Token != nil {
					got = append(got, one.ID)
				}
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("got tokens of %v, want %v", got, test.want)
			}
		})
	}
}

// TestLinkState checks the state of the second signer's link.
func TestLinkState(t *testing.T) {
	for name, test := range map[string]struct {
		after []step
		want  process.LinkState
	}{
		"invited":                     {nil, process.Unopened},
		"last moment":                 {[]step{wait(week)}, process.Unopened},
		"expired":                     {[]step{wait(week + moment)}, process.LinkExpired},
		"expired and removed":         {[]step{wait(week + moment), expireLinks}, process.LinkExpired},
		"logged in":                   {[]step{logIn("second", secondKennitala)}, process.Opened},
		"logged in, more than a week": {[]step{logIn("second", secondKennitala), wait(week + moment), expireLinks}, process.Opened},
		"logged in and invited again": {[]step{logIn("second", secondKennitala), inviteAgain}, process.Opened},
		"signed without a login":      {[]step{sign("second", secondKennitala)}, process.Opened},
		"declined without a login":    {[]step{decline("second")}, process.Opened},
		"another declined":            {[]step{decline("first")}, process.Unopened},
		"invited again":               {[]step{wait(week + moment), expireLinks, inviteAgain}, process.Unopened},
	} {
		t.Run(name, func(t *testing.T) {
			line := after(t, test.after...)
			if got := line.Participant("second").LinkState(line.now); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

// TestEffects checks what follows from events.
func TestEffects(t *testing.T) {
	type effects = []process.Effect
	about := func(kind process.EffectKind, participant string) process.Effect {
		return process.Effect{Kind: kind, Participant: participant}
	}
	newLink := func() process.Link { return process.Link{Hash: []byte("new")} }
	for name, test := range map[string]struct {
		after []step
		event process.Event
		want  effects
	}{
		"login":         {nil, process.LogIn{Link: []byte("link of first"), Person: process.Person{Kennitala: firstKennitala}}, effects{about(process.RecordLogin, "first")}},
		"used link":     {[]step{logIn("first", firstKennitala)}, process.LogIn{Link: []byte("link of first"), Person: process.Person{Kennitala: firstKennitala}}, nil},
		"login again":   {[]step{logIn("first", firstKennitala)}, process.LogInAgain{Participant: "first", Person: process.Person{Kennitala: firstKennitala}}, effects{about(process.RecordLogin, "first")}},
		"begin":         {[]step{logIn("first", firstKennitala)}, process.BeginSigning{Participant: "first", Request: "r"}, effects{{Kind: process.RecordStart, Participant: "first", Request: "r"}}},
		"signature":     {[]step{logIn("first", firstKennitala), begin("first")}, process.AddSignature{Turn: 1, Signature: process.Signature{Kennitala: firstKennitala}}, effects{about(process.ReportSigned, "first")}},
		"last":          {[]step{sign("second", secondKennitala), logIn("first", firstKennitala), begin("first")}, process.AddSignature{Turn: 2, Signature: process.Signature{Kennitala: firstKennitala}}, effects{about(process.ReportSigned, "first"), {Kind: process.ReportCompleted}}},
		"of a request":  {[]step{logIn("first", firstKennitala), event(process.BeginSigning{Participant: "first", Request: "r"})}, process.AddSignature{Turn: 1, Signature: process.Signature{Kennitala: firstKennitala}}, effects{{Kind: process.ReportSigned, Participant: "first", Request: "r"}}},
		"end":           {[]step{logIn("first", firstKennitala), begin("first")}, process.EndTurn{Turn: 1}, nil},
		"decline":       {[]step{logIn("first", firstKennitala)}, process.DeclineSigning{Participant: "first"}, effects{about(process.ReportDeclined, "first")}},
		"invite again":  {[]step{logIn("first", firstKennitala)}, process.InviteAgain{NewLink: newLink}, effects{{Kind: process.WithdrawMessages}, about(process.SendInvitation, "first"), about(process.SendInvitation, "second"), about(process.SendInvitation, "viewer")}},
		"invite viewer": {[]step{decline("first")}, process.InviteAgain{NewLink: newLink}, effects{about(process.SendInvitation, "viewer")}},
		"expire links":  {[]step{wait(week + moment)}, process.ExpireLinks{}, nil},
		"delete":        {nil, process.Delete{}, effects{{Kind: process.WithdrawMessages}, {Kind: process.DeleteProcess}}},
		"delete while first signs": {[]step{event(process.BeginSigningAs{Participant: "first", Kennitala: firstKennitala, Ready: true, Request: "r"})}, process.Delete{},
			effects{{Kind: process.CancelRequest, Participant: "first", Request: "r"}, {Kind: process.WithdrawMessages}, {Kind: process.DeleteProcess}}},
	} {
		t.Run(name, func(t *testing.T) {
			line := after(t, test.after...)
			got, err := line.Apply(test.event, line.now)
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

// allEvents returns a zero event of each type.
func allEvents() []process.Event {
	return []process.Event{
		process.LogIn{}, process.LogInAgain{}, process.BeginSigning{}, process.BeginSigningAs{}, process.AddSignature{}, process.EndTurn{},
		process.DeclineSigning{}, process.DeclineSigningAs{}, process.InviteAgain{}, process.ExpireLinks{}, process.Delete{},
	}
}

// TestRules checks that Rules has a rule for each event, by the name of its type, and returns copies.
func TestRules(t *testing.T) {
	var got, want []string
	for _, rule := range process.Rules() {
		got = append(got, rule.Event)
		for i := range rule.Conditions {
			if rule.Conditions[i].Text == "" || rule.Conditions[i].Err == nil {
				t.Errorf("%s has a condition without a text or an error", rule.Event)
			}
			rule.Conditions[i] = process.Condition{}
		}
	}
	for _, e := range allEvents() {
		want = append(want, reflect.TypeOf(e).Name())
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got rules of %v, want %v", got, want)
	}
	if rule := process.Rules()[0]; rule.Conditions[0].Text == "" {
		t.Error("a caller can change the rules")
	}
}

// TestOddInput applies events without any values, and pointers to events, to processes that no caller should make: Apply may
// refuse or admit them, and does not panic.
func TestOddInput(t *testing.T) {
	events := append(allEvents(), &process.LogIn{}, &process.BeginSigning{}, &process.BeginSigningAs{}, &process.AddSignature{}, &process.EndTurn{},
		&process.DeclineSigning{}, &process.InviteAgain{})
	for _, p := range []process.Process{
		{}, {Turn: &process.Turn{}}, {Turn: &process.Turn{Participant: "unknown"}}, {Participants: make([]process.Participant, 2)},
		{Participants: []process.Participant{{Role: process.Signer}, {Role: process.Viewer}}, Turn: &process.Turn{}},
	} {
		for _, e := range events {
			before := p
			before.Participants = append([]process.Participant(nil), p.Participants...)
			if _, err := before.Apply(e, time.Time{}); (err == nil) != (p.Check(e, time.Time{}) == nil) {
				t.Errorf("%#v: Apply returns %v, and Check does not", e, err)
			}
		}
	}
	stuck := process.Process{Turn: &process.Turn{Number: 1, Participant: "unknown"}}
	if _, err := stuck.Apply(process.EndTurn{Turn: 1}, time.Time{}); err != nil || stuck.Turn != nil {
		t.Errorf("the turn of an unknown participant does not end: %v", err)
	}
}

// The end of a process is its first decline, else its last signature, else its expiry.
func TestEndedAt(t *testing.T) {
	start := time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
	hours := func(n int) time.Time { return start.Add(time.Duration(n) * time.Hour) }
	signer := func(signed, declined int) process.Participant {
		one := process.Participant{Role: process.Signer, Link: process.Link{InvitedAt: start}}
		if signed > 0 {
			one.Signature = &process.Signature{At: hours(signed)}
		}
		if declined > 0 {
			one.Decline = &process.Decline{At: hours(declined)}
		}
		return one
	}
	viewer := process.Participant{Role: process.Viewer, Link: process.Link{InvitedAt: start}}
	week := start.Add(process.InvitationTime)
	for name, test := range map[string]struct {
		participants []process.Participant
		now, want    time.Time
	}{
		"without an answer":                  {[]process.Participant{signer(0, 0), viewer}, hours(1), time.Time{}},
		"one of two has signed":              {[]process.Participant{signer(1, 0), signer(0, 0)}, hours(2), time.Time{}},
		"both have signed":                   {[]process.Participant{signer(3, 0), viewer, signer(2, 0)}, hours(4), hours(3)},
		"one has declined":                   {[]process.Participant{signer(0, 2), signer(0, 0)}, hours(400), hours(2)},
		"both have declined":                 {[]process.Participant{signer(0, 3), signer(0, 2)}, hours(4), hours(2)},
		"a signature came after the decline": {[]process.Participant{signer(3, 0), signer(0, 2)}, hours(4), hours(2)},
		"its last moment":                    {[]process.Participant{signer(0, 0)}, week, time.Time{}},
		"it has expired":                     {[]process.Participant{signer(1, 0), signer(0, 0)}, week.Add(time.Hour), week},
	} {
		p := process.Process{Participants: test.participants}
		if got := p.EndedAt(test.now); !got.Equal(test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
