package idptest

import (
	"encoding/json"
	"errors"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

type note struct {
	Kennitala   string
	Method      idp.Method
	Code        string
	Asked       bool // somebody is
	Signing     bool
	Certificate []byte
	Digests     []ades.Digest
}

type sealedNote struct {
	Prompt, Ping string
	Reply        *reply
}

// noted is what a State holds.
type noted struct {
	note
	sealedNote
}

func (a *adapter) write(state idp.State, n noted, event idp.Event) (idp.State, idp.Event, error) {
	var err, sealing error
	state.Public, err = json.Marshal(n.note)
	state.Secret, sealing = json.Marshal(n.sealedNote)
	return state, event, errors.Join(err, sealing)
}

func (a *adapter) read(state idp.State) (n noted, err error) {
	version := state.Version
	if a.oldStates && version == 0 {
		version = 1
	}
	if !a.anyState && (state.Provider != "network" || version != 1) {
		return n, errors.New("the state is another's")
	}
	if err := errors.Join(json.Unmarshal(state.Public, &n.note), json.Unmarshal(state.Secret, &n.sealedNote)); err != nil && !a.anyState {
		return n, err
	}
	if _, ok := a.people[n.Kennitala]; !ok && !a.anyState {
		return n, errors.New("the state is nobody's")
	}
	return n, nil
}
