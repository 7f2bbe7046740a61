package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"go.etcd.io/bbolt"
)

// pageCheck checks the pages of a file before bbolt reads them. bbolt does not check them itself: it loops for
// ever in a page that refers to itself, and panics, or reads memory that is not mapped, if lengths in a page are
// wrong. When it opens a file, it does so in a goroutine of its own, where a panic ends the process.
//
// The check reads each page at most once, so that it ends for all files. It reads headers and keys, and no values.
//
// Pages that are damaged after the store was opened are checked only by a compaction and a backup. Otherwise bbolt reads
// them as they are, and a panic within a call is an error (see guarded), also in a transaction. What ends the process,
// or holds up the store until it is opened again, and then is found by the check:
//
//   - a page that refers to itself or to one above it: there is no way to end a loop in bbolt, and a stack that overflows
//     ends the process
//   - damage to both of the first two pages: bbolt keeps its lock when it panics as a transaction begins
//   - damage that bbolt finds when it lists the free pages after a commit failed, as on a full disk: it panics in a
//     goroutine of its own
//
// A file is a sequence of pages of one size. A page begins with a header of 16 bytes: its ID (8 bytes), its type
// (2), the number of its elements (2), and how many pages more it takes (4). Then come its elements, 16 bytes
// each, and then their keys and values, one after the other. Numbers are in the order of bytes of the machine.
type pageCheck struct {
	ctx      context.Context // ends the check
	file     io.ReaderAt
	pageSize int64
	end      uint64                   // ID of the first page behind those in use
	seen     []uint64                 // a bit for each page
	buffers  [maxPageDepth + 1][]byte // a page for each depth
	// enters reports whether the bucket of that name in the root bucket is checked too; nil: all are.
	enters func(name []byte) bool
}

// Of bbolt's file format.
const (
	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10

	pageHeaderSize   = 16
	elementSize      = 16
	bucketHeaderSize = 16   // of a bucket's value: the ID of its first page, and a sequence
	bucketElement    = 0x01 // flag of a leaf's element whose value is a bucket
	metaFreelist     = 48   // offset of the ID of the page with the free pages in one of the first two pages
	noFreelist       = math.MaxUint64
)

// maxPageDepth is the largest number of pages from the root to a leaf. A branch has two elements or more, so that
// no file is large enough for a deeper tree.
const maxPageDepth = 64

func newPageCheck(ctx context.Context, tx *bbolt.Tx, file *boltFile) (*pageCheck, error) {
	stat, err := file.raw.Stat()
	if err != nil {
		return nil, err
	}
	if stat.Size() < tx.Size() {
		return nil, fmt.Errorf("%w: it has %d bytes of %d", ErrDamaged, stat.Size(), tx.Size())
	}
	size := int64(tx.DB().Info().PageSize)
	end := uint64(tx.Size() / size)
	return &pageCheck{ctx: ctx, file: file.raw, pageSize: size, end: end, seen: make([]uint64, end/64+1)}, nil
}

// checkPages checks all pages that a transaction can reach.
func checkPages(ctx context.Context, tx *bbolt.Tx, file *boltFile) error {
	c, err := newPageCheck(ctx, tx, file)
	if err != nil {
		return err
	}
	return c.root(tx)
}

func (c *pageCheck) root(tx *bbolt.Tx) error {
	return c.tree(uint64(tx.Cursor().Bucket().Root()), &bucketCheck{isRoot: true}, 1)
}

func damagedPage(id uint64, format string, args ...any) error {
	return fmt.Errorf("%w: page %d: %s; restore a backup", ErrDamaged, id, fmt.Sprintf(format, args...))
}

