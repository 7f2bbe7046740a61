package pdfium

// MaxUses is for tests.
const MaxUses = maxUses

// Idle says how often each instance that has nothing to do has been used.
func (r *Renderer) Idle() (used []int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, i := range r.idle {
		used = append(used, i.used)
	}
	return used
}
