package bolt

import (
	"go.etcd.io/bbolt"

	"cordboard/core"
)

// firstSchema is the schema that new stores start from before migrations run.
const firstSchema = 1

// migration brings a store from the schema before it to schema number to.
type migration struct {
	to       int
	what     string
	readable bool // a store from before it can be read as it is
	run      func(tx *bbolt.Tx) error
}

// migrations in order of their numbers. A change of layout that old stores must follow is added here.
var migrations = []migration{
	{to: 2, what: "tables of holds and usage", readable: true, run: createBuckets},
	{to: 3, what: "table of thread bindings", readable: true, run: createBuckets},
}

func currentSchema(all []migration) int {
	schema := firstSchema
	for _, m := range all {
		schema = max(schema, m.to)
	}
	return schema
}

func oldestSchema(all []migration) int {
	schema := firstSchema
	for _, m := range all {
		schema = min(schema, m.to-1)
	}
	return schema
}

// checkSchema refuses a store of a newer cordboard or a forgotten one, and for reading one that must be migrated first.
func checkSchema(path string, schema int, o *Options) error {
	if newest := currentSchema(o.migrations); schema > newest {
		return core.Errorf(core.CodeStoreNewer, "the store %s has schema %d and this cordboard knows up to %d: use the newer cordboard that "+
			"wrote it", path, schema, newest)
	}
	if schema < oldestSchema(o.migrations) {
		return core.Errorf(core.CodeStoreForeign, "the store %s has schema %d, which this cordboard does not know any more: it migrates from %d on",
			path, schema, oldestSchema(o.migrations))
	}
	if !o.ReadOnly {
		return nil
	}
	for _, m := range o.migrations {
		if m.to > schema && !m.readable {
			return core.Errorf(core.CodeReadOnly, "the store %s has the older schema %d, which cannot be read as it is: open it for writing "+
				"once so that it is migrated to %d", path, schema, currentSchema(o.migrations))
		}
	}
	return nil
}

// migrate runs what a store lacks in one transaction: all of it or nothing.
func migrate(db *bbolt.DB, path string, schema int, all []migration) error {
	if schema >= currentSchema(all) {
		return nil
	}
	return db.Update(func(tx *bbolt.Tx) error {
		for _, m := range all {
			if m.to <= schema {
				continue
			}
			if err := m.run(tx); err != nil {
				return core.Errorf(core.CodeStoreIO, "the store %s could not be migrated to schema %d (%s) and stays as it was: %w", path, m.to,
					m.what, err)
			}
		}
		return tx.Bucket(bucketNames[bMeta]).Put(metaSchema, be64(uint64(currentSchema(all))))
	})
}
