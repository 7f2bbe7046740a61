package pdflint

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// ownKeys are the entries that a section has of its own: tables 5, 15, 17 and 19.
var ownKeys = []pdf.Name{"Size", "Prev", "ID", "XRefStm"}

// streamKeys are those that only a cross-reference stream has.
var streamKeys = []pdf.Name{"Type", "Index", "W", "Length", "Filter", "DecodeParms", "F", "FFilter", "FDecodeParms", "DL"}

// checkTrailer checks what the section says of the file.
func (l *linter) checkTrailer() {
	l.checkPrev()
	l.checkSize()
	l.checkLeftovers()
	l.checkCarried()
	l.checkID()
}

// checkPrev: the file's last section is the one that its startxref named. Where that is
// off, Prev leads to a section all the same.
func (l *linter) checkPrev() {
	if l.rebuilt() {
		return // judged by checkEverything
	}
	prev, _ := l.section.trailer["Prev"].(pdf.Integer)
	offset, _ := l.oldStartxref()
	if l.sound() && int(prev) != offset {
		l.fault(Prev, "%d instead of %d", prev, offset)
	}
	if at := int(prev) + l.shift; at <= 0 || at >= len(l.base) || !isSection(l.base[at:]) {
		l.fault(Prev, "%d leads to no section", prev)
	}
}

func (l *linter) checkSize() {
	size, _ := l.section.trailer["Size"].(pdf.Integer)
	highest := uint32(0)
	for _, e := range l.section.entries {
		highest = max(highest, e.ref.Num)
	}
	if size != pdf.Integer(highest)+1 {
		l.fault(Size, "%d where the highest number is %d", size, highest)
	}
	if was, _ := l.old.Trailer()["Size"].(pdf.Integer); size < was {
		l.fault(Size, "%d, and it was %d", size, was)
	}
}

// checkLeftovers: XRefStm would make readers prefer what an old stream says, the others
// describe a stream that is not there or is another.
func (l *linter) checkLeftovers() {
	for key := range l.section.trailer {
		switch {
		case key == "XRefStm":
			l.fault(Leftovers, "XRefStm")
		case !slices.Contains(streamKeys, key):
		case !l.section.stream:
			l.fault(Leftovers, "%s in the trailer of a table", key)
		case !slices.Contains([]pdf.Name{"Type", "Index", "W", "Length"}, key):
			l.fault(Leftovers, "%s in a stream without filters", key)
		}
	}
}

func (l *linter) checkCarried() {
	own := slices.Concat(ownKeys, streamKeys)
	isOwn := func(key pdf.Name, _ pdf.Object) bool { return slices.Contains(own, key) }
	was, is := maps.Clone(l.old.Trailer()), maps.Clone(l.section.trailer)
	maps.DeleteFunc(was, isOwn)
	maps.DeleteFunc(is, isOwn)
	for key := range union(was, is) {
		if !reflect.DeepEqual(was[key], is[key]) {
			l.fault(Carried, "%s is %v and was %v", key, is[key], was[key])
		}
	}
}

// union yields every key of two dictionaries, in order.
func union(a, b pdf.Dict) map[pdf.Name]bool {
	keys := make(map[pdf.Name]bool)
	for _, d := range []pdf.Dict{a, b} {
		for key := range d {
			keys[key] = true
		}
	}
	return keys
}

// checkID: the first part stays, and there is one in any file but one: the key of an
// encrypted file hangs on it up to version 4 of encryption, and on its absence (7.6.4.3).
func (l *linter) checkID() {
	if l.keyOfNoID() {
		if id := l.section.trailer["ID"]; id != nil {
			l.fault(ID, "%v in an encrypted file that had none", id)
		}
		return
	}
	now, ok := l.section.trailer["ID"].(pdf.Array)
	if !ok || len(now) != 2 {
		l.fault(ID, "%v", l.section.trailer["ID"])
		return
	}
	old, err := l.old.Array(l.old.Trailer()["ID"])
	if err != nil || len(old) != 2 {
		return
	}
	part := func(o pdf.Object) []byte { b, _ := l.old.Bytes(o); return b }
	if was := part(old[0]); len(was) > 0 && !bytes.Equal(part(now[0]), was) {
		l.fault(ID, "the first part has changed")
	}
	if bytes.Equal(part(now[1]), part(old[1])) || len(part(now[1])) < 16 {
		l.fault(ID, "the second part is not new")
	}
}

// keyOfNoID says whether the file is encrypted with a key that was made without an ID.
func (l *linter) keyOfNoID() bool {
	encryption := l.encryption()
	v, _ := l.old.Int(encryption["V"])
	return encryption != nil && v < 5 && l.old.Trailer()["ID"] == nil
}
