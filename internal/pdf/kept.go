package pdf

// keptObjects are objects as they stand at their offsets. Whoever looks at a signature, or at a revision after
// another, asks for the same ones again; in all revisions of a file they are the same.
type keptObjects struct {
	byOffset map[int64]keptObject
	bytes    int // that they keep from being collected, about
}

type keptObject struct {
	indirect
	end int64 // behind what says where it ends
}

const (
	// maxKeptObjects bounds them in bytes. Beyond it all are forgotten and read anew.
	maxKeptObjects = 16 << 20
	// keptPerByte is how many bytes an object takes for each one of its text.
	keptPerByte = 4
	// keptInFull is how much of an object that is kept counts in full, and cheaperKept how much less the rest of a
	// long one does, which is the text of a signature as a rule and is not gone through.
	keptInFull  = 4 << 10
	cheaperKept = 8
	// lookahead is how far may be looked behind an object or a section: at the end of line behind the keyword
	// stream, or at the keyword behind a payload.
	lookahead = 16
)

// objectAt is what [File.indirectAt] returns, read once. An object that the end of the file may have cut short
// is read in each. What it costs to go through one that is kept is counted too: a part of what reading it does.
func (f *File) objectAt(offset int64) (indirect, error) {
	kept := &f.origin().kept
	if o, ok := kept.byOffset[offset]; ok && o.end+lookahead <= f.size {
		f.spend(keptWork(len(o.source)))
		return o.indirect, nil
	}
	o, err := f.indirectAt(offset)
	if err == nil && o.payload+lookahead <= f.size {
		kept.put(offset, keptObject{o, o.payload})
	}
	return o, err
}

func keptWork(size int) int64 {
	return int64(min(size, keptInFull) + max(size-keptInFull, 0)/cheaperKept)
}

func (k *keptObjects) put(offset int64, o keptObject) {
	size := 1<<10 + keptPerByte*len(o.source)
	if k.byOffset == nil || k.bytes+size > maxKeptObjects {
		*k = keptObjects{byOffset: map[int64]keptObject{}}
	}
	if size <= maxKeptObjects {
		k.byOffset[offset] = o
		k.bytes += size
	}
}

// origin is the file that this one is an earlier revision of, or itself.
func (f *File) origin() *File {
	for f.whole != nil {
		f = f.whole
	}
	return f
}
