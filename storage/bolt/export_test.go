package bolt

import "go.etcd.io/bbolt"

// DocumentBytes is how many bytes of the store's file and of its folder documents take.
func (db *DB) DocumentBytes() (total int64, err error) {
	err = db.view(func(tx *bbolt.Tx) error {
		stats := tx.Bucket([]byte(chunkBuckets)).Stats()
		total = int64(stats.LeafAlloc + stats.BranchAlloc)
		return nil
	})
	f, ok := db.contents.(*folder)
	if !ok || err != nil {
		return total, err
	}
	list, err := f.root.Open(".")
	if err != nil {
		return 0, err
	}
	defer list.Close()
	entries, err := list.ReadDir(-1)
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && isID(entry.Name()) {
			total += info.Size()
		}
	}
	return total, err
}

// DocumentIDs are the ids of all documents, also of those that never came to their end.
func (db *DB) DocumentIDs() (ids []string, err error) {
	err = db.view(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(documentTable.bucket)).ForEach(func(id, _ []byte) error {
			ids = append(ids, string(id))
			return nil
		})
	})
	return ids, err
}

// Check is bbolt's own check of all pages of the file.
func (db *DB) Check() (faults []error) {
	_ = db.file.View(func(tx *bbolt.Tx) error {
		for fault := range tx.Check() {
			faults = append(faults, fault)
		}
		return nil
	})
	return faults
}
