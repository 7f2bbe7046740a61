package pades

import (
	"fmt"
	"reflect"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// stored compares what is in the store of validation data. What is no validation data there may
// be meant for somebody else.
func (c *comparison) stored(p *position) error {
	if c.plainStore == nil {
		_, catalog, err := c.now.Catalog()
		plain := false
		if err == nil {
			plain, err = plainStore(c.now, catalog["DSS"])
		}
		if err := notMalformed(err); err != nil {
			return err
		}
		c.plainStore = &plain
	}
	if *c.plainStore {
		c.add(p, judged[theStore])
	} else {
		c.add(p, judged[anythingElse])
	}
	return nil
}

// described compares the document information dictionary. To say who wrote the document last, and
// when, is a part of every change (ISO 32000-2 14.3.3).
func (c *comparison) described(p *position, old, now pdf.Object) {
	before, _ := old.(pdf.Dict)
	after, isDict := now.(pdf.Dict)
	c.metadata(p, isDict && same(after, before, "ModDate", "Producer"))
}

// metadataStream compares streams of metadata.
func (c *comparison) metadataStream(p *position, old, now pdf.Object) error {
	had, err := c.statements(c.before, old)
	if err != nil {
		c.metadata(p, false)
		return notMalformed(err)
	}
	says, err := c.statements(c.now, now)
	c.metadata(p, err == nil && reflect.DeepEqual(had, says))
	return notMalformed(err)
}

// saidInMetadata is what the metadata of all revisions say, read once, and how much more of it is
// read.
type saidInMetadata struct {
	at   map[streamAt]statements
	left int
}

type streamAt struct{ offset, length int64 }

// maxSaid bounds the metadata of all revisions in bytes.
const maxSaid = 4 * maxMetadata

// statements are those of a stream of metadata. What nobody has the time for says something else.
func (c *comparison) statements(file *pdf.File, o pdf.Object) (statements, error) {
	var place streamAt
	if stream, ok := o.(*pdf.Stream); ok {
		place = streamAt{stream.Offset, stream.Length}
	}
	if known, ok := c.said.at[place]; ok {
		return known, nil
	}
	if c.said.left <= 0 {
		return statements{}, fmt.Errorf("%w: more metadata than is compared", pdf.ErrDamaged)
	}
	found, size, err := statementsOf(file, o)
	c.said.left -= size
	if err == nil && size > 0 {
		c.said.at[place] = found
	}
	return found, err
}

func (c *comparison) metadata(p *position, lastWriter bool) {
	if lastWriter {
		c.add(p, judgement{ades.ChangeProducer, NoChanges})
	} else {
		c.add(p, judged[theMetadata])
	}
}
