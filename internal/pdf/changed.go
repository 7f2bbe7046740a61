package pdf

// Changed returns the numbers of the objects that are not where they were in an earlier
// revision of the file (7.5.6): added, replaced and freed ones, in ascending order.
func (f *File) Changed(earlier *File) []uint32 {
	var changed []uint32
	for num, e := range f.entries.all() {
		if was := earlier.entries.get(num); e != was && (e.kind != freeEntry || was.kind != freeEntry) {
			changed = append(changed, num)
		}
	}
	return changed
}
