package dsig

import "fmt"

// Manifest is what a reference to a list of further references has in it (xmldsig-core1 5.1). The list has to
// stand in an Object of this very signature. [ErrReference], [ErrLimit], and what [Reader.Read] says of
// references.
func (s *Signature) Manifest(r Reference) ([]Reference, error) {
	list, err := s.Target(r)
	if err != nil {
		return nil, err
	}
	object := list.Parent()
	if !list.Is(Namespace, "Manifest") || !object.Is(Namespace, "Object") || object.Parent() != s.Element {
		return nil, fmt.Errorf("%w: to no Manifest of the signature", ErrReference)
	}
	if err := s.work.pass(list); err != nil { // a thousand references may lead to it
		return nil, err
	}
	in := sequenceOf(list)
	elements := in.some("Reference", maxReferences)
	if err := in.end(); err != nil {
		return nil, err
	}
	return s.namespaces.readReferences(elements)
}