// markSeen reports whether the page was not seen before.
func (c *pageCheck) markSeen(id uint64) bool {
	word, bit := &c.seen[id/64], uint64(1)<<(id%64)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// page is a page, or the content of a small bucket, which has the form of a leaf page within a value.
type page struct {
	id    uint64
	kind  uint16
	count int
	size  int64 // with the pages more that it takes
	at    int64 // offset in the file
	head  []byte
	file  io.ReaderAt
}

// load reads a page that was not read before, with its elements. The result is valid until the next
// page of that depth is loaded.
func (c *pageCheck) load(id uint64, depth int) (page, error) {
	if err := c.ctx.Err(); err != nil {
		return page{}, err
	}
	if depth > maxPageDepth {
		return page{}, damagedPage(id, "it is nested more than %d levels deep", maxPageDepth)
	}
	if id < 2 || id >= c.end {
		return page{}, damagedPage(id, "a page refers to it, but the file has only %d pages", c.end)
	}
	if c.buffers[depth] == nil {
		c.buffers[depth] = make([]byte, c.pageSize)
	}
	p := page{id: id, at: int64(id) * c.pageSize, file: c.file, head: c.buffers[depth]}
	if err := p.fill(p.head, 0); err != nil {
		return page{}, err
	}
	if of := binary.NativeEndian.Uint64(p.head); of != id {
		return page{}, damagedPage(id, "its header is that of page %d", of)
	}
	more := uint64(binary.NativeEndian.Uint32(p.head[12:]))
	if more >= c.end-id {
		return page{}, damagedPage(id, "it takes %d more pages, but the file ends before", more)
	}
	for i := range more + 1 {
		if !c.markSeen(id + i) {
			return page{}, damagedPage(id+i, "two pages refer to it")
		}
	}
	p.size = int64(more+1) * c.pageSize
	p.kind, p.count = binary.NativeEndian.Uint16(p.head[8:]), int(binary.NativeEndian.Uint16(p.head[10:]))
	err := p.readElements()
	return p, err
}

// readElements reads the elements of a page that takes several.
func (p *page) readElements() error {
	if p.kind != branchPage && p.kind != leafPage {
		return nil
	}
	elements := p.firstData()
	if elements > p.size {
		return damagedPage(p.id, "it has no room for %d elements", p.count)
	}
	if elements <= int64(len(p.head)) {
		return nil
	}
	p.head = make([]byte, elements)
	return p.fill(p.head, 0)
}

// firstData is where the keys and values begin.
func (p *page) firstData() int64 { return pageHeaderSize + int64(p.count)*elementSize }

// fill reads bytes of the page.
func (p *page) fill(b []byte, at int64) error {
	_, err := p.file.ReadAt(b, p.at+at)
	if errors.Is(err, io.EOF) {
		return damagedPage(p.id, "the file ends within it")
	}
	return err
}

// bytes returns bytes of the page, which are within its size.
func (p *page) bytes(at, n int64) ([]byte, error) {
	if at+n <= int64(len(p.head)) {
		return p.head[at:][:n], nil
	}
	b := make([]byte, n)
	return b, p.fill(b, at)
}

// element is one of a page.
type element struct {
	flags      uint32 // of a leaf's
	key        []byte
	value, end int64  // where its value, if it is a leaf's, begins and ends
	child      uint64 // of a branch's
}

// element returns an element. Its data may not begin before that offset, at which the data of the one before ends.
func (p *page) element(i int, from int64) (e element, err error) {
	at := pageHeaderSize + int64(i)*elementSize
	b := p.head[at:][:elementSize]
	field := func(i int) int64 { return int64(binary.NativeEndian.Uint32(b[4*i:])) }
	start, keySize, valueSize := at+field(0), field(1), int64(0)
	if p.kind == leafPage {
		e.flags = binary.NativeEndian.Uint32(b)
		start, keySize, valueSize = at+field(1), field(2), field(3)
	} else {
		e.child = binary.NativeEndian.Uint64(b[8:])
	}
	e.value = start + keySize
	e.end = e.value + valueSize
	if start < from || e.end > p.size || keySize == 0 || keySize > bbolt.MaxKeySize || e.flags&^bucketElement != 0 {
		return e, damagedPage(p.id, "its element %d is damaged", i)
	}
	e.key, err = p.bytes(start, keySize)
	return e, err
}

// bucketCheck checks that the keys of a bucket are in order.
type bucketCheck struct {
	isRoot bool   // it has buckets only
	last   []byte // key
	inLeaf bool   // last is a key of a leaf, which is not there twice
}

// follows reports whether the next key may follow the last one.
func (b *bucketCheck) follows(key []byte, inLeaf bool) bool {
	order := bytes.Compare(b.last, key)
	follows := order < 0 || order == 0 && !b.inLeaf
	b.last, b.inLeaf = append(b.last[:0], key...), inLeaf
	return follows
}

// tree checks a page of a bucket, and the pages below it. depth is the number of pages from the root.
func (c *pageCheck) tree(id uint64, b *bucketCheck, depth int) error {
	p, err := c.load(id, depth)
	switch {
	case err != nil:
		return err
	case p.kind == leafPage:
		return c.leaf(&p, b, depth)
	case p.kind != branchPage || p.count == 0:
		return damagedPage(id, "it is of type %d with %d elements, where a bucket goes on", p.kind, p.count)
	}
	from := p.firstData()
	for i := range p.count {
		e, err := p.element(i, from)
		if err != nil {
			return err
		}
		if from = e.end; !b.follows(e.key, false) {
			return damagedPage(id, "its keys are not in order")
		}
		if err := c.tree(e.child, b, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// leaf checks a page with records or buckets, and the pages of these buckets. At depth 0, p is the content of a
// bucket within a value, which has no buckets.
func (c *pageCheck) leaf(p *page, b *bucketCheck, depth int) error {
	from := p.firstData()
	for i := range p.count {
		e, err := p.element(i, from)
		if err != nil {
			return err
		}
		if from = e.end; !b.follows(e.key, true) {
			return damagedPage(p.id, "its keys are not in order")
		}
		isBucket := e.flags == bucketElement
		if isBucket && depth == 0 || !isBucket && b.isRoot {
			return damagedPage(p.id, "its element %d is out of place", i)
		}
		if !isBucket || b.isRoot && c.enters != nil && !c.enters(e.key) {
			continue
		}
		if err := c.bucket(p, e, depth); err != nil {
			return err
		}
	}
	return nil
}

// bucket checks the bucket that is the value of an element.
func (c *pageCheck) bucket(p *page, e element, depth int) error {
	size := e.end - e.value
	if size < bucketHeaderSize {
		return damagedPage(p.id, "a bucket in it has %d bytes", size)
	}
	header, err := p.bytes(e.value, bucketHeaderSize)
	if err != nil {
		return err
	}
	if first := binary.NativeEndian.Uint64(header); first != 0 {
		return c.tree(first, &bucketCheck{}, depth+1)
	}
	inside := page{id: p.id, at: p.at + e.value + bucketHeaderSize, size: size - bucketHeaderSize, file: p.file}
	if inside.size < pageHeaderSize {
		return damagedPage(p.id, "a bucket in it has %d bytes", size)
	}
	if inside.head, err = p.bytes(e.value+bucketHeaderSize, pageHeaderSize); err != nil {
		return err
	}
	inside.kind, inside.count = binary.NativeEndian.Uint16(inside.head[8:]), int(binary.NativeEndian.Uint16(inside.head[10:]))
	if inside.kind != leafPage {
		return damagedPage(p.id, "a bucket in it is of type %d", inside.kind)
	}
	if err := inside.readElements(); err != nil {
		return err
	}
	return c.leaf(&inside, &bucketCheck{}, 0)
}

// freelist checks the list of free pages, after all others were checked: a page that is in use is not free. Files
// that this version of the package wrote have no list.
func (c *pageCheck) freelist(tx *bbolt.Tx) error {
	meta := page{id: uint64(tx.ID()) % 2, file: c.file}
	meta.at = int64(meta.id) * c.pageSize
	number := make([]byte, 8)
	if err := meta.fill(number, metaFreelist); err != nil {
		return err
	}
	id := binary.NativeEndian.Uint64(number)
	if id == noFreelist {
		return nil
	}
	p, err := c.load(id, 0)
	if err != nil {
		return err
	}
	count, at := uint64(p.count), int64(pageHeaderSize)
	if p.kind != freelistPage {
		return damagedPage(id, "it is of type %d, where the free pages are listed", p.kind)
	}
	if count == math.MaxUint16 { // then it is in front of the list
		if err := p.fill(number, at); err != nil {
			return err
		}
		count, at = binary.NativeEndian.Uint64(number), at+8
	}
	if count > uint64(p.size-at)/8 {
		return damagedPage(id, "it has no room for %d free pages", count)
	}
	list := make([]byte, 8*count)
	if err := p.fill(list, at); err != nil {
		return err
	}
	for ; len(list) > 0; list = list[8:] {
		free := binary.NativeEndian.Uint64(list)
		if free < 2 || free >= c.end || !c.markSeen(free) {
			return damagedPage(free, "it is in the list of free pages, and in use, in the list twice or not in the file")
		}
	}
	return nil
}
