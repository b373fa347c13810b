package bolt

import "go.etcd.io/bbolt"

// bucket names one table of the file.
type bucket int

const (
	bMeta    bucket = iota // name → value: schema, epoch, sessions, free
	bSession               // key → row header, row JSON
	bEntry                 // key → imported entry as it came
	bUpdated               // ^updatedAt · key → head
	bParent                // parent NUL child → nothing
	bGen                   // id → generation header, generation JSON
	bGenKey                // session key NUL id → nothing
	bMsg                   // generation number · seq → message
	bPurge                 // generation number → nothing: its messages are still to be removed
	bRun                   // id → queue number, run JSON
	bRunTime               // session key or nothing, NUL, ^queuedAt · ^queue number → id
	bLive                  // queue number → id of a queued or running run
	bQueue                 // session key NUL state · queue number → id of a queued or running run; running sorts first
	bExch                  // id → JSON
	bDlv                   // id → JSON
	bIdem                  // scope → time · hash · body
	bIdemAt                // time · scope → nothing
	bDue                   // time · kind NUL id → nothing
	bLog                   // revision → changes
	bAudit                 // revision · number → JSON
	bSource                // source NUL path → JSON
	bHold                  // rank · session key or agent → JSON
	bUsage                 // ^day · agent NUL model → JSON
	bBinding               // channel NUL account NUL address NUL thread → JSON
	bucketCount
)

var bucketNames = [bucketCount][]byte{
	[]byte("meta"), []byte("session"), []byte("entry"), []byte("ix_updated"), []byte("ix_parent"), []byte("gen"), []byte("ix_gen"),
	[]byte("msg"), []byte("purge"), []byte("run"), []byte("ix_run"), []byte("live"), []byte("queue"), []byte("exch"), []byte("dlv"),
	[]byte("idem"), []byte("ix_idem"), []byte("due"), []byte("log"), []byte("audit"), []byte("srcfile"), []byte("hold"), []byte("usage"),
	[]byte("binding"),
}

// appendOnly are the buckets whose keys only grow: packed nearly full, since nothing is ever inserted in between.
var appendOnly = [bucketCount]bool{bMsg: true, bLive: true, bLog: true, bAudit: true}

const appendFill = 0.9

// Names in bMeta.
var (
	metaSchema   = []byte("schema")
	metaEpoch    = []byte("epoch")
	metaSessions = []byte("sessions") // number of rows
	metaFree     = []byte("free")     // pages free at the last commit, for readers that do not load the freelist
)

func createBuckets(tx *bbolt.Tx) error {
	for _, name := range bucketNames {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	return nil
}
