package openapi

import "slices"

// Unseen are the operations and statuses that no answer had which was judged, such as
// "pollSigning 404", in order.
func (d *Document) Unseen() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, methods := range d.paths {
		for _, o := range methods {
			for status := range o.responses {
				if name := o.id + " " + status; !d.seen[name] {
					all = append(all, name)
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// Unmet are the operations none of whose answers was judged, by operationId, in order.
func (d *Document) Unmet() (all []string) {
	unseen := d.Unseen()
	for _, methods := range d.paths {
		for _, o := range methods {
			all = append(all, o.id)
			for status := range o.responses {
				if !slices.Contains(unseen, o.id+" "+status) {
					all = all[:len(all)-1]
					break
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// judged notes that an answer of a status was judged.
func (d *Document) judged(o *operation, status string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[o.id+" "+status] = true
}
