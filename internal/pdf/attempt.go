package pdf

import "maps"

// Attempt makes several changes together or not at all: change gets a copy of the update,
// which takes its place unless change fails.
func (u *Update) Attempt(change func(*Update) error) error {
	draft := *u
	draft.bodies = maps.Clone(u.bodies)
	if err := change(&draft); err != nil {
		return err
	}
	*u = draft
	return nil
}
